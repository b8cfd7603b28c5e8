# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback no_ticks leaves out nothing but tasks that went well: line by line against Ansible's own output.

A role of the name maintain, whose tasks are therefore left out, goes through one kind of trouble after the other.
"""

from __future__ import annotations

import pathlib
import re
import sys

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

CALLBACK = pathlib.Path(__file__).parents[4] / "plugins" / "callback" / "no_ticks.py"
NAME = "cloudops.azure_maintenance"
HOSTS = "".join(
    f"{host} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for host in ("web1", "web2")
) + ("away ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1\n")

ACTION = """
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display


class ActionModule(ActionBase):
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        found = dict(super().run(tmp, task_vars), changed=False)
        given = dict(self._task.args)
        if "warns" in given:
            Display().warning(given["warns"])
        if "deprecates" in given:
            Display().deprecated(given["deprecates"], version="99.0.0", collection_name="cloudops.azure_maintenance")
        if "raises" in given:
            raise RuntimeError(given["raises"])
        return dict(found, **(given.get("returns") or {}))
"""
LOOKUP = """
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        Display().warning("a lookup warns")
        return ["x"]
"""


def trouble(**given):
    return {f"{NAME}.trouble": given}


def deprecation(words):
    return [{"msg": words, "version": "99.0.0", "collection_name": NAME}]


TROUBLE = {
    "a warning": trouble(returns={"warnings": ["one"]}),
    "a warning of what changed": trouble(returns={"warnings": ["of a change"], "changed": True}),
    "two warnings": trouble(returns={"warnings": ["first", "second"]}),
    "the same warning again": trouble(returns={"warnings": ["one"]}),
    "a deprecation": trouble(returns={"deprecations": deprecation("old")}),
    "a warning said at once": trouble(warns="at once"),
    "a deprecation said at once": trouble(deprecates="old at once"),
    "a warning of what was skipped": trouble(returns={"skipped": True, "warnings": ["skipped"]}),
    "a warning of each of several": trouble(returns={"warnings": ["about {{ item }}"]}) | {"loop": ["a", "b"]},
    "a deprecation of one of several": trouble(returns={"deprecations": deprecation("item {{ item }}")})
    | {"loop": ["a"]},
    "a warning of one of several that was skipped": trouble(
        returns={"skipped": True, "warnings": ["left out {{ item }}"]}
    )
    | {"loop": ["a", "b"]},
    "a warning of a lookup": {
        "ansible.builtin.set_fact": {"found": "{{ lookup('cloudops.azure_maintenance.warns') }}"}
    },
    "a warning beside what a task is there to show": trouble(
        returns={"warnings": ["beside"], "msg": ["to be shown"], "_ansible_verbose_always": True}
    ),
    "a failure that is ignored": trouble(returns={"failed": True, "msg": "it failed"}) | {"ignore_errors": True},
    "a failure with a warning": trouble(returns={"failed": True, "msg": "it failed", "warnings": ["before it failed"]})
    | {"ignore_errors": True},
    "a failure of one host": trouble(returns={"failed": "{{ inventory_hostname == 'web2' }}", "msg": "only here"})
    | {"ignore_errors": True},
    "a failure of one of several": trouble(returns={"failed": "{{ item == 'b' }}", "msg": "item {{ item }}"})
    | {"loop": ["a", "b"], "ignore_errors": True},
    "a failure that is none of the task's": trouble(returns={"msg": "judged"})
    | {"failed_when": True, "ignore_errors": True},
    "a failure that nobody may see": trouble(returns={"failed": True, "msg": "secret"})
    | {"no_log": True, "ignore_errors": True},
    "tries in vain": trouble(returns={"msg": "not yet"})
    | {"until": False, "retries": 1, "delay": 0, "ignore_errors": True},
    "a variable that is not there": trouble(returns={"msg": "{{ nowhere }}"}) | {"ignore_errors": True},
    "a condition that can't be told": trouble(returns={}) | {"when": "1 / 0 > 1", "ignore_errors": True},
    "a crash": trouble(raises="it crashed") | {"ignore_errors": True},
    "a host that is not there": {
        "ansible.builtin.command": "true",
        "delegate_to": "away",
        "vars": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
        "ignore_unreachable": True,
    },
    "a failure that is rescued": {
        "block": [dict(trouble(returns={"failed": True, "msg": "rescued"}), name="Fail")],
        "rescue": [dict(trouble(returns={"warnings": ["in a rescue"]}), name="Rescue")],
    },
    "a file that is not there": {
        "block": [{"ansible.builtin.include_tasks": "nowhere.yml", "name": "Include"}],
        "rescue": [dict(trouble(returns={}), name="Go on")],
    },
    "a handler that is not there": trouble(returns={"changed": True}) | {"notify": "Nobody"},
}
OF_SKIPPED = ("[WARNING]: skipped", "[WARNING]: left out b")  # of which Ansible says nothing before ansible-core 2.19
BANNER = re.compile(r"(TASK|RUNNING HANDLER) \[.*\] \*+$")
WENT_WELL = re.compile(r"(ok|changed|skipping): \[\w+\]( => \(item=\w+\) ?)?$|included: |FAILED - RETRYING: |$")
SHOWN = re.compile(r'(ok: \[\w+\] => \{$|    "changed": false,?$|    "msg": \[$|        "to be shown"$|    \]$|\}$)')


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    root = tmp_path_factory.mktemp("collections")
    folder = root / "ansible_collections" / "cloudops" / "azure_maintenance"
    files = {
        "galaxy.yml": "namespace: cloudops\nname: azure_maintenance\nversion: 0.0.1\n",
        "plugins/callback/no_ticks.py": CALLBACK.read_text(encoding="utf-8"),
        "plugins/action/trouble.py": ACTION,
        "plugins/modules/trouble.py": "",
        "plugins/lookup/warns.py": LOOKUP,
        "roles/maintain/tasks/main.yml": yaml.safe_dump(
            [dict(task, name=f"In {name}") for name, task in TROUBLE.items()], sort_keys=False
        ),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return root


def printed(folder, collection, callback):
    play = [{"name": "Trouble", "hosts": "web1,web2", "gather_facts": False, "roles": [f"{NAME}.maintain"]}]
    (folder / "play.yml").write_text(yaml.safe_dump(play))
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": str(collection),
        "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false",
        "ANSIBLE_ERROR_ON_MISSING_HANDLER": "false",
        "ANSIBLE_DEPRECATION_WARNINGS": "true",
        "ANSIBLE_FORKS": "1",  # the hosts come in order
        "COLUMNS": "100000",
        "PYTHONPATH": "",
    }
    text, status = playbook(folder, folder / "play.yml", HOSTS, {}, ANSIBLE_STDOUT_CALLBACK=callback, **settings)
    return text.splitlines(), status


@pytest.fixture(scope="module")
def both(tmp_path_factory, collection):
    plain = printed(tmp_path_factory.mktemp("plain"), collection, "default")
    short = printed(tmp_path_factory.mktemp("short"), collection, f"{NAME}.no_ticks")
    assert plain[1] == short[1]
    return plain[0], short[0]


def of_the_run(lines):
    return [re.sub(r"/\S+/pytest-\S+?/(plain|short)\d+", "", line) for line in lines]


def test_there_are_twenty_kinds_of_trouble_and_all_of_them_were_gone_through(both):
    assert len(TROUBLE) >= 20
    assert [name for name in TROUBLE if f"In {name}]" not in "\n".join(both[0]) and "block" not in TROUBLE[name]] == []


def test_what_is_left_out_went_well(both):
    plain, short = map(of_the_run, both)
    left_out, rest = [], list(short)
    for line in plain:
        if rest and line == rest[0]:
            rest.pop(0)
        elif line == '        "to be shown"' and rest and rest[0] == "to be shown":
            rest.pop(0)  # without the frame that Ansible gives it
        else:
            left_out.append(line)
    assert rest == []
    assert [one for one in left_out if not (BANNER.match(one) or WENT_WELL.match(one) or SHOWN.match(one))] == []


@pytest.mark.parametrize("said", [
    "[WARNING]: one", "[WARNING]: of a change", "[WARNING]: first", "[WARNING]: second", "old", "[WARNING]: at once", "old at once",
    "[WARNING]: skipped", "[WARNING]: about a", "[WARNING]: about b", "item a", "[WARNING]: left out b", "[WARNING]: a lookup warns",
    "[WARNING]: beside", "it failed", "[WARNING]: before it failed", "only here", "item b", "judged", "UNREACHABLE!", "it crashed",
    "[WARNING]: in a rescue", "nowhere.yml",
])  # fmt: skip
def test_it_is_printed_as_often_as_ansible_does(both, said):
    counts = [sum(said in line for line in lines) for lines in both]
    assert counts[0] == counts[1]
    assert counts[0] >= 1 or said in OF_SKIPPED


def test_what_went_well_is_left_out(both):
    assert not [line for line in both[1] if line.startswith(("ok: ", "changed: ", "skipping: ", "included: "))]
