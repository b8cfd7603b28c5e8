# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher puts on a machine without asking anybody: its units, its command, and the two programs that it has run there."""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import jinja2
import pytest
import yaml
from ansible.plugins.filter.core import FilterModule

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher import (
    hooks,
    place,
    plan,
    program,
    refusals,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._watcher.test_watcher_plan import (
    OPTIONS,
)

ROLE = pathlib.Path(__file__).resolve().parents[2] / "roles" / "watcher"
UNITS = ("azure-maintenance.service", "azure-maintenance-reports.service", "azure-maintenance-health.service")
SOCKET, ADDRESS = "azure-maintenance-health.socket", "azure-maintenance-health@.socket"
SYSTEMD = "ansible.builtin.systemd_service"
OLDEST, NEWEST = refusals.OLDEST_SYSTEMD, 260

# The version of systemd that brought a setting, as its manual pages say; those that are older than the oldest are 0.
SINCE = {
    "ProtectHostname": 242,
    "RestrictSUIDSGID": 242,
    "ProtectKernelLogs": 244,
    "ProtectClock": 245,
    "ProtectProc": 247,
    "LoadCredential": 247,
    **dict.fromkeys(
        (
            "After",
            "DynamicUser",
            "IPAddressAllow",
            "IPAddressDeny",
            "LimitNOFILE",
            "MemoryMax",
            "PrivateNetwork",
            "PartOf",
            "Wants",
            "RequiresMountsFor",
            "TasksMax",
            "CapabilityBoundingSet",
            "Description",
            "Environment",
            "ExecReload",
            "ExecStart",
            "ExecStartPre",
            "KillMode",
        )
        + ("LockPersonality", "MemoryDenyWriteExecute", "NoNewPrivileges", "NotifyAccess", "OOMScoreAdjust")
        + ("PrivateDevices", "PrivateTmp", "ProtectControlGroups", "ProtectHome", "ProtectKernelModules")
        + ("ProtectKernelTunables", "ProtectSystem", "ReadWritePaths", "Restart")
        + ("RestartPreventExitStatus", "RestartSec", "UMask", "WantedBy")
        + ("RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RuntimeDirectory")
        + ("RuntimeDirectoryMode", "RuntimeDirectoryPreserve", "StartLimitIntervalSec", "StateDirectory")
        + ("StateDirectoryMode", "SystemCallArchitectures", "SystemCallErrorNumber", "SystemCallFilter")
        + ("TimeoutStartSec", "TimeoutStopSec", "Type", "WatchdogSec"),
        0,
    ),
}


def load(path):
    return yaml.safe_load((ROLE / path).read_text(encoding="utf-8"))


def rendered(template, version=252, health=None, state=None, words=None):
    """
    :arg words: of each command line
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(ROLE / "templates")), trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(FilterModule().filters())
    there = place.place_of("linux", {}, state or "", python=sys.executable, version="1.0.0")
    commands = program.commands_of(there, sys.executable, {**HEALTH, **(health or {})})
    given = {
        "ansible_managed": "Ansible managed",
        "azure_maintenance_endpoint": "http://169.254.169.254",
        "__watcher_probed": {"stdout": json.dumps({"systemd": version})},
        "__watcher_place": there._asdict(),
        "item": "@" if template == ADDRESS else "",
        "__watcher_files": {
            "commands": dict.fromkeys(commands, words) if words else commands,
            "settings": {"health": {**HEALTH, **(health or {})}},
        },
    }
    return environment.get_template(template.replace("@", "") + ".j2").render(given)


HEALTH = {
    "http": ["127.0.0.1:8009", "[::1]:8009"],
    "agent": ["10.0.0.4:8010"],
    "sources": ["10.0.0.0/24"],
    "metrics_sources": [],
    "app": "",
}


def settings_in(unit):
    return [line.split("=", 1) for line in unit.splitlines() if re.match(r"[A-Za-z]+=", line)]


# ---- units ----


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("version", [OLDEST, 241, 242, 243, 244, 245, NEWEST])
def test_a_unit_has_no_setting_that_its_systemd_does_not_know(name, version):
    keys = {key for key, _value in settings_in(rendered(name, version))}
    assert {key for key in keys if SINCE[key] > version} == set()


@pytest.mark.parametrize("name", UNITS)
def test_a_new_systemd_gets_all_that_the_template_has(name):
    in_template = {
        key for key, _value in settings_in((ROLE / "templates" / (name + ".j2")).read_text(encoding="utf-8"))
    }
    for state, app in (("", ""), ("/srv/az", "http://127.0.0.1/")):
        health = {"app": app, "app_timeout": 2.0}
        in_template -= {key for key, _value in settings_in(rendered(name, state=state, health=health))}
    assert in_template == set()


def test_the_service_never_gives_up_and_is_watched():
    unit = dict(settings_in(rendered(UNITS[0])))
    wanted = {"Type": "notify", "NotifyAccess": "main", "WatchdogSec": "180", "Restart": "always", "KillMode": "mixed"}
    wanted.update(StartLimitIntervalSec="0", TimeoutStopSec="10", StateDirectory="azure-maintenance")
    assert {key: unit[key] for key in wanted} == wanted


@pytest.mark.parametrize("name", UNITS)
def test_words_of_a_command_are_words_for_systemd(name):
    odd = [sys.executable, "/a b/%n", "$HOME", 'say "x"', "back\\slash"]
    line = dict(settings_in(rendered(name, words=odd)))["ExecStart"]
    assert line == f'"{sys.executable}" "/a b/%%n" "$$HOME" "say \\"x\\"" "back\\\\slash"'


@pytest.mark.parametrize("name", UNITS[:2])
def test_another_state_folder_is_made_and_may_be_written(name):
    unit = dict(settings_in(rendered(name, state="/srv/az")))
    assert "StateDirectory" not in unit
    assert unit["ReadWritePaths"] == '"/srv/az"' and unit["ExecStartPre"].endswith(' -m 0711 "/srv/az"')


@pytest.mark.parametrize("name", UNITS[:2])
def test_everybody_may_enter_another_state_folder(name, tmp_path):
    """Whether it is new, or a run of maintain has made it; the folders above are there or not."""
    tmp_path.chmod(0o755)
    there, new = tmp_path / "there", tmp_path / "above" / "new"
    there.mkdir(mode=0o700)
    for folder in (there, new):
        unit = dict(settings_in(rendered(name, state=str(folder))))
        command = shlex.split(unit["ExecStartPre"].lstrip("+"))
        subprocess.run(["sh", "-c", f'umask {unit["UMask"]}; exec "$@"', "sh", *command], check=True)
    assert [path.stat().st_mode & 0o777 for path in (there, new)] == [0o711, 0o711]
    assert new.parent.stat().st_mode & 0o001


def test_another_state_folder_is_there_before_the_services_are():
    steps = load("tasks/service.yml")
    (number,) = (number for number, task in enumerate(steps) if task["name"] == "Service | Create the state folder")
    given = steps[number]["ansible.builtin.file"]
    assert (given["path"], given["mode"]) == ("{{ __watcher_place.state }}", "0711")
    starting = [number for number, task in enumerate(steps) if {"ansible.builtin.meta", SYSTEMD} & set(task)]
    assert number < min(starting)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("state", ["", "/srv/az"])
def test_systemd_finds_nothing_wrong_with_a_unit(name, state, tmp_path):
    path = tmp_path / name
    path.write_text(rendered(name, state=state), encoding="utf-8")
    for socket in (SOCKET, ADDRESS):
        (tmp_path / socket).write_text(rendered(socket), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--generators=no", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert [line for line in done.stdout.splitlines() if name in line or "-health" in line] == []


def test_systemd_holds_the_addresses_of_the_health_endpoint():
    """Each by a unit of its own: one that somebody else has keeps none of the others closed."""
    unit = settings_in(rendered(SOCKET))
    assert [value for key, value in unit if key == "ListenStream"] == HEALTH["http"][:1]
    assert dict(unit)["TriggerLimitIntervalSec"] == "0" and dict(unit)["WantedBy"] == "sockets.target"
    others = [rf"azure-maintenance-health@{name}.socket" for name in (r"\x5b::1\x5d:8009", "10.0.0.4:8010")]
    assert [value for key, value in unit if key == "Wants"] == others
    instance = dict(settings_in(rendered(ADDRESS)))
    assert (instance["ListenStream"], instance["PartOf"], "WantedBy" in instance) == ("%I", SOCKET, False)
    service = settings_in(rendered(UNITS[2]))
    for key in ("Wants", "After"):
        assert [value for name, value in service if name == key] == [SOCKET, *others]
    assert not [value for name, value in service if name == "Requires"], "without one address it answers on the others"


def test_the_health_endpoint_has_no_right_and_as_little_network_as_it_needs():
    without, with_app = (
        dict(settings_in(rendered(UNITS[2], health={"app": app, "app_timeout": 2.0})))
        for app in ("", "http://127.0.0.1/")
    )
    for unit in (without, with_app):
        assert (unit["DynamicUser"], unit["CapabilityBoundingSet"], unit["Restart"]) == ("yes", "", "always")
        assert "AF_UNIX" not in unit["RestrictAddressFamilies"]  # which D-Bus speaks
        assert unit["RequiresMountsFor"] == '"/var/lib/azure-maintenance"'
    assert without["PrivateNetwork"] == "yes" and "PrivateNetwork" not in with_app
    assert (with_app["IPAddressDeny"], with_app["IPAddressAllow"]) == ("any", "localhost")


def test_the_command_is_a_script_that_hands_everything_on(tmp_path):
    script = tmp_path / "azure-maintenance"
    odd = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    script.write_text(rendered("azure-maintenance", words=odd), encoding="utf-8")
    said = subprocess.check_output(["/bin/sh", str(script), "hold", "a  reason", "$HOME"], text=True)
    assert said.strip() == "['hold', 'a  reason', '$HOME']"


# ---- variables ----


def test_the_documented_keys_of_hooks_and_reports_are_those_that_are_taken():
    options = load("meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    assert tuple(options["watcher_hooks"]["options"]) == hooks.KEYS
    assert options["watcher_hooks"]["options"]["phase"]["choices"] == list(hooks.PHASES)
    assert options["watcher_hooks"]["options"]["order"]["default"] == hooks.ORDER
    assert tuple(options["watcher_reports"]["options"]) == plan._REPORT_KEYS


def test_every_option_is_handed_on():
    (known,) = (
        re.findall(r"'(\w+)': ", task["ansible.builtin.set_fact"]["__watcher_files"])
        for _file, task in tasks()
        if "__watcher_files" in task.get("ansible.builtin.set_fact", {})
    )
    assert {*plan.variables(), *known} == set(OPTIONS)


PARTS = ("block", "rescue", "always")


def tasks():
    for path in sorted((ROLE / "tasks").rglob("*.yml")):
        pending = list(load(path.relative_to(ROLE)))
        while pending:
            task = pending.pop()
            pending += [inner for part in PARTS for inner in task.get(part) or ()]
            yield path.stem, task


def test_no_task_shows_a_secret():
    """Settings hold passwords of steps; secrets are secrets."""
    for _file, task in tasks():
        text = json.dumps({key: given for key, given in task.items() if key not in PARTS})
        if "__watcher_files.secrets }}" in text or "__watcher_files.settings |" in text:
            assert task.get("no_log") is True, task["name"]


def test_what_is_written_is_of_root_and_says_its_mode():
    for _file, task in tasks():
        for module in ("copy", "template"):
            given = task.get(f"ansible.builtin.{module}")
            if given:
                assert re.search(r"0[0-7]{3}", given["mode"]), task["name"]


# ---- what it has run on machines ----


def run(program, *arguments):
    command = [sys.executable, "-I", "-c", (ROLE / "files" / program).read_text(encoding="utf-8"), *arguments]
    return json.loads(subprocess.check_output(command, text=True, timeout=60))


def test_the_probe_says_what_the_filter_wants():
    probed = run("probe.py", "root", "nobody-of-this-name")
    assert probed["python"] == list(sys.version_info[:3])
    assert probed["no_users"] == ["nobody-of-this-name"]
    refusals.refusals(
        "web1", {"systemd": True, "image": False, "health": False, "python": "/usr/bin/python3"}, probed, None
    )


def test_a_version_that_a_process_runs_stays(tmp_path):
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        (tmp_path / f"{version}.pyz").write_text("", encoding="utf-8")
    (tmp_path / "README").write_text("", encoding="utf-8")
    old, used, kept = (str(tmp_path / f"{version}.pyz") for version in ("1.0.0", "1.1.0", "1.2.0"))
    waiting = [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()", used]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        assert run("unused_programs.py", str(tmp_path), kept) == [old]
        process.communicate(timeout=60)
    assert run("unused_programs.py", str(tmp_path), kept) == [old, used]
    assert run("unused_programs.py", str(tmp_path / "none"), kept) == []
