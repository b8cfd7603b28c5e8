# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the doctor looks at, one thing after the other: right, wrong, and not there at all; and what to do is said."""

import ast
import hashlib
import json
import os
import pathlib
import socket
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import (
    check_imds,
    check_settings,
    check_system,
    cli,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_report import (
    DEPLOY,
    FAIL,
    OK,
    WARN,
    Finding,
    Said,
    ask,
    lines_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import Read, main
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.status import (
    DestinationView,
    StatusView,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.last_try import LastTry
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.post_transport import Way
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import Configuration
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import HookOptions
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ScriptedTransport,
    get,
)

LEAF = "/metadata/instance/compute/{}?api-version=2021-02-01&format=text"
DATE = {"date": "Thu, 01 Jan 2026 00:00:00 GMT"}


def states(findings):
    return [(finding.state, finding.what) for finding in findings]


# --- the metadata service ---


def asked_by_others(said, endpoint="http://169.254.169.254"):
    """What comes of it when user nobody's attempt to connect says this; and the command."""
    commands = []
    return check_imds.others(endpoint, lambda command: commands.append(command) or Said(0, said)), commands


def test_whoever_may_ask_it_may_use_up_its_requests():
    (found,), (command,) = asked_by_others("connected\n")
    assert (found.state, found.what) == (WARN, "users") and "five requests a second" in found.words
    assert "ip daddr 169.254.169.254 meta skuid != 0 reject" in found.advice
    assert command[:4] == ["runuser", "-u", "nobody", "--"] and command[-2:] == ["169.254.169.254", "80"]


def test_a_machine_that_leaves_it_to_root():
    (found,), _commands = asked_by_others("kept off\n")
    assert (found.state, found.what) == (OK, "users")


@pytest.mark.parametrize("said", ["", "runuser: user nobody does not exist"])
def test_where_it_can_not_be_tried_nothing_is_said(said):
    assert asked_by_others(said)[0] == []


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:8780/vm/web1", "http://imds.test"])
def test_an_endpoint_of_the_users_own_is_left_alone(endpoint):
    assert asked_by_others("connected", endpoint) == ([], [])


def test_how_others_try_to_connect():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        program = [
            sys.executable,
            "-I",
            "-S",
            "-c",
            check_imds._CONNECTS,
            "127.0.0.1",
            str(listener.getsockname()[1]),
        ]
        assert ask(program).text == "kept off\n"
        listener.listen(1)
        assert ask(program).text == "connected\n"


def asked(*script, **settings):
    transport = ScriptedTransport(*script)
    wanted = Configuration(endpoint="http://imds.test")._replace(**settings)
    found = check_imds.check_service(wanted, transport, transport.clock, "root")
    transport.finish()
    return found


def answers(headers=None, name=b"web1"):
    return [
        get(LEAF.format("name"), 200, name, DATE),
        get(LEAF.format("vmId"), 200, b"v-1", DATE if headers is None else headers),
    ]


def test_a_service_that_answers():
    found = asked(*answers())
    assert states(found) == [(OK, "endpoint"), (OK, "name"), (OK, "clock")]
    assert found[0].words == "http://imds.test says to root who this machine is"
    assert found[1].words == "web1 (vmId v-1)"


def test_a_service_that_does_not():
    (found,) = asked(get(LEAF.format("name"), Unreachable("No connection to http://imds.test.", url="x")))
    assert (found.state, found.what) == (FAIL, "endpoint")
    assert "No connection" in found.words and "iptables" in found.advice


@pytest.mark.parametrize("status, words", [(403, "let root ask it"), (500, "try again")])
def test_a_service_that_refuses(status, words):
    (found,) = asked(get(LEAF.format("name"), status, b"no", {"content-type": "text/plain"}))
    assert found.state == FAIL and words in found.advice


def test_something_else_that_answers():
    (found,) = asked(get(LEAF.format("name"), 200, b"<html>proxy</html>", {"content-type": "text/html"}))
    assert found.state == FAIL and "it must be reached directly" in found.advice


def test_whose_name_it_is():
    assert states(asked(*answers(), resource_name="WEB1"))[1] == (OK, "name")
    found = asked(*answers(), resource_name="web2")[1]
    assert (found.state, found.words) == (FAIL, "azure_maintenance_resource_name says web2, and the service says web1")
    assert asked(*answers(name=b""))[1].state == FAIL


@pytest.mark.parametrize(
    "date, state, words",
    [
        ("Wed, 31 Dec 2025 23:59:35 GMT", OK, "within 30 s of the metadata"),
        ("Thu, 01 Jan 2026 01:00:00 GMT", WARN, "3600 s behind the service's"),
        ("Wed, 31 Dec 2025 23:00:00 GMT", WARN, "3600 s ahead of the service's"),
        ("soon", WARN, "sends no time"),
        ("", WARN, "sends no time"),
    ],
)
def test_the_clock(date, state, words):
    found = asked(*answers({"date": date}))[2]
    assert found.state == state and words in found.words


def test_proxies():
    found = check_imds.proxies({"HTTP_PROXY": "http://me:pw@p", "https_proxy": "", "PATH": "x"}, "this shell")
    assert found == Finding(OK, "proxy", "HTTP_PROXY in the environment of this shell; the watcher uses no proxy")
    assert check_imds.proxies({}, "x").words == "no proxy in the environment of x"


def test_proxies_of_the_service():
    asks = says(("Environment --value azure-maintenance.service", Said(0, 'X=1 "https_proxy=http://p q" word\n')))
    assert check_system.environment(asks) == {"X": "1", "https_proxy": "http://p q"}
    assert (
        "https_proxy in the environment of the service"
        in check_imds.proxies(check_system.environment(asks), "the service").words
    )
    for said in (Said(0, '"'), Said(1, "X=1"), Said(0, "")):
        assert check_system.environment(says(("systemctl show", said))) == {}


# --- the route ---


@pytest.mark.parametrize(
    "said, state, words",
    [
        (
            Said(0, "169.254.169.254 via 10.0.0.1 dev eth0 src 10.0.0.4 uid 0 \n    cache \n"),
            OK,
            "dev eth0 src 10.0.0.4",
        ),
        (Said(0, "local 127.0.0.1 dev lo src 127.0.0.1 uid 0"), OK, "local 127.0.0.1 dev lo src 127.0.0.1"),
        (Said(2, "RTNETLINK answers: Network is unreachable\n"), FAIL, "no route leads to 169.254.169.254"),
        (Said(2, "RTNETLINK answers: Permission denied\n"), FAIL, "(RTNETLINK answers: Permission denied)"),
        (Said(2, "RTNETLINK answers: Invalid argument\n"), FAIL, "kept from 169.254.169.254 by a route or a rule"),
        (Said(-1, ""), OK, "not checked"),
    ],
)
def test_the_route(said, state, words):
    (found,) = check_imds.check_route("http://169.254.169.254", lambda _command: said)
    assert found.state == state and words in found.words and "uid" not in found.words
    assert "ip route del" not in found.advice, "nobody undoes a policy without knowing it"


def routed(*setup):
    """What the doctor says of the route on a machine that was set up so."""
    script = "; ".join(["ip link set lo up", "ip address add 10.0.0.4/24 dev lo", *setup, 'exec "$@"'])
    inside = ["unshare", "--net", "sh", "-c", script, "sh"]
    return check_imds.check_route("http://169.254.169.254", lambda command: ask([*inside, *command]))[0]


@pytest.mark.skipif(ask(["unshare", "--net", "ip", "link"]).code != 0, reason="only root makes networks")
def test_the_route_by_the_kernel_itself():
    assert "no route leads to" in routed().words
    assert routed("ip route add 169.254.0.0/16 dev lo").state == OK
    for closed in ("route add blackhole", "route add prohibit", "route add unreachable", "rule add prohibit to"):
        found = routed("ip route add 169.254.0.0/16 dev lo", f"ip {closed} 169.254.169.254")
        assert found.state == FAIL and "kept from 169.254.169.254" in found.words, closed
        assert "systemd.imds.network=locked" in found.advice


def test_a_name_has_no_route():
    assert check_imds.check_route("http://imds.test", None)[0].words == "imds.test is a name: not checked"


# --- the machine ---


def says(*pairs):
    """Programs that say this when they are asked; others are not there."""

    def asks(command, seconds=5.0):
        for words, said in pairs:
            if words in " ".join(command):
                return said
        return Said(-1, "")

    return asks


def shown(**state):
    found = dict(LoadState="loaded", ActiveState="active", SubState="running", UnitFileState="enabled", NRestarts="0")
    found.update(state)
    return Said(0, "".join(f"{key}={value}\n" for key, value in found.items()))


@pytest.mark.parametrize(
    "state, expected, words",
    [
        ({}, OK, "runs, and starts after a reboot"),
        ({"LoadState": "not-found"}, FAIL, "there is no service azure-maintenance"),
        ({"ActiveState": "failed", "SubState": "failed"}, FAIL, "azure-maintenance is failed (failed)"),
        ({"UnitFileState": "disabled"}, FAIL, "is disabled: it does not start after a reboot"),
        ({"NRestarts": "17"}, WARN, "was restarted 17 times"),
    ],
)
def test_the_service(state, expected, words):
    (found,) = check_system.services(says(("azure-maintenance.service", shown(**state))), False)
    assert found.state == expected and words in found.words


@pytest.mark.parametrize(
    "state", [{"LoadState": "not-found"}, {"ActiveState": "inactive", "SubState": "dead", "UnitFileState": "disabled"}]
)
def test_what_a_deployment_that_was_interrupted_has_left_is_completed_by_another_one(state):
    asks = says(("azure-maintenance", shown(**state)))
    found = check_system.services(asks, True, True)
    assert [one.what for one in found] == ["watcher", "reports", "health"]
    assert {one.advice for one in found} == {DEPLOY} and "run the playbook deploy_watcher" in DEPLOY


def test_an_endpoint_that_is_not_there_is_not_asked(doctor, monkeypatch):
    settings = json.loads(doctor.path.read_text(encoding="utf-8"))
    doctor.path.write_text(json.dumps(dict(settings, health={"http": ["127.0.0.1:9"]})), encoding="utf-8")
    monkeypatch.setattr(check_system, "services", lambda *how: [Finding(FAIL, "health", "there is none", DEPLOY)])
    found = [one for one in json.loads(doctor("--json")[1])["findings"] if one["what"] == "health"]
    assert found == [{"state": "fail", "what": "health", "words": "there is none", "advice": DEPLOY}]


def test_the_sender_counts_where_there_are_reports():
    asks = says(
        ("azure-maintenance.service", shown()), ("azure-maintenance-reports.service", shown(ActiveState="inactive"))
    )
    assert states(check_system.services(asks, True)) == [(OK, "watcher"), (FAIL, "reports")]
    assert states(check_system.services(says(), True)) == [(WARN, "watcher"), (WARN, "reports")]


def test_the_state_folder(tmp_path):
    folder = tmp_path / "state"
    assert check_system.folders(str(folder))[0].state == WARN
    folder.mkdir(mode=0o700)
    assert check_system.folders(str(folder))[0].state == OK
    assert list(folder.iterdir()) == []
    folder.chmod(0o770)
    (found,) = check_system.folders(str(folder))
    assert found.state == FAIL and "chmod 0711" in found.advice
    (tmp_path / "file").write_text("", encoding="ascii")
    assert "is no folder" in check_system.folders(str(tmp_path / "file"))[0].words


def test_rights_of_the_program(tmp_path):
    tmp_path.chmod(0o755)
    program = tmp_path / "x.pyz"
    program.write_text("", encoding="ascii")
    program.chmod(0o644)
    assert check_system.rights([str(program)])[0].state == OK
    program.chmod(0o664)
    (found,) = check_system.rights([str(program)])
    assert found.state == FAIL and "is writable by users other than root (mode 0664)" in found.words
    program.chmod(0o644)
    tmp_path.chmod(0o777)
    assert str(tmp_path) in check_system.rights([str(program)])[0].words


def a_view(**members):
    found = StatusView(1000.0, {"looking": True, "problems": []}, True, 1.0, Read(None, ""), Read(None, ""), [], 0)
    return found._replace(**members)


def test_what_the_watcher_says_itself():
    assert states(check_system.process(a_view())) == [(OK, "watcher")]
    assert check_system.process(a_view(is_running=False)) == []
    assert "last reported 95 s ago" in check_system.process(a_view(silent=95.0))[0].words
    found = check_system.process(a_view(published={"looking": False, "problems": ["Hook x is not run."]}))
    assert [one.words for one in found] == ["it runs, but can't poll its events", "Hook x is not run."]


def test_a_mark_that_can_not_be_read_is_wrong():
    assert check_system.mark(a_view()) == []
    (found,) = check_system.mark(a_view(mark=Read(None, "mark.json can't be understood: it is no JSON")))
    assert (found.state, found.words) == (FAIL, "mark.json can't be understood: it is no JSON")
    assert "azure-maintenance recover --force" in found.advice


# --- what keeps programs from running ---


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "x.pyz"
    path.write_bytes(b"program")
    return path


def active(program, dump):
    return says(("is-active fapolicyd", Said(0, "active\n")), ("--dump-db", dump))


def entry(path, content=b"program"):
    return f"{path} {len(content)} {hashlib.sha256(content).hexdigest()}"


def test_where_nothing_guards_nothing_is_said(tmp_path, program):
    assert check_system.check_guards(says(), [str(program)], str(tmp_path / "none")) == []
    (tmp_path / "enforce").write_text("0", encoding="ascii")
    inactive = says(("is-active fapolicyd", Said(3, "inactive\n")))
    assert check_system.check_guards(inactive, [str(program)], str(tmp_path / "enforce")) == []


@pytest.mark.parametrize("kind", ["", "filedb "])
def test_fapolicyd_trusts_it(program, kind):
    dump = f"rpmdb /usr/bin/ls 1 00\n{kind}{entry(program)}\n"
    (found,) = check_system.fapolicyd(active(program, Said(0, dump)), [str(program)])
    assert (found.state, found.words) == (OK, f"it trusts {program}")


@pytest.mark.parametrize("of", ["nothing", "another version", "another file"])
def test_fapolicyd_does_not_trust_it(program, of):
    lines = {"nothing": "", "another version": entry(program, b"progran"), "another file": entry("/other")}
    (found,) = check_system.fapolicyd(active(program, Said(0, lines[of])), [str(program)])
    assert found.state == WARN and f"may prevent them from running: {program}" in found.words
    assert (
        f"fapolicyd-cli --file add {program} --trust-file azure-maintenance && fapolicyd-cli --update" in found.advice
    )


def test_fapolicyd_that_does_not_say(program):
    (found,) = check_system.fapolicyd(active(program, Said(1, "only root may")), [str(program)])
    assert found.state == WARN and "could not be read" in found.words and f"--file add {program}" in found.advice


@pytest.mark.parametrize(
    "said, state, words",
    [
        (Said(0, ""), OK, "files have the policy's labels"),
        (Said(0, "Would relabel {0} from u:r:user_home_t:s0 to u:r:lib_t:s0\n"), WARN, "has other labels for {0}"),
        (Said(0, "restorecon reset {0} context a->b\n"), WARN, "has other labels for {0}"),
        (Said(-1, ""), OK, "restorecon could not check"),
    ],
)
def test_labels_of_selinux(tmp_path, program, said, state, words):
    (tmp_path / "enforce").write_text("1", encoding="ascii")
    asks = says(("restorecon -n -v", Said(said.code, said.text.format(program))))
    (found,) = check_system.labels(asks, [str(program), "/etc/hook"], str(tmp_path / "enforce"))
    assert found.state == state and words.format(program) in found.words and "ausearch -m avc" in found.advice
    assert state == OK or f"restorecon -v {program};" in found.advice


def test_files_that_are_guarded_are_those_that_are_there(tmp_path, program):
    asked = []

    def asks(command, seconds=5.0):
        asked.append(command)
        return Said(0, "")

    (tmp_path / "enforce").write_text("1", encoding="ascii")
    check_system.check_guards(asks, [str(program), str(tmp_path / "none")], str(tmp_path / "enforce"))
    assert [command for command in asked if command[0] == "restorecon"] == [
        ["restorecon", "-n", "-v", "--", str(program)]
    ]


def test_hooks_are_guarded_too(tmp_path):
    for name in ("prepare.d/10-a", "prepare.d/Reboot/20-b", "notify.d/30-c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    found = check_settings.hook_files(Configuration(hooks_folder=str(tmp_path)))
    assert found == [str(tmp_path / name) for name in ("prepare.d/10-a", "prepare.d/Reboot/20-b", "notify.d/30-c")]


@pytest.mark.parametrize("text, state", [("systemd 252 (252.1)\n+PAM", OK), ("systemd 219\n", WARN), ("", WARN)])
def test_versions(text, state):
    here = cli.CliContext("/none", "0.2.0", {}, None, None, None)
    (found,) = check_system.versions(here, says(("--version", Said(0, text))))
    assert found.state == state and "watcher 0.2.0, Python 3." in found.words


def test_a_program_that_hangs_or_is_not_there():
    assert ask(["/nowhere/program"]) == Said(-1, "")
    began = time.monotonic()
    assert ask(["sleep", "600"], 0.2) == Said(-1, "")
    assert time.monotonic() - began < 300
    assert ask(["sh", "-c", "echo x; exit 3"]) == Said(3, "x\n")


# --- what the settings name ---


STEP = {"key": "service app", "type": "service", "service": "app", "elsewhere": False}


def test_services_of_steps():
    wanted = Configuration(steps=(STEP,))
    assert check_settings.steps(wanted, says(("-- app", Said(0, "loaded\n"))))[0].state == OK
    assert (
        check_settings.steps(wanted, says(("-- app", Said(0, "not-found\n"))))[0].words
        == "service app: this machine has no service app"
    )
    assert check_settings.steps(wanted, says())[0].state == FAIL


def test_commands_of_steps():
    step = dict(STEP, key="c", type="command", do={"argv": ["sh", "-c", "x"]}, undo={"argv": ["/nowhere/x"]})
    assert [one.words for one in check_settings.steps(Configuration(steps=(step,)), says())] == [
        "c: this machine has no program /nowhere/x"
    ]


def test_a_command_is_looked_for_where_it_would_be_run(tmp_path):
    """As `maintain` does it."""
    (tmp_path / "ctl").write_text("#!/bin/sh\n", encoding="ascii")
    (tmp_path / "ctl").chmod(0o755)
    step = dict(STEP, key="c", type="command", do={"argv": ["./ctl"]}, chdir=str(tmp_path))
    assert check_settings.steps(Configuration(steps=(step,)), says())[0].state == OK
    by_path = dict(step, do={"argv": ["ctl"]}, chdir=None, environment={"PATH": str(tmp_path)})
    assert check_settings.steps(Configuration(steps=(by_path,)), says())[0].state == OK
    gone = dict(step, chdir="/nowhere")
    assert (
        check_settings.steps(Configuration(steps=(gone,)), says())[0].words == "c: this machine has no folder /nowhere"
    )


def test_hooks_that_take_long(tmp_path):
    (tmp_path / "prepare.d").mkdir()
    for name in ("10-a", "20-b", "30-c"):
        (tmp_path / "prepare.d" / name).write_text("#!/bin/sh\n", encoding="ascii")
        (tmp_path / "prepare.d" / name).chmod(0o755)
    wanted = Configuration(hooks_folder=str(tmp_path), hook_limit=300.0)
    (found,) = check_settings.hooks(wanted)
    assert found.state == WARN and "add up to 900 s" in found.words
    assert (
        check_settings.hooks(wanted._replace(hook_limit=200.0))[0].words
        == f"3 prepare, 0 recover, 0 notify in {tmp_path}"
    )


def test_a_hook_of_a_user_that_is_not_there(tmp_path):
    (tmp_path / "notify.d").mkdir()
    (tmp_path / "notify.d" / "10-a").write_text("#!/bin/sh\n", encoding="ascii")
    (tmp_path / "notify.d" / "10-a").chmod(0o755)
    options = {"notify.d/10-a": HookOptions(user="nobody-of-this-name")}
    (found,) = check_settings.hooks(Configuration(hooks_folder=str(tmp_path), hooks=options))
    assert found.words == "notify.d/10-a: this machine has no user nobody-of-this-name"


# --- reports ---


@pytest.mark.parametrize(
    "phase, means", [("prepare", "that needs it is approved"), ("recover", "a recovery without it counts as failed")]
)
def test_hooks_that_are_not_run(tmp_path, phase, means):
    path = tmp_path / f"{phase}.d" / "10-a"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o600)
    wanted = Configuration(hooks_folder=str(tmp_path), hooks={f"{phase}.d/20-b": HookOptions()})
    missing, refused = check_settings.hooks(wanted)
    assert missing.state == refused.state == FAIL
    assert "20-b" in missing.words and "install it, or correct its name" in missing.advice and means in missing.advice
    assert f"chmod +x {path}" in refused.words and means in refused.advice


def test_receivers():
    from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.post_transport import (
        reach,
    )

    with Receiver() as receiver:
        wanted = Configuration(
            reports=(Destination(receiver.url, "/secret"), Destination("https://nobody.invalid/T0KEN"))
        )
        found = check_settings.check_receivers(wanted, reach, Way)
        assert receiver.requests == []
    assert states(found) == [(OK, "reports"), (WARN, "reports"), (FAIL, "reports"), (WARN, "reports")]
    assert "is not encrypted" in found[1].words
    assert "its name does not resolve" in found[2].words and "unsigned" in found[3].words
    assert "T0KEN" not in str(found)


def test_reports_that_wait():
    waits = [
        DestinationView("a", 3, 990.0, LastTry()),
        DestinationView("b", 3, 100.0, LastTry("", "HTTP 503")),
        DestinationView("c", 500, 990.0, LastTry()),
    ]
    found = check_settings.waiting(a_view(waits=waits))
    assert [one.words for one in found] == ["b: 3 wait; last: HTTP 503", "c: 500 wait"]


# --- all of it ---


def test_a_line_is_fit_to_be_read():
    lines = lines_of(Finding(FAIL, "endpoint", "It does \x1b[31mnot answer. " * 10, "ask again " * 20))
    assert all(len(line) <= 80 and line.isprintable() for line in lines)
    assert lines[0].startswith("FAIL  endpoint    It does [31mnot")
    assert any(line.startswith("                  -> ask again") for line in lines)


@pytest.fixture
def doctor(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(cli, "_user_number", lambda: 0)
    settings = {
        "format": 1,
        "folder": str(tmp_path / "state"),
        "hooks_folder": str(tmp_path / "hooks"),
        "endpoint": "http://127.0.0.1:9",
    }
    path = tmp_path / "watcher.json"
    path.write_text(json.dumps(settings), encoding="ascii")
    path.chmod(0o600)

    def call(*arguments):
        code = main("0.2.0", ["doctor", "--settings", str(path), *arguments], dict(os.environ))
        return code, capfd.readouterr()[0]

    call.path = path
    return call


def test_the_doctor_looks_at_all_of_it(doctor):
    code, words = doctor()
    assert code == 1
    assert all(len(line) <= 80 for line in words.splitlines())
    whats = {
        line.split()[1] for line in words.splitlines() if line[:1] != " " and line.split()[0] in ("ok", "WARN", "FAIL")
    }
    assert whats >= {
        "versions",
        "settings",
        "hooks",
        "steps",
        "state",
        "rights",
        "route",
        "proxy",
        "endpoint",
        "watcher",
        "reports",
    }
    assert words.splitlines()[-1].endswith(" warnings.")


def test_the_doctor_has_the_program_and_its_hooks_guarded(doctor, monkeypatch):
    hook = doctor.path.parent / "hooks" / "prepare.d" / "10-a"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\n", encoding="ascii")
    hook.chmod(0o755)
    monkeypatch.setattr(
        check_system, "check_guards", lambda _ask, files: [Finding(OK, "guards", path) for path in files]
    )
    found = [one["words"] for one in json.loads(doctor("--json")[1])["findings"] if one["what"] == "guards"]
    assert found == [os.path.abspath(sys.argv[0]), "/usr/local/bin/azure-maintenance", str(hook)]


def test_whatever_is_not_right_comes_with_what_to_do():
    commands = pathlib.Path(check_imds.__file__).parent
    files = [*commands.glob("check_*.py"), commands / "doctor.py"]
    calls = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    made = [node for node in calls if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding"]
    bad = [node for node in made if getattr(node.args[0], "id", "") in ("FAIL", "WARN")]
    assert len(bad) > 20
    assert [ast.dump(node) for node in bad if len(node.args) < 4] == []


def test_it_is_asked_as_the_watcher_asks_whoever_called_sudo(doctor, monkeypatch):
    asked = []
    monkeypatch.setattr(check_imds, "check_service", lambda _wanted, _transport, _clock, user: asked.append(user) or [])
    monkeypatch.setenv("SUDO_USER", "anna")
    doctor()
    monkeypatch.setattr(cli, "_user_number", lambda: 1000)
    doctor()
    assert asked == ["root", "anna"]


def test_the_doctor_has_others_try_only_what_answers_root(doctor, monkeypatch):
    monkeypatch.setattr(check_imds, "others", lambda endpoint, _ask: [Finding(OK, "users", endpoint)])
    assert "users" not in doctor("--json")[1]
    monkeypatch.setattr(check_imds, "check_service", lambda *arguments: [Finding(OK, "endpoint", "it answers")])
    assert {"state": "ok", "what": "users", "words": "http://127.0.0.1:9", "advice": ""} in json.loads(
        doctor("--json")[1]
    )["findings"]


def test_the_doctor_for_programs(doctor):
    code, words = doctor("--json")
    found = {one["what"]: one["state"] for one in json.loads(words)["findings"]}
    assert (code, found["settings"], found["endpoint"]) == (1, "ok", "fail")


def test_the_doctor_where_settings_are_damaged(doctor, monkeypatch):
    # Without settings it would ask the usual service, which tests must not do.
    monkeypatch.setattr(check_imds, "check_service", lambda *_how: [])
    doctor.path.write_text("{", encoding="ascii")
    code, words = doctor()
    assert code == 1 and "FAIL  settings" in words


def test_the_doctor_of_somebody_else(doctor, monkeypatch):
    monkeypatch.setattr(cli, "_user_number", lambda: 1000)
    assert "WARN  user        you are not root" in doctor()[1]
