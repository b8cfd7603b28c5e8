# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays by ansible-playbook: a Linux machine that asks for itself, and a stand-in for a Windows one."""

import json

import pytest
from ansible.release import __version__

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import (
    MAINTAIN,
    MIXED,
    OPTION_245,
    PLAYS,
    MixedMaintain,
    MixedPlay,
    Played,
)

HOSTS = (
    "[windows]\nwin1 ansible_host=win1\nmute ansible_host=mute\nlost ansible_host=lost\n"
    "[windows:vars]\nansible_connection=standin\n"
)


def play(folder, name, variables):
    log = folder / "calls"
    played = Played(
        folder,
        name,
        HOSTS,
        variables,
        ANSIBLE_CONNECTION_PLUGINS=str(PLAYS),
        STANDIN_LOG=str(log),
        STANDIN_OPTIONS=OPTION_245,
    )
    played.calls = [json.loads(line) for line in log.read_text().splitlines()]
    return played


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return play(tmp_path_factory.mktemp("play"), MIXED, {})


@pytest.fixture(scope="module")
def maintained(tmp_path_factory):
    return play(tmp_path_factory.mktemp("maintain"), "cloudops.azure_maintenance.maintain", MAINTAIN)


class TestMixedPlay(MixedPlay):
    def test_every_call_to_the_windows_machine(self, played):
        sent = []
        for host, name, arguments, check_mode in played.calls:
            if host != "win1":
                continue
            if name == "ansible.windows.win_reg_stat":
                sent.append(f"registry {arguments.get('name', 'interfaces')}")
                continue
            arguments = arguments["parameters"]
            sent.append(
                f"{'check ' if check_mode else ''}{'wait' if 'LimitMs' in arguments else arguments['Method'].lower()} "
                f"{arguments['Url'].split('?')[0].rpartition('/')[2]}{'' if '/vm/win1/' in arguments['Url'] else ' elsewhere'}"
            )
        look = ["get scheduledevents", "get name"]
        # how often the document changes in between depends on the emulator's clock; everything else does not
        assert 2 <= sent.count("wait scheduledevents") <= 5
        assert [call for call in sent if call != "wait scheduledevents"] == (
            look
            + ["check " + call for call in look]
            + look
            + look
            + ["post scheduledevents"]
            + look * 3
            + ["get scheduledevents elsewhere", "registry interfaces", "registry DhcpInterfaceOptions"]
        )


@pytest.mark.skipif(not __version__.startswith("2.21"), reason="a minute long: on one core only")
class TestMixedMaintain(MixedMaintain):
    pass


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    return play(tmp_path_factory.mktemp("refused"), PLAYS / "refused.yml", {})


def test_a_machine_that_says_nothing(refused):
    assert refused.results["mute"]["failure"]["kind"] == "invalid"
    assert refused.results["mute"]["msg"].startswith("mute: ansible.windows.win_powershell did not do its work")


def test_a_machine_that_is_lost_is_unreachable(refused):
    assert refused.status == 4
    assert "lost" not in refused.results
    assert "UNREACHABLE! => " in refused.printed and "the machine is gone" in refused.printed
