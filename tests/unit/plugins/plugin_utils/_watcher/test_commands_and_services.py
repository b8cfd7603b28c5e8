# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the program is called on each system, which services it has there, and what the role takes from an answer."""

from __future__ import annotations

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.windows_host import WINDOWS
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import place_of
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.program import (
    access_of,
    commands_of,
    services_of,
    status_of,
    written,
)

ENV = {"HOME": "/home/ops", "ProgramFiles": r"C:\Program Files", "ProgramData": r"C:\ProgramData"}
SERVICE, PROCESS, ON_WINDOWS = (
    place_of(system, ENV, systemd=systemd, version="1.0.0")
    for system, systemd in (("linux", True), ("linux", False), ("windows", True))
)
HEALTH = {"http": [], "agent": [], "sources": [], "metrics_sources": [], "app": None, "app_timeout": 2.0}


def commands(place, **health):
    """Without what all of them begin with."""
    found = commands_of(place, "python", {**HEALTH, **health})
    program = found.pop("program")
    return program, {name: words[len(program) :] if words[0] == "python" else words for name, words in found.items()}


def test_commands_of_a_service():
    program, found = commands(SERVICE)
    assert program == ["python", "-I", SERVICE.program]
    assert found == {
        "run": ["run", "--settings", SERVICE.settings],
        "send": ["send", "--settings", SERVICE.settings],
        "health": ["health", "--folder", SERVICE.state, "--run-folder", SERVICE.run],
        "status": [SERVICE.command, "status", "--json"],
        "check": ["check-config", "--offline", "--settings", SERVICE.new_settings],
    }


def test_a_process_is_told_where_its_run_folder_is():
    assert commands(PROCESS)[1]["run"] == ["run", "--settings", PROCESS.settings, "--run-folder", PROCESS.run]


def test_on_windows_no_script_comes_between_the_role_and_the_answer():
    program, found = commands(ON_WINDOWS)
    assert program == ["python", "-I", "-S", ON_WINDOWS.program]
    assert found["status"] == ["status", "--json", "--settings", ON_WINDOWS.settings]
    assert found["run"] == ["run", "--settings", ON_WINDOWS.settings]


def test_the_health_endpoint_is_told_all_by_its_words():
    given = {"http": ["127.0.0.1:1", "[::1]:1"], "agent": ["127.0.0.1:2"], "sources": ["10.0.0.0/24"]}
    found = commands(SERVICE, **given, metrics_sources=["10.0.1.0/24"], app="http://127.0.0.1/", app_timeout=1.5)[1]
    assert " ".join(found["health"][5:]) == (
        "--http 127.0.0.1:1 --http [::1]:1 --agent 127.0.0.1:2 --source 10.0.0.0/24 --metrics-source 10.0.1.0/24 "
        "--app http://127.0.0.1/ --app-timeout 1.5"
    )


def test_who_may_write_is_asked_of_each_folder_once_and_of_each_file():
    other = place_of("windows", ENV, r"D:\azm")
    folder = other.below(other.hooks, "prepare.d")
    words = access_of(other, ["program"], [folder])
    data = r"C:\ProgramData\AzureMaintenance"
    assert words[:4] == ["program", "folders", "--state", r"D:\azm"] and set(words[4::2]) == {"--folder"}
    assert words[5::2] == [
        *(
            other.programs,
            data,
            r"D:\azm",
            r"D:\azm\spool",
            rf"{data}\run",
            rf"{data}\config",
            rf"{data}\config\secrets",
        ),
        *(rf"{data}\config\hooks", rf"{data}\config\hooks\prepare.d"),
    ]
    assert access_of(ON_WINDOWS, [], [])[4::2].count(data) == 1
    assert " ".join(written(other, "python.exe", ["hook"], ["secret"])) == (
        f"--file python.exe --file {other.program} --file {other.command} --file hook --secret {other.new_settings} --secret secret"
    )


@pytest.mark.parametrize("reports, health", [(True, False), (False, True)])
def test_services(reports, health):
    found = {
        place: services_of(place, commands_of(place, "python", HEALTH), reports, health)
        for place in (SERVICE, ON_WINDOWS)
    }
    for services in found.values():
        assert [service["enabled"] for service in services.values()] == [True, reports, health]
    assert [(service["name"], service["unit"]) for service in found[SERVICE].values()] == [
        ("azure-maintenance", "/etc/systemd/system/azure-maintenance.service"),
        ("azure-maintenance-reports", "/etc/systemd/system/azure-maintenance-reports.service"),
        ("azure-maintenance-health.socket", "/etc/systemd/system/azure-maintenance-health.socket"),
    ]
    for service, known in zip(
        found[ON_WINDOWS].values(), (WINDOWS.watcher, WINDOWS.reports, WINDOWS.health), strict=True
    ):
        assert (service["name"], service["account"], service["command"][4]) == known


ANSWERS = [{"address": "127.0.0.1:1", "is_in_service": True}, {"address": "127.0.0.1:2", "is_in_service": None}]
SAID = {"looking": True, "health": ANSWERS, "health_problem": "no way to /data"}


def test_what_status_says():
    came = {"rc": 0, "stdout": json.dumps(SAID)}
    assert status_of(came) == {"polls": True, "unanswered": ["127.0.0.1:2"], "health_problem": "no way to /data"}
    assert not status_of(dict(came, rc=1))["polls"]
    assert not status_of(dict(came, stdout=json.dumps(dict(SAID, looking=False))))["polls"]


@pytest.mark.parametrize("came", [{}, {"rc": 0, "stdout": ""}, {"rc": 2, "stdout": "usage:"}])
def test_a_status_without_an_answer(came):
    assert status_of(came) == {"polls": False, "unanswered": ["status gives no answer"], "health_problem": ""}
