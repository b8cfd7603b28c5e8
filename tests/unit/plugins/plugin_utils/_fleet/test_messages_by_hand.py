# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sentence of the playbooks approve, recover, rehearse and status, with extreme values (as in test_messages)."""

from __future__ import annotations

import itertools

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import (
    confirmation,
    recover_plan,
    rehearsal,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.status import status_lines, unknown
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import (
    SECONDS,
    WORDS,
    assert_well_said,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    answer,
    event,
    machine,
    mark,
    step,
)

ENDPOINT = "http://10.0.0.4:8780/vm/web1"
NAMES = ["", "two\nlines", "n" * 50]


def marks(words, name):
    """Marks of all kinds, with somebody's words, and names, wherever a mark has such."""
    yield None
    yield {"unreadable": words or "it is no JSON"}
    steps = [[], [step(words or "a", "failed", words, unwords=words), step("b", "not_taken_back", words), step("c")]]
    kinds = (("run", "prepared"), ("run", "half"), ("drain", "prepared"), ("drain", "half"), ("watcher", "preparing"))
    for (kind, phase), (run, own) in itertools.product(kinds, zip(("r7", name), steps, strict=True)):
        yield dict(mark("A-1", phase=phase, kind=kind, run=run, steps=own), since=name, renewed=name)
    yield mark()
    yield dict(mark("A-1"), endpoint=ENDPOINT)
    yield dict(mark("A-1"), endpoint=name, holder={"kind": "run", "run": "", "job": name, "controller": name})


def documents(words, name, seconds):
    yield [{"lost": words or None}]
    yield [{"look": {"events": [], "incarnation": None, "msg": words}}]
    yield [{"unusable": [{"id": "", "position": 1, "reason": words or "it is no object"}]}]
    for status, kind in (("Scheduled", "Reboot"), ("Scheduled", ""), ("Started", "Terminate"), ("", "Freeze")):
        yield [{"events": [event("A-1", type=kind, status=status, notice=seconds)]}]


def fleets(words, seconds=300.0):
    """web1 with each mark and document, beside web2, which is in service."""
    name = NAMES[WORDS.index(words) % len(NAMES)]
    for borne, (seen,), uptime in itertools.product(marks(words, name), documents(words, name, seconds), (140.0, 1e12)):
        said = {"lost": seen["lost"]} if seen.get("lost") else None
        if said is None:
            said = answer(
                *seen.get("events", ()),
                mark=borne,
                uptime=uptime,
                unusable=seen.get("unusable", ()),
                **seen.get("look", {}),
            )
        yield [machine("web1", said), machine("web2", answer(*seen.get("events", ()), name="vm2"))]


def assert_line_well_said(line):
    """A line of a table: its columns are apart."""
    assert_well_said(" ".join(line.split()))


@pytest.mark.parametrize("words", WORDS)
def test_what_playbook_approve_says(words):
    lost = {"lost": words}
    refused = {"lost": "", "answers": [{"not_approved": [{"message": words}]}]}
    failed = {"lost": "", "answers": [{"problem": words}]}
    for machines in fleets(words):
        for at in (None, 1e12):
            found = confirmation.confirmation_of("A-1", machines, at=at)
            said = [*found.sentences, *confirmation.confirmation_of("B-2\n", machines, at=at).sentences]
            if found.verdict == "run":
                said += confirmation.after_waiting(found, found).sentences
            if found.verdict == "approve":
                said += [confirmation.approved(found, given)[1] for given in (lost, refused, failed, {})]
            said += [
                confirmation.recorded(found, {"web1": given, "web2": lost})[1] for given in (lost, refused, failed, {})
            ]
            for sentence in said:
                assert_well_said(sentence)


@pytest.mark.parametrize("seconds", SECONDS)
def test_what_playbook_approve_says_of_when(seconds):
    for machines in fleets("It broke.", seconds):
        for sentence in confirmation.confirmation_of("B-2", machines).sentences:
            assert_well_said(sentence)


@pytest.mark.parametrize("words", WORDS)
def test_what_playbook_recover_says(words):
    overrides = [
        recover_plan.Overrides(*given) for given in itertools.product((False, True), ("", "r7"), (False, True))
    ]
    for machines, asked in itertools.product(fleets(words), overrides):
        for host, verdict in recover_plan.verdicts(machines, asked).items():
            assert_well_said(f"{host} {verdict.words}")


@pytest.mark.parametrize("seconds", SECONDS)
def test_what_playbook_recover_says_of_when(seconds):
    for machines in fleets("It broke.", seconds):
        for host, verdict in recover_plan.verdicts(machines, recover_plan.Overrides()).items():
            assert_well_said(f"{host} {verdict.words}")


@pytest.mark.parametrize("words", WORDS)
def test_what_playbook_status_says(words):
    for machines, wall in itertools.product(fleets(words), (0.0, 1e12)):
        for line in [*status_lines(machines, wall), *unknown(machines)]:
            assert_line_well_said(line)


def asked_for(**changes):
    asked = {"affects": "all", "speed": "10", "port": "8780", "scenario": "reboot", "emulator_host": "web1"}
    scenario = {"description": "A reboot.", "events": [{"name": "E", "notice": 900.0, "resources": [0]}]}
    own = {"name": "vm1", "endpoint": ENDPOINT, "margin": 60.0, "needs": 95.0, "steps": 1, "require_steps": True}
    asked.update(scenarios={"reboot": scenario}, hosts={"web1": own, "web2": own})
    return {**asked, **changes}


@pytest.mark.parametrize("words", WORDS)
def test_what_playbook_rehearse_says(words):
    two = [machine("web1"), machine("web2")]
    for name in ("affects", "speed", "port", "scenario", "emulator_host"):
        for value in (words, -1, 1e300, [], [words]):
            said = rehearsal.rehearsal(two, asked_for(**{name: value}))
            for sentence in (*said.problems, *said.words):
                assert_well_said(sentence)
    for machines in fleets(words):
        said = rehearsal.rehearsal(machines, asked_for())
        left = rehearsal.left_behind(machines, {"web1": ENDPOINT, "web2": ENDPOINT})
        for sentence in (*said.problems, *(f"{host} {one.words}" for host, one in left.items())):
            assert_well_said(sentence)
