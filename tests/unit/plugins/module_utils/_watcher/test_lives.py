# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a watcher makes of its machine's polls: tests/vectors/lives.json, which a run of that machine has to pass as well."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Approve, Go
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import Story
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


class Polled(Story):
    """A watcher whose world stays as it is until a poll says otherwise."""

    def __init__(self, settings):
        self.last, self.approved = [], set()
        Story.__init__(self, dict(settings, cooldown=0.0))

    def _acts(self, **given):
        self.last = Story._acts(self, **given)
        self.approved.update(event for act in self.last if isinstance(act, Approve) for event in act.events)
        return self.last

    def poll(self, given):
        """How things stand after a poll: of each event of the machine, what the machine is to become, what was approved so far."""
        self.tick(given)
        return {
            "state": {life.key: state(life) for life in self.handling._known.lives.values()},
            "goal": "".join(act.to for act in self.last if isinstance(act, Go) and not act.no_new_steps),
            "approved": sorted(self.approved),
        }


def state(life):
    """scheduled, started, or how it ended."""
    if life.tracked.gone is not None:
        return life.tracked.outcome
    return "started" if life.started else life.event.event_status.lower()


@pytest.mark.parametrize("case", cases("lives.json"))
def test_a_life(case):
    polled = Polled(case.get("settings", {}))
    last = [polled.poll(one) for one in case["polls"]][-1]
    assert last == case.get("expect", case.get("watcher"))
