# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real PowerShell that stays: over real pywinrm, over real ssh, and what ends it."""

import contextlib
import os
import signal
import socket
import subprocess
import time

import pytest
from ansible.errors import AnsibleError
from ansible.playbook.play_context import PlayContext
from ansible.plugins import loader

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows import channels, scripts, standing
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.logins import Logins
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import WindowsProblem
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.standing import Standing
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.faulty import FAULTS, serving
from ansible_collections.cloudops.azure_maintenance.tests.windows.psrp_endpoint import PSRP
from ansible_collections.cloudops.azure_maintenance.tests.windows.winrm_endpoint import PASSWORD, USER, WinRM

BOOT = {"Do": "boot", "Stop": False, "Expect": {}}
SSHD = "/usr/sbin/sshd"
LOGINS = Logins("ops", "win1")


def http(url, **more):
    request = {
        "Do": "http",
        "Method": "GET",
        "Url": url,
        "Headers": {"Metadata": "true"},
        "Body": "",
        "TimeoutMs": 5000,
        "MaxBytes": 1000000,
        "Known": "",
        "IntervalMs": 0,
        "LimitMs": 0,
        "FromMs": 0,
        "UntilMs": 0,
        "Stop": False,
        "Expect": {},
    }
    return dict(request, **more)


def over_winrm(server, password=PASSWORD):
    """Ansible's own connection to it."""
    connection = loader.connection_loader.get("winrm", PlayContext(), "/dev/null")
    port = server.server_address[1]
    direct = {"remote_addr": "127.0.0.1", "remote_user": USER, "remote_password": password, "port": port}
    connection.set_options(direct=dict(direct, scheme="http", transport=["plaintext"], _extras={}))
    connection._options["_extras"] = {}
    return connection


@pytest.fixture
def winrm(windows):
    with WinRM(windows.environment["PATH"]) as server:
        yield server


