# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two rulebooks say the same but for what they start, and name what there is. What they do is tested by lane eda."""

from __future__ import annotations

import copy
import json
import pathlib
import re

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import KINDS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import refused_name

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULEBOOKS = ROOT / "extensions" / "eda" / "rulebooks"
PATHS = sorted(RULEBOOKS.glob("maintain_on_report*.yml"))
AZURE = ("maintain_on_azure_event", "maintain_on_azure_event_controller")
DEFAULTS = yaml.safe_load((ROOT / "roles" / "maintain" / "defaults" / "main.yml").read_text(encoding="utf-8"))


def ruleset(name):
    (found,) = yaml.safe_load((RULEBOOKS / f"{name}.yml").read_text(encoding="utf-8"))
    return found


def test_the_twins_differ_in_what_they_start_alone():
    twins = [copy.deepcopy(ruleset(name)) for name in ("maintain_on_report", "maintain_on_report_controller")]
    started = []
    for found in twins:
        actions = [rule["action"] for rule in found["rules"]]
        started.append([next(iter(action)) for action in actions])
        for action in actions[:2]:
            (how,) = action.values()
            limit = how["job_args"]["limit"] if "job_args" in how else how["extra_vars"]["azure_maintenance_hosts"]
            extra = (how.get("job_args") or how)["extra_vars"]
            handed = {name: value for name, value in extra.items() if name != "azure_maintenance_hosts"}
            action.clear()
            action.update(lock=how["lock"], limit=limit, handed=handed)
    assert twins[0] == twins[1]
    assert [found[:2] for found in started] == [["run_playbook"] * 2, ["run_job_template"] * 2]
    assert {action for found in started for action in found[2:]} == {"debug"}


def test_the_twins_of_azures_events_differ_in_what_they_start_alone():
    playbook, template = (ruleset(name) for name in AZURE)
    first, second = playbook["rules"][0].pop("action"), template["rules"][0].pop("action")
    assert playbook == template
    (play,), (launch,) = first.values(), second.values()
    assert (play["name"], play["lock"]) == ("cloudops.azure_maintenance.maintain", launch["lock"])
    assert play["extra_vars"] == launch["job_args"]["extra_vars"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_a_rulebook_names_is_there(path):
    text = path.read_text(encoding="utf-8")
    happened = set(re.findall(r'"(\w+)"', "".join(re.findall(r"happened in \[(.*?)\]", text))))
    assert happened and happened <= set(KINDS)
    assert set(re.findall(r"^ +(maintain_\w+):", text, re.M)) <= set(DEFAULTS)
    assert set(re.findall(r"name: cloudops\.azure_maintenance\.(\w+)", text)) <= {"maintain"}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_runs_go_side_by_side_under_a_lock_for_the_same_machines(path):
    found = ruleset(path.stem)
    assert found["execution_strategy"] == "parallel"
    for rule in found["rules"][:2]:
        (action,) = rule["action"].values()
        label = re.search(r"{{ event\.payload\.labels\.\w+ }}", action["lock"]).group()
        limit = action["job_args"]["limit"] if "job_args" in action else action["extra_vars"]["azure_maintenance_hosts"]
        assert label in limit
        assert rule["throttle"]["once_within"] == "30 seconds"
        assert rule["throttle"]["group_by_attributes"][:2] == ["event.payload.event.id", "event.payload.happened"]


WHOLE = {
    "at": "(?s)^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z(?!.)",
    "": "(?s)^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}(?!.)",
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_no_text_of_a_report_is_used_that_was_not_compared_as_a_whole(path):
    for rule in ruleset(path.stem)["rules"]:
        used = set(re.findall(r"{{ (event.*?) }}", json.dumps(rule["action"])))
        used |= set(rule.get("throttle", {}).get("group_by_attributes", ()))
        for text in used - {"event.payload.happened", "event.meta.received_at[:19]"}:  # ansible-rulebook's own
            pattern = WHOLE.get(text.rpartition(".")[2], WHOLE[""])
            needed = f'and {text} is select(">", "") and {text} is match("{pattern}", ignorecase=false)'
            assert needed in rule["condition"], (rule["name"], text)
        assert "|" not in json.dumps(rule["action"].get("debug", {})), "no default that nobody has compared"


@pytest.mark.parametrize(
    "name",
    ["web", "_", "7", "web-1.a_b", "w" * 200, "w" * 201, "", "-web", ".web", "web\n", "web 1", "w\u00e9b", "{{ 1 }}"],
)
def test_a_name_is_for_the_rulebooks_what_it_is_for_the_watcher_and_its_role(name):
    """Else a watcher would send labels that are refused, or a rulebook take what no watcher sends."""
    assert bool(re.match(WHOLE[""], name)) == (refused_name(name) == "")
