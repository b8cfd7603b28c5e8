# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guide's page on Event-Driven Ansible shows is run as it stands there: the proxy with TLS, and the ticket."""

import http.server
import json
import os
import subprocess
import sys
import threading

import pytest
import yaml
from page import example
from rulebook import SECRET, Rulebook, environment_of, free_port, program

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until


class Itsm:
    """Tickets by their path. One is approved when somebody has looked at it twice, as a person would do it meanwhile."""

    def __init__(self, approves=True):
        self.seen = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((self.path, body["state"]))
                self._answer(201 if body["state"] == "open" else 200, body["state"])

            def do_GET(self):
                outer.seen.append((self.path, "?"))
                looked = sum(state == "?" for _path, state in outer.seen)
                self._answer(200, "approved" if approves and looked > 1 else "open")

            def _answer(self, status, state):
                whole = json.dumps({"state": state}).encode("ascii")
                self.send_response(status if self.headers["Authorization"] == "Bearer t0ken" else 401)
                self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                self.wfile.write(whole)

            def log_message(self, *_words):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_about):
        self._server.shutdown()
        self._server.server_close()


def drain(folder, itsm, **changes):
    """The page's steps, but for the last one, by role drain, there and back; the status of the play."""
    steps = yaml.safe_load(example("drain_steps:").replace("https://itsm.example.com", itsm.url))["drain_steps"][:1]
    steps[0]["do"]["until"]["interval"] = 1
    steps[0].update(changes)
    play = {
        "hosts": "web1",
        "gather_facts": False,
        "vars": {
            "drain_steps": steps,
            "vault_itsm_token": "t0ken",
            "azure_maintenance_folder": str(folder / "mark"),
        },
        "tasks": [
            {"ansible.builtin.include_role": {"name": "cloudops.azure_maintenance.drain"}},
            {"ansible.builtin.include_role": {"name": "cloudops.azure_maintenance.drain", "tasks_from": "recover"}},
        ],
    }
    (folder / "play.json").write_text(json.dumps([play]), encoding="utf-8")
    (folder / "hosts").write_text(
        "web1 ansible_connection=local ansible_python_interpreter='{{ ansible_playbook_python }}'\n", encoding="ascii"
    )
    done = subprocess.run(
        [program("ansible-playbook"), "-i", "hosts", "play.json"],
        cwd=folder,
        env=environment_of(folder, AZM_RUNS=os.devnull),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def test_a_change_is_opened_waited_for_and_closed(tmp_path):
    with Itsm() as itsm:
        code, printed = drain(tmp_path, itsm)
    assert code == 0, printed
    assert {path for path, _state in itsm.seen} == {"/changes/azure-web1"}
    assert [state for _path, state in itsm.seen] == ["open", "?", "?", "closed"]


def test_a_change_that_nobody_approves_is_closed_and_the_machine_is_not_prepared(tmp_path):
    with Itsm(approves=False) as itsm:
        code, printed = drain(tmp_path, itsm, timeout=3)
    assert code != 0, printed
    states = [state for _path, state in itsm.seen]
    assert states[0] == "open" and states[-1] == "closed" and states.count("closed") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sends a test report")
def test_a_test_report_through_caddy(tmp_path, watcher):
    """The page's proxy, with a certificate of Caddy's own authority in place of one that it would get from outside."""
    port, secret, settings = free_port(), tmp_path / "secret", tmp_path / "watcher.json"
    secret.write_text(SECRET, encoding="ascii")
    secret.chmod(0o600)
    (tmp_path / "inventory").mkdir()
    rulebook = Rulebook(tmp_path / "eda", "maintain_on_report", tmp_path / "inventory")
    site = example("eda.example.com {").replace("127.0.0.1:5055", f"127.0.0.1:{rulebook.port}")
    site = site.replace("eda.example.com {", f"https://localhost:{port} {{\n    bind 127.0.0.1\n    tls internal")
    options = f"{{\n    admin off\n    skip_install_trust\n    storage file_system {tmp_path}/caddy\n    auto_https disable_redirects\n}}\n"
    (tmp_path / "Caddyfile").write_text(options + site, encoding="ascii")
    authority = tmp_path / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    report = {"url": f"https://localhost:{port}/azure", "secret_file": str(secret), "ca_file": str(authority)}
    settings.write_text(
        json.dumps(
            {"format": 1, "folder": str(tmp_path), "reports": [report], "labels": {"inventory_hostname": "web1"}}
        ),
        encoding="utf-8",
    )
    settings.chmod(0o600)

    def test():
        command = [sys.executable, "-I", "-B", watcher, "report", "test", "--settings", str(settings)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        return done.returncode, done.stdout.decode()

    with (tmp_path / "caddy.log").open("wb") as log:
        caddy = subprocess.Popen(
            [program("caddy"), "run", "--config", str(tmp_path / "Caddyfile")],
            env=dict(os.environ, HOME=str(tmp_path)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        rulebook.start()
        until(lambda: authority.exists() and test()[0] == 0)
        assert test() == (0, f"https://localhost:{port}/...: accepted (HTTP 200 OK)\n")
        until(lambda: rulebook.logged("A test report of web1 has arrived."))
        secret.write_text("another", encoding="ascii")
        code, words = test()
        assert code == 1 and "NOT ACCEPTED (HTTP 401" in words
    finally:
        caddy.terminate()
        caddy.wait(30)
        rulebook.stop()
