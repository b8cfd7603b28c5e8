# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action machine over real SSH: a network that is gone in the middle of a call, under a connection that stays open."""

import base64
import json

import pytest
from machines import cgroups, host, network

OURS = "sys.stdin.buffer.read"  # in the command line of every ssh that carries a call


def calls_under_way():
    return [words for words in map(host.process_words, cgroups.members("ctl")) if words and OURS in words[-1]]


@pytest.mark.parametrize("pipelining", [True, False], ids=["pipelining", "no pipelining"])
def test_a_network_that_is_gone_in_mid_call(ansible, azure, machines, tmp_path, pipelining):
    flag = tmp_path / "back"
    run = ansible.start("cases/calls.yml", flag=str(flag), ansible_ssh_pipelining=pipelining)
    azure.wait_until_waiting("web1", alive=run.check_alive)
    host.until("the call to be under way", calls_under_way)
    network.set_cable("web1", False)
    host.until("the playbook to go on", lambda: "Wait until the cable is back" in run.output())
    assert calls_under_way() == []
    network.set_cable("web1", True)
    host.until("web1 to be back", lambda: machines["web1"].answers(22))
    flag.touch()
    done = run.wait().check()

    words = [text.split()[:2] for text in done.output.split("ANSWERS ")[1:]]
    answers = {name: json.loads(base64.b64decode(text)) for name, text in words}
    web1, web2 = answers["web1"], answers["web2"]
    assert web1["first"]["lost"] == "" and web1["first"]["answers"][0]["resource_name"] == "prod_web_1"
    assert web1["cut"]["lost"].startswith("It gave no answer within 12 s"), web1["cut"]
    assert 12 <= web1["seconds"] < 20
    # by a connection of its own: over the dead one, sudo would have been waited for
    assert "port 22" in web1["meanwhile"]["lost"], web1["meanwhile"]
    assert web1["after"]["lost"] == "", web1["after"]
    assert [web2[name]["lost"] for name in ("first", "meanwhile", "after")] == ["", "", ""]
    assert done.recap("web1")["unreachable"] == done.recap("web1")["failed"] == 0
