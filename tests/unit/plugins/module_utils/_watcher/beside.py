# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A handling beside which another one, that reports nothing, is handed the same facts: it has to want the same."""

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.engine import Engine
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Go,
    Remember,
    Say,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.transitions import PREPARED


class Silent(Engine):
    def _news(self, here, found):
        return []


class Beside(Engine):
    """What is remembered holds what the silent one remembers, too."""

    def __init__(self, remembered=None):
        super().__init__(remembered)
        self._silent = Silent((remembered or {}).get("silent"))

    def tick(self, facts):
        before = repr((facts.mark, facts.posted, facts.answer))
        acts, silent = super().tick(facts), self._silent.tick(facts)
        assert before == repr((facts.mark, facts.posted, facts.answer)), "a tick has changed what it was given"
        assert list(_done(acts, facts)) == list(_done(silent, facts))
        return [self._with_silent(act, facts) if isinstance(act, Remember) else act for act in acts]

    def _with_silent(self, act, facts):
        return Remember(dict(act.what, silent=self._silent._known.packed(facts.moment, facts.now)))


def _done(acts, facts):
    """The acts, but for what is said, what is remembered, and a Go by which only what was said is written down."""
    for act in acts:
        if isinstance(act, Go) and not _only_writes_down(act, facts.mark):
            yield act._replace(note=_unsaid(act.note))
        elif not isinstance(act, (Go, Say, Remember)):
            yield act


def _only_writes_down(go, mark):
    return (
        mark is not None
        and (go.to, go.no_new_steps) == (PREPARED, True)
        and mark["phase"] != "preparing"
        and _unsaid(go.note) == _unsaid(mark["note"])
        and {event.upper() for event in go.events} <= {event.upper() for event in mark["events"]}
    )


def _unsaid(note):
    return {name: value for name, value in note.items() if name != "said"}
