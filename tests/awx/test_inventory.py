# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""inventory/azure_rm.yml, and the one of the guide, by the plugin azure.azcollection.azure_rm itself, over recorded machines.

What Azure answered is taken from the plugin's cache, so that nobody asks Azure and its SDK is not needed; filters, names, groups and variables
are the plugin's work. machines.json has the documented form of its host variables (EXAMPLES of the plugin at 3.12.0, and what its class
AzureHost puts together).
"""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest
from ansible.plugins.cache import CachePluginAdjudicator

from ansible_collections.cloudops.azure_maintenance.tests.awx.example import EXAMPLE, ansible
from ansible_collections.cloudops.azure_maintenance.tests.unit.test_docs import blocks, page

PLUGIN = "azure.azcollection.azure_rm"
SOURCE = EXAMPLE / "inventory" / "azure_rm.yml"
MACHINES = pathlib.Path(__file__).with_name("machines.json")


def cached(folder: pathlib.Path, source: pathlib.Path) -> dict[str, str]:
    """Has the plugin find the recorded machines; returns the environment in which it does."""
    pytest.importorskip("ansible_collections.azure.azcollection")
    cache = CachePluginAdjudicator("jsonfile", _uri=str(folder / "cache"), _timeout=3600, _prefix="ansible_inventory_")
    key = hashlib.sha256(f"{PLUGIN}{source}".encode()).hexdigest()[:6]  # Cacheable.get_cache_key
    cache[f"{PLUGIN}_k{key}"] = json.loads(MACHINES.read_text(encoding="utf-8"))
    cache.set_cache()
    return {
        "ANSIBLE_INVENTORY_CACHE": "1",
        "ANSIBLE_INVENTORY_CACHE_PLUGIN": "jsonfile",
        "ANSIBLE_INVENTORY_CACHE_CONNECTION": str(folder / "cache"),
        "ANSIBLE_INVENTORY_UNPARSED_FAILED": "1",
    }


def exported(folder: pathlib.Path, source: pathlib.Path = SOURCE) -> dict:
    """As AWX asks for it when it updates an inventory source, with group_vars among the groups."""
    environment = cached(folder, source)
    listed = ansible("ansible-inventory", "-i", str(source), "--list", "--export", folder=folder, **environment)
    assert listed.returncode == 0, listed.stderr
    return json.loads(listed.stdout)


def plain(value):
    """Without the mark that a text is no template, with which Ansible exports what came from outside."""
    return value["__ansible_unsafe"] if isinstance(value, dict) and set(value) == {"__ansible_unsafe"} else value


@pytest.fixture(scope="module")
def inventory(tmp_path_factory):
    return exported(tmp_path_factory.mktemp("inventory"))


@pytest.fixture(scope="module")
def hosts(inventory):
    return {
        host: {name: plain(value) for name, value in values.items()}
        for host, values in inventory["_meta"]["hostvars"].items()
    }


def test_who_takes_part(hosts):
    """Not who lacks the tag, or is deallocated; but who is just being moved, and is needed for recovery."""
    assert sorted(hosts) == ["api_1a2b3c4d", "db1", "db2", "iis1", "web_0", "web_1"]
    assert hosts["web_1"]["provisioning_state"] == "updating"


def test_scope_name_and_connection(hosts):
    asked = ("azure_maintenance_scope", "azure_maintenance_resource_name", "ansible_connection", "ansible_host")
    assert {host: tuple(values[name] for name in asked) for host, values in hosts.items()} == {
        "web_0": ("scope_rg_web_web", "web_0", "ssh", "10.0.0.4"),
        "web_1": ("scope_rg_web_web", "web_1", "ssh", "10.0.0.5"),
        "api_1a2b3c4d": ("scope_rg_api_api", "api_1a2b3c4d", "ssh", "10.0.3.4"),  # of a Flexible scale set
        "db1": ("scope_rg_db_db", "db1", "ssh", "10.0.1.4"),
        "db2": ("scope_rg_db_db", "db2", "ssh", "10.0.1.5"),
        "iis1": ("scope_rg_iis_iis1", "iis1", "psrp", "10.0.2.4"),
    }


def test_groups(inventory):
    groups = {name: sorted(group["hosts"]) for name, group in inventory.items() if group.get("hosts")}
    assert groups == {
        "linux": ["api_1a2b3c4d", "db1", "db2", "web_0", "web_1"],
        "windows": ["iis1"],
        "role_web": ["web_0", "web_1"],
        "role_worker": ["api_1a2b3c4d", "db1", "db2"],
        "role_iis": ["iis1"],
        "priority_regular": ["api_1a2b3c4d", "db1", "iis1", "web_0", "web_1"],
        "priority_spot": ["db2"],
        "scope_rg_web_web": ["web_0", "web_1"],
        "scope_rg_api_api": ["api_1a2b3c4d"],
        "scope_rg_db_db": ["db1", "db2"],
        "scope_rg_iis_iis1": ["iis1"],
        "zone_westeurope_1": ["db1", "web_0"],
        "zone_westeurope_2": ["web_1"],
        "zone_westeurope_3": ["api_1a2b3c4d"],
        "zone_westeurope_none": ["db2", "iis1"],
    }


def test_each_machine_has_the_id_that_it_has_in_azure(hosts):
    recorded = {one["hostvars"]["name"]: one["hostvars"]["vmid"] for one in json.loads(MACHINES.read_text("utf-8"))}
    assert {host: values["vmid"] for host, values in hosts.items()} == {host: recorded[host] for host in hosts}


def test_the_inventory_of_the_guide_gives_the_same(tmp_path, hosts):
    """But for who takes part, and for names that are not unique in a subscription: there a host is called by its own and a hash."""
    (text,) = [body for body in blocks(page("connections"), "yaml") if PLUGIN in body]
    source = tmp_path / "azure_rm.yml"
    source.write_text(text, encoding="utf-8")
    found = exported(tmp_path, source)
    names = ("azure_maintenance_scope", "azure_maintenance_resource_name", "ansible_connection", "ansible_host", "vmid")
    given = {
        plain(values["name"]): {name: plain(values[name]) for name in names}
        for values in found["_meta"]["hostvars"].values()
    }
    assert {host: given[host] for host in hosts} == {
        host: {name: hosts[host][name] for name in names} for host in hosts
    }
    assert set(given) - set(hosts) == {"others"}
    assert len(found["zone_westeurope_2"]["hosts"]) == len(found["windows"]["hosts"]) == 1


def test_group_vars_reach_awx_as_variables_of_groups(inventory):
    assert inventory["windows"]["vars"]["ansible_psrp_protocol"] == "https"
    assert inventory["windows"]["vars"]["ansible_password"] == "{{ windows_password }}"
    assert [step["type"] for step in inventory["role_web"]["vars"]["drain_steps"]] == ["http", "connections", "service"]
    assert inventory["all"]["vars"]["azure_maintenance_policy"][-1] == {
        "name": "Anything else",
        "do": "prepare_and_approve",
    }
