# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A record beside which another one is moved on by the same answers, with every report removed: it has to come to the same."""

from __future__ import annotations

import copy
import sys

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import (
    approving,
    coverage,
    outages,
    problems,
    reached,
    record,
    reports,
    scopes,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.plain import from_plain, to_plain
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.state import Record

REPORTS = (
    reports.happened,
    reports.report,
    reports.note,
    approving.note_readiness,
    outages._note_staying_out,
    problems.note_capacity,
    reached.note_reached,
    problems.of_record,
    scopes.note_splits,
    coverage.note_gaps,
    coverage.note_incarnation,
    coverage.note_unreadable,
)
KEPT = ("happenings", "lasting", "problems", "since", "notes", "gaps")
"""What reports keep in the record, beside what an event's approval waits for and why nobody can send it."""

MOVE_ON, SENT = record.move_on, record.sent
SILENT = {}
"""The record that goes along with each, by the other's identity."""


def _nothing(*_args, **_more):
    return {}


def _changes():
    """Where each of them stands, as whatever it was imported."""
    room, them = record.__name__.rpartition(".")[0], set(map(id, REPORTS))
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith(f"{room}.")]
    return [(names, name, found) for names in modules for name, found in names.items() if id(found) in them]


def _silent_of(record):
    """The one beside it: as long as nobody has asked, they are the same."""
    known, silent = SILENT.get(id(record), (None, None))
    if known is not record:
        silent = from_plain(Record, to_plain(record))
        SILENT[id(record)] = record, silent
    return silent


def sent(record, hosts=None):
    """The calls of both, which are the same."""
    silent = _silent_of(record)
    made = SENT(record, hosts)
    assert SENT(silent, hosts) == made
    return made


def move_on(record, answers, at, wall=None):
    """The record moves on, and the silent one goes along with it."""
    silent = _silent_of(record)
    MOVE_ON(record, copy.deepcopy(answers), at, wall)
    changes = _changes()
    for names, name, _found in changes:
        names[name] = _nothing
    try:
        MOVE_ON(silent, answers, at, wall)
    finally:
        for names, name, found in changes:
            names[name] = found
    assert _decided(record) == _decided(silent)


def _decided(record):
    found = {name: value for name, value in to_plain(record).items() if name not in KEPT}
    for entry in found["events"].values():
        entry["against"]["waits"] = entry["approval"]["nobody"] = ""
    return found