@pytest.fixture
def ssh(windows, tmp_path):
    """Ansible's own connection to a real sshd, whose users have this PowerShell on PATH."""
    if not os.path.exists(SSHD):
        pytest.skip("no sshd: apt-get install openssh-server")
    for name in ("key", "host"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "key.pub",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        # PowerShell keeps a profile of its start, else in the home that sshd asks the system for
        "SetEnv": f"PATH={windows.environment['PATH']} XDG_CACHE_HOME={tmp_path}",
    }
    (tmp_path / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    os.makedirs("/run/sshd", exist_ok=True)
    daemon = subprocess.Popen([SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
    connection = loader.connection_loader.get("ssh", PlayContext(), "/dev/null")
    direct = {"host": "127.0.0.1", "port": port, "private_key_file": str(tmp_path / "key"), "host_key_checking": False}
    connection.set_options(direct=dict(direct, control_path_dir=str(tmp_path / "cp")))
    connection._shell = loader.shell_loader.get("powershell")
    yield connection
    connection.reset()
    daemon.terminate()
    daemon.wait()


@contextlib.contextmanager
def held(connection, logins=None):
    one = Standing(connection, logins or LOGINS)
    try:
        yield one
    finally:
        one.close()


def boot_id(one):
    (answer,) = one.look([BOOT], 60)["answers"]
    return answer["id"]


def process(server):
    (command,) = server.commands()
    return command.process


def test_one_start_serves_all_calls_over_winrm(winrm):
    with held(over_winrm(winrm)) as one, serving(FAULTS["nothing wrong"][0]) as address:
        (answer,) = one.look([http(address + "/x")], 60)["answers"]
        assert answer["status"] == 200
        assert boot_id(one) == boot_id(one)
        (expected,) = one.look([dict(BOOT, Expect={"booted": booted(one)})], 60)["answers"]
        assert "failure" not in expected, "a text that looks like a date stays a text"
        (other,) = one.look([dict(BOOT, Expect={"id": "another"})], 60)["answers"]
        assert "failure" in other
    assert winrm.asked.count("Command") == 1
    assert winrm.asked[-1] == "Signal"


@pytest.fixture
def psrp(windows):
    """Ansible's own connection to a runspace, and the endpoint."""
    with PSRP(windows.environment["PATH"]) as server:
        connection = loader.connection_loader.get("psrp", PlayContext(), "/dev/null")
        direct = {"remote_addr": "127.0.0.1", "remote_user": USER, "remote_password": PASSWORD, "protocol": "http"}
        direct.update(port=server.server_address[1], auth="basic", message_encryption="never")
        connection.set_options(direct=direct)
        yield connection, server
        connection.close()


def test_one_runspace_serves_all_calls_over_psrp(psrp):
    connection, server = psrp
    with held(connection) as one, serving(FAULTS["304"][0]) as address:
        assert boot_id(one) == boot_id(one)
        (answer,) = one.look([http(address + "/it's", IntervalMs=300, LimitMs=1000)], 60)["answers"]
        assert answer["status"] == 304 and answer["polls"] > 1
        code, out, _said = connection.exec_command("1+1", sudoable=False)
        assert (code, out.strip()) == (0, b"2"), "Ansible's own connection works as before"
        assert boot_id(one)
    assert len(server.shells) == 1
    assert server.asked.count("Create") == 1


def test_a_runspace_that_has_ended_is_made_anew_with_its_connection(psrp):
    connection, server = psrp
    with held(connection) as one:
        boot_id(one)
        server.end_all()
        with pytest.raises(Exception, match="shell|runspace|pipeline|no"):
            boot_id(one)
    connection.reset()
    with held(connection) as one:
        assert boot_id(one)


def booted(one):
    return one.look([BOOT], 60)["answers"][0]["booted"]


def test_one_start_serves_all_calls_over_ssh(ssh):
    with held(ssh) as one:
        assert boot_id(one) == boot_id(one)
        process_of_ssh = one._channel._process
    assert process_of_ssh.poll() is not None, "nothing is left here"
    code, out, _said = ssh.exec_command("powershell -Command 1+1", sudoable=False)
    assert (code, out.strip()) == (0, b"2"), "Ansible's own connection works as before"


def test_where_it_has_ended_another_one_is_begun(winrm, monkeypatch):
    monkeypatch.setattr(standing, "PROVEN", 0.0)
    with held(over_winrm(winrm)) as one:
        boot_id(one)
        os.killpg(process(winrm).pid, signal.SIGKILL)
        process(winrm).wait()
        assert boot_id(one)
    assert winrm.asked.count("Command") == 2


def test_a_wait_ends_with_its_controller(winrm, monkeypatch):
    """Nobody says a word any more: the wait is over with the lease, and so is PowerShell."""
    monkeypatch.setattr(scripts, "LEASE", 3.0)
    monkeypatch.setattr(standing, "BEAT", 1000.0)
    with serving(FAULTS["304"][0]) as address:
        one = Standing(over_winrm(winrm), LOGINS)
        boot_id(one)
        running = process(winrm)
        with pytest.raises(channels.Broken, match="no answer in time"):
            one._asked([http(address + "/x", IntervalMs=60000, LimitMs=60000)], time.monotonic() + 1)
        assert running.wait(30) is not None


def test_beats_keep_it_through_a_wait_that_is_longer_than_its_lease(winrm, monkeypatch):
    monkeypatch.setattr(scripts, "LEASE", 2.0)
    monkeypatch.setattr(standing, "BEAT", 0.5)
    with held(over_winrm(winrm)) as one, serving(FAULTS["304"][0]) as address:
        (answer,) = one.look([http(address + "/x", IntervalMs=1000, LimitMs=4000)], 60)["answers"]
        assert (answer["status"], answer["polls"]) == (304, 5)
        beats = winrm.asked.count("Send") + 8  # for twice its lease, between two calls
        until = time.monotonic() + 60
        while winrm.asked.count("Send") < beats:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert boot_id(one)
    assert winrm.asked.count("Command") == 1


def test_one_that_hangs_is_ended_at_the_limit(winrm):
    with held(over_winrm(winrm)) as one:
        boot_id(one)
        hung = process(winrm)
        os.killpg(hung.pid, signal.SIGSTOP)
        with pytest.raises(channels.Broken, match="no answer in time"):
            one.look([BOOT], 1.0)
        assert hung.wait(30) == -signal.SIGKILL
        assert boot_id(one), "the next call begins another one"


def test_a_login_that_is_refused_is_ansible_s_own_error(winrm):
    user = Logins("ops@refused", "win1")
    with held(over_winrm(winrm, "wrong"), user) as one, pytest.raises(AnsibleError, match="credentials"):
        boot_id(one)


def test_a_wrong_password_is_tried_twice_whatever_the_number_of_machines(winrm):
    for machine in ("win1", "win2", "win3"):
        user = Logins("CORP\\wrong", machine)
        with held(over_winrm(winrm, "wrong"), user) as one, pytest.raises(
            WindowsProblem if machine == "win3" else AnsibleError
        ):
            boot_id(one)
    assert winrm.refused == 2


def test_what_powershell_says_when_it_can_not_run_is_told(windows, tmp_path):
    (tmp_path / "powershell").write_text("#!/bin/sh\necho 'blocked by group policy' >&2; exit 1\n")
    (tmp_path / "powershell").chmod(0o755)
    with contextlib.ExitStack() as opened:
        server = opened.enter_context(WinRM(f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"))
        one = opened.enter_context(held(over_winrm(server)))
        with pytest.raises(AnsibleError, match="blocked by group policy"):
            boot_id(one)


def test_a_large_document_comes_whole(winrm, tmp_path):
    content = os.urandom(700_000)
    (tmp_path / "large").write_bytes(content)
    read = {"Do": "read", "Path": str(tmp_path / "large"), "Stop": False, "Expect": {}}
    with held(over_winrm(winrm)) as one:
        (answer,) = one.look([read], 60)["answers"]
    assert len(answer["body"]) > 900_000
