# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules declare. What they do is tested in tests/unit/plugins/modules."""

import importlib

import pytest

yaml = pytest.importorskip("yaml")
pytest.importorskip("ansible")

from ansible_collections.cloudops.azure_maintenance.plugins.doc_fragments import attributes, imds  # noqa: E402
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils import _module  # noqa: E402
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import KINDS, ScheduledEventsError  # noqa: E402
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.endpoint import Found  # noqa: E402
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations import approve, info, options  # noqa: E402
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (  # noqa: E402
    ENDPOINT,
    ScriptedTransport,
    document,
    event,
    look,
    own_name,
)

MODULES = {
    "scheduled_events_info": (_module.INFO_ARGUMENTS, options.INFO_DEFAULTS, info.info),
    "scheduled_events_approve": (_module.APPROVE_ARGUMENTS, options.APPROVE_DEFAULTS, approve.approve),
}


def documentation(name, part="DOCUMENTATION"):
    module = importlib.import_module("ansible_collections.cloudops.azure_maintenance.plugins.modules." + name)
    return yaml.safe_load(getattr(module, part))


@pytest.mark.parametrize("name", MODULES)
def test_arguments_defaults_and_documentation_agree(name):
    arguments, defaults, _operation = MODULES[name]
    documented = dict(documentation(name)["options"], **yaml.safe_load(imds.ModuleDocFragment.DOCUMENTATION)["options"])
    assert set(arguments) == set(defaults) == set(documented)
    for option, argument in arguments.items():
        assert argument.get("default") == defaults[option] == documented[option].get("default")
        for key in ("type", "elements", "choices", "required"):
            assert argument.get(key) == documented[option].get(key), (option, key)


@pytest.mark.parametrize("name", MODULES)
def test_what_is_returned_is_documented(name):
    transport = ScriptedTransport(look(200, document(3, event(), {"EventId": "ID-2"})), own_name())
    result = MODULES[name][2](
        {"endpoint": ENDPOINT, "event_ids": ["ID-1"], "check_mode": True},
        transport,
        transport.clock,
        *((True,) if name == "scheduled_events_approve" else ()),
    )
    documented = documentation(name, "RETURN")
    # changed, diff and warnings are Ansible's own
    assert set(result) - {"changed", "diff", "warnings"} == set(documented) - {"failure"}
    assert set(result["events"][0]) == set(documented["events"].get("contains") or documented["events"]["sample"][0])
    if "unusable_events" in result:
        described = documented["unusable_events"]
        assert set(result["unusable_events"][0]) == set(described.get("contains") or described["sample"][0])


def test_transitions_are_documented():
    transport = ScriptedTransport(look(200, document(3)), own_name(), look(200, document(4, event())))
    result = info.info({"endpoint": ENDPOINT, "wait": True}, transport, transport.clock, lambda: Found((), ()))
    documented = documentation("scheduled_events_info", "RETURN")["transitions"]["contains"]
    assert set(result["transitions"][0]) == set(documented)


@pytest.mark.parametrize("name", MODULES)
def test_failures_are_documented(name):
    documented = documentation(name, "RETURN")["failure"]["contains"]
    assert set(documented) == set(ScheduledEventsError("x").failure())


def test_every_kind_of_failure_is_documented():
    text = str(documentation("scheduled_events_info", "RETURN")["failure"]["contains"]["kind"]["description"])
    assert [kind for kind in KINDS if f"V({kind})" not in text] == []


@pytest.mark.parametrize("name", MODULES)
def test_every_attribute_has_its_support(name):
    support = {}
    fragments = documentation(name)["extends_documentation_fragment"]
    for fragment in (each.split("attributes", 1)[1] for each in fragments if "attributes" in each):
        part = getattr(attributes.ModuleDocFragment, fragment.strip(".").upper() or "DOCUMENTATION")
        for attribute, members in yaml.safe_load(part)["attributes"].items():
            support.setdefault(attribute, {}).update(members)
    assert set(support) == {"action_group", "async", "check_mode", "diff_mode", "idempotent", "platform"}
    assert all(members.get("support") and members.get("description") for members in support.values())
