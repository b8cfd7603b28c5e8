# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to many hosts from one task are those that Ansible gives a task on each host."""

import json
import pathlib

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.reach_plays import (
    FILES,
    HOSTS,
    PLAYS,
    WITH_OPTIONS,
)

MACHINES = ("first", "jump", "templated", "local", "su", "winrm", "psrp")
DELEGATING = ("first", "jump", "su")
OF_FIRST = ("password of first alone", "become password of first alone")


def cases(*plays, hosts=MACHINES):
    return [f"{play}: {host}" for play in plays for host in hosts]


def delegated(*places):
    return cases("Delegated", hosts=[f"{host} to {place}" for host in DELEGATING for place in places])


OF_PLAYS = [
    *cases("Plain", "Keywords", "Templates in keywords", "Variables of the play"),
    *cases("Files of variables and parameters of the role", "Variables of an included role and facts"),
    *cases("Become or not, become", "Become or not, stay", "From another host"),
    *cases("All local", hosts=("first", "jump", "local", "su")),
    *delegated("balancer", "windows_balancer", "127.0.0.99", "localhost"),
    *cases("Localhost", hosts=("localhost",)),
]
OF_OPTIONS = [*cases("Plain", "From another host"), *delegated("balancer", "127.0.0.99", "localhost")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two runs: one without options of the command line, one with them. Kind of record -> case -> what was recorded."""

    def run(play, *options):
        folder = tmp_path_factory.mktemp("run")
        passwords = {"vault": "of the tests", "ask": "of the user", "ask-become": "of the user's root"}
        for name, content in {**FILES, **passwords, "play.yml": play}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        printed, status = playbook(
            folder,
            folder / "play.yml",
            HOSTS,
            {},
            "--vault-password-file=vault",
            *options,
            ANSIBLE_ACTION_PLUGINS=str(pathlib.Path(__file__).with_name("reaching")),
            RECORDS=str(folder),
        )
        assert status == 0, printed
        kinds = ("expected", "found")
        return {kind: {file.name: json.loads(file.read_text()) for file in (folder / kind).iterdir()} for kind in kinds}

    return {
        "plays": run(PLAYS),
        "options": run(
            WITH_OPTIONS,
            *("-u", "cli_user", "-b", "--private-key=/key/of/cli", "--timeout=44"),
            *("--connection-password-file=ask", "--become-password-file=ask-become"),
        ),
    }


def differences(expected, found):
    """Part by part, in words: a dictionary of all would be cut short."""
    for part in sorted({*expected, *found}):
        one, other = expected.get(part), found.get(part)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from (f"{part}, {difference}" for difference in differences(one, other))
        elif one != other:
            yield f"{part}: Ansible's own task has {one!r}, not {other!r}"


@pytest.mark.parametrize(("run", "cases"), [("plays", OF_PLAYS), ("options", OF_OPTIONS)])
def test_connections_are_those_of_a_task_on_each_host(recorded, run, cases):
    expected, found = recorded[run]["expected"], recorded[run]["found"]
    assert sorted(expected) == sorted(found) == sorted(cases)
    wrong = [f"{case}: {difference}" for case in cases for difference in differences(expected[case], found[case])]
    assert not wrong, "\n".join(wrong)


def test_passwords_of_a_host_reach_no_other(recorded):
    texts = [(case, json.dumps(record)) for run in recorded.values() for case, record in run["found"].items()]
    assert all(secret in dict(texts)["Become or not, become: first"] for secret in OF_FIRST)
    others = [(case, text) for case, text in texts if not case.endswith(": first")]
    assert others
    assert [case for case, text in others if any(secret in text for secret in OF_FIRST)] == []


def test_a_password_is_the_hosts_own_or_the_users(recorded):
    plain, asked = (recorded[run]["found"] for run in ("plays", "options"))

    def passwords(record):
        return record["connection"].get("password"), record["become"].get("become_pass")

    assert passwords(plain["Become or not, become: su"]) == (None, None)
    assert passwords(plain["Become or not, become: jump"]) == (None, "kept in a vault")
    assert passwords(asked["Plain: first"]) == OF_FIRST
    assert passwords(asked["Plain: su"]) == ("of the user", "of the user's root")
    assert passwords(asked["Plain: jump"]) == ("of the user", "kept in a vault")
    assert plain["All local: jump"]["executed"] == "hello jump of recorded"
