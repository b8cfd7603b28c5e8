# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays by ansible-playbook: a Linux machine that asks for itself, and a stand-in for a Windows one."""

import json

import pytest
from ansible.release import __version__

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import (
    ID,
    MAINTAIN,
    MIXED,
    OPTION_245,
    PLAYS,
    MixedMaintain,
    MixedPlay,
    Played,
)

HOSTS = (
    "[windows]\nwin1 ansible_host=win1\nmute ansible_host=mute\nlost ansible_host=lost\nhang ansible_host=hang\n"
    "[windows:vars]\nansible_connection=standin\nansible_shell_type=powershell\n"
)


def play(folder, name, variables, **environment):
    log = folder / "calls"
    log.touch()
    played = Played(
        folder,
        name,
        HOSTS,
        variables,
        ANSIBLE_CONNECTION_PLUGINS=str(PLAYS),
        STANDIN_LOG=str(log),
        STANDIN_OPTIONS=OPTION_245,
        **environment,
    )
    assert log.exists(), f"The play ended with {played.status} before it called a Windows machine:\n{played.printed}"
    played.calls = [json.loads(line) for line in log.read_text().splitlines()]
    return played


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return play(tmp_path_factory.mktemp("play"), MIXED, {})


@pytest.fixture(scope="module")
def maintained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maintain")
    return play(
        folder,
        "cloudops.azure_maintenance.maintain",
        dict(MAINTAIN, azure_maintenance_folder=str(folder / "marks")),
        # Whatever somebody's ansible.cfg says
        ANSIBLE_STRATEGY="ansible.builtin.free",
        ANSIBLE_ANY_ERRORS_FATAL="true",
    )


class TestMixedPlay(MixedPlay):
    def test_every_call_to_the_windows_machine(self, played):
        sent = []
        for host, name, arguments, _check in played.calls:
            if host != "win1":
                continue
            if name == "interfaces.ps1":
                sent.append(name)
                continue
            sent += [
                f"{'wait' if request['LimitMs'] else request['Method'].lower()} "
                f"{request['Url'].split('?')[0].rpartition('/')[2]}"
                f"{'' if '/vm/win1/' in request['Url'] else ' elsewhere'}"
                for request in arguments
            ]
        look = ["get scheduledevents", "get name"]
        # how often the document changes in between depends on the emulator's clock; everything else does not
        assert 3 <= sent.count("wait scheduledevents") <= 6
        assert [call for call in sent if call != "wait scheduledevents"] == [
            *4 * look,
            "post scheduledevents",
            *3 * look,
            "get scheduledevents elsewhere",
            "interfaces.ps1",
        ]


@pytest.mark.skipif(not __version__.startswith("2.21"), reason="a minute long: on one core only")
class TestMixedMaintain(MixedMaintain):
    def test_what_is_changed_is_compared_and_has_its_time(self, maintained):
        edits = [one for _host, _name, requests, _check in maintained.calls for one in requests if one["Do"] == "edit"]
        assert edits and all(0 < one["FromMs"] < one["UntilMs"] for one in edits)
        assert any(one["Compare"] and one["Path"].endswith("mark.json") for one in edits)


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    return play(tmp_path_factory.mktemp("refused"), PLAYS / "refused.yml", {})


def test_a_machine_that_says_nothing(refused):
    assert refused.results["mute"]["failure"]["kind"] == "invalid"
    assert refused.results["mute"]["msg"].startswith("mute: PowerShell did not do its work")


def test_a_machine_that_is_lost_is_unreachable(refused):
    assert refused.status == 4
    assert "lost" not in refused.results
    assert "UNREACHABLE! => " in refused.printed and "the machine is gone" in refused.printed


@pytest.fixture(scope="module")
def windows_calls(tmp_path_factory):
    return play(tmp_path_factory.mktemp("windows_calls"), PLAYS / "windows_calls.yml", {})


class TestCallsOfWindowsMachines:
    """The action machine on Windows machines."""

    def test_the_task_is_ok_whatever_happens_to_the_call(self, windows_calls):
        assert windows_calls.status == 0, windows_calls.printed
        lost = {host: windows_calls.results[host]["answers"][0]["lost"] for host in ("win1", "mute", "lost", "hang")}
        assert lost["win1"] == ""
        assert lost["mute"].startswith("mute: PowerShell did not do its work")
        assert "the machine is gone" in lost["lost"]
        assert lost["hang"].startswith("It gave no answer within 2 s")

    def test_an_approval_goes_with_the_comparison_of_the_mark(self, windows_calls):
        sent = [
            [request["Do"] if request["Do"] != "http" else request["Method"] for request in requests]
            for host, _name, requests, _check in windows_calls.calls
            if host == "win1"
        ]
        assert [one for one in sent if "POST" in one] == [["read", "POST"]]
        assert ["edit"] in sent

    def test_what_came_of_it(self, windows_calls):
        seen, begun, approved = windows_calls.results["win1"]["answers"]
        assert seen["answers"][0]["resource_name"] == "win1"
        assert seen["answers"][1]["events"][0]["resources"] == ["linux1", "win1"]
        assert begun["elsewhere"]["key"] == "service w" and begun["elsewhere"]["begun"] is True
        assert approved["answers"][0]["state"] == "prepared"
        assert approved["answers"][1]["approved"] == [ID]
        assert approved["mark"]["phase"] == "prepared" and approved["mark"]["number"] == 3
        assert approved["took"] >= approved["answers"][1]["look"]["began"] >= approved["answers"][1]["look"]["age"] >= 0
        assert len(windows_calls.posts) == 1

    def test_check_mode_changes_nothing(self, windows_calls):
        checked = windows_calls.results["win1"]["checked"]
        assert "check mode" in checked["answers"][0]["problem"]
        assert checked["answers"][1]["resource_name"] == "win1"
        assert checked["mark"]["phase"] == "prepared"
