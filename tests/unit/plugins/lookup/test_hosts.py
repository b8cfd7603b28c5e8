# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pattern of hosts must match some: as a lookup, and in the playbooks."""

import pathlib

import pytest
import yaml
from ansible import context
from ansible.errors import AnsibleError
from ansible.module_utils.common.collections import ImmutableDict
from ansible.parsing.dataloader import DataLoader

from ansible_collections.cloudops.azure_maintenance.plugins.lookup.hosts import LookupModule
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

PLAYBOOKS = sorted((pathlib.Path(__file__).parents[4] / "playbooks").glob("*.yml"))
OF_THE_CONTROLLER = ("configure_controller",)  # these are for no machine, and for localhost alone
GROUPS = {"all": ["web1", "web2", "db1"], "ungrouped": [], "web": ["web1", "web2"], "database": ["db1"]}
GUARDED = "{{ lookup('cloudops.azure_maintenance.hosts', azure_maintenance_hosts | default('all')) }}"


def looked_up(pattern, limit=None):
    return LookupModule(loader=DataLoader()).run([pattern], {"groups": GROUPS, "ansible_limit": limit})


@pytest.mark.parametrize("pattern", ["all", "web", "web1,db1", "web:!web1", "~web.", "web[0]", ["web1", "database"]])
@pytest.mark.parametrize("limit", [None, "web2,web1,db1"])
def test_a_pattern_that_matches_comes_back(pattern, limit):
    assert looked_up(pattern, limit) == [pattern]


@pytest.mark.parametrize("pattern", ["wbe", "web:!web", ""])
def test_one_that_matches_nothing_fails_and_names_the_variable(pattern):
    with pytest.raises(AnsibleError, match=f"^azure_maintenance_hosts is {pattern!r}, and no host .* Nothing was done"):
        looked_up(pattern)


def test_the_likely_group_is_named():
    with pytest.raises(AnsibleError, match="did you mean 'database'"):
        looked_up("databse")


def test_one_of_which_the_limit_leaves_nothing_fails():
    with pytest.raises(AnsibleError, match="azure_maintenance_hosts is 'web' and --limit is 'db1', and no host"):
        looked_up("web", "db1")


def test_a_check_of_the_syntax_needs_no_inventory(monkeypatch):
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(syntax=True))
    assert looked_up("wbe") == ["wbe"]


@pytest.mark.parametrize(
    "path", [path for path in PLAYBOOKS if path.stem not in OF_THE_CONTROLLER], ids=lambda path: path.stem
)
def test_every_playbook_has_its_hosts_from_it(path):
    assert {play["hosts"] for play in yaml.safe_load(path.read_text(encoding="utf-8"))} == {GUARDED}


def test_a_playbook_without_hosts_fails(tmp_path):
    hosts = "[web]\nweb1 ansible_connection=local\n"
    variables = {"azure_maintenance_hosts": "wbe"}
    printed, status = playbook(tmp_path, "cloudops.azure_maintenance.maintain", hosts, variables)
    assert status != 0
    assert (
        "azure_maintenance_hosts is 'wbe', and no host of the inventory matches that (did you mean 'web'?)" in printed
    )
