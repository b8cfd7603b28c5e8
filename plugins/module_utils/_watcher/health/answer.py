# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether load balancers should send traffic to this machine. Pure.

Private to this collection.

The maintenance mark alone decides: it is written before the first step of a preparation and removed after the last one of a recovery, it
outlives the watcher and a reboot, and one that nobody can read is there all the same.
"""

from typing import NamedTuple


class MachineState(NamedTuple):
    """What is known of the machine."""

    is_marked: bool = False
    phase: str = ""  # what the watcher last published about the mark; "" when it has published nothing since the boot
    problem: str = ""  # why nobody can tell whether it is marked


class Answer(NamedTuple):
    """What a load balancer gets."""

    is_in_service: bool
    words: str  # one line, without any text of an event


def answer_of(state: MachineState, app_problem: str = "") -> Answer:
    """A machine of which nothing is known is in service: a watcher that fails must not take a fleet out of traffic.

    :arg app_problem: why the application counts as down, "" when it answers or was not asked
    """
    if state.is_marked:
        phase = state.phase or "marked, and the watcher has not reported since the boot"
        return Answer(False, f"out of service for maintenance: {phase}")
    if app_problem:
        return Answer(False, f"the application is down: {app_problem}")
    if state.problem:
        return Answer(True, f"in service, but its maintenance mark can't be checked: {state.problem}")
    return Answer(True, "in service")
