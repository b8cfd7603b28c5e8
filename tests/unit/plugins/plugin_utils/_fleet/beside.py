# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A record beside which another one is moved on by the same answers, with every report removed: it has to come to the same."""

from __future__ import annotations

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

TICKED, SENT = record.ticked, record.sent


def _nothing(*_args, **_more):
    return {}


def _changes():
    """Where each of them stands, as whatever it was imported."""
    room, them = record.__name__.rpartition(".")[0], set(map(id, REPORTS))
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith(f"{room}.")]
    return [(names, name, found) for names in modules for name, found in names.items() if id(found) in them]


def sent(record, hosts=None):
    """The calls of both, which are the same."""
    made = SENT(record, hosts)
    assert "silent" not in record or SENT(record["silent"], hosts) == made
    return made


def ticked(record, answers, at, wall=None):
    """The record after a tick; the silent one goes along in it."""
    silent = record.get("silent", record)
    given = {name: value for name, value in record.items() if name != "silent"}, answers
    before = repr(given) if record["ticks"] % 10 == 1 else ""  # it costs almost as much as a tick
    after = TICKED(*given, at, wall)
    assert not before or repr(given) == before, "a tick has changed what it was given"
    changes = _changes()
    for names, name, _found in changes:
        names[name] = _nothing
    try:
        silent = TICKED(silent, answers, at, wall)
    finally:
        for names, name, found in changes:
            names[name] = found
    assert _decided(after) == _decided(silent)
    after["silent"] = silent
    return after


def _decided(record):
    found = {name: value for name, value in record.items() if name not in KEPT}
    found["events"] = {
        key: dict(entry, waits="", approval=dict(entry["approval"], nobody=""))
        for key, entry in record["events"].items()
    }
    return found
