# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notifies the receivers of a run of what happens in it: the only place where a run has anything to do with notifications.

Private to this collection.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible import constants
from ansible.utils.display import Display

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import listed, one_line
from ...module_utils._watcher.reports.post_transport import Way, reach
from .._ansible import plain
from .._fleet.result import problems_of
from .._fleet.schema import Record
from .._machine.bundle import version
from .notification_queue import NotificationQueue, Notified
from .receivers import Receiver, receivers_of
from .reports import end_report, reports_of

ANSWER = 10.0
"""Seconds that a URL has for its answer."""
AT_THE_END = 30.0
"""Seconds that the end of a run waits for all that is not sent yet."""


_NEEDED = {"hook": os.R_OK | os.X_OK, "tasks": os.R_OK}


def refused_receivers(given: Any) -> list[str]:
    """Why a run with this maintain_notify must not begin, in sentences."""
    try:
        receivers = receivers_of(given)
    except ScheduledEventsError as error:
        return [error.message]
    lacking = [one for one in receivers if one.kind != "url" and not os.access(one.target, _NEEDED[one.kind])]
    return [
        f"maintain_notify: the controller has no {'executable file' if one.kind == 'hook' else 'file'} {one.target}."
        for one in lacking
    ]


def tell(before: Record, after: Record, given: Callable[[], Any]) -> None:
    """Have it sent what a tick has brought. Costs next to nothing where that is nothing; never fails, and waits for nobody.

    :arg given: returns what maintain_notify says; called only when there is something to send
    """
    if after["run"]["check"]:
        return
    try:
        reports = reports_of(before, after, version())
        if reports:
            _queue(after, receivers_of(plain(given()))).put(reports)
    except (OSError, ScheduledEventsError) as error:
        Display().warning(f"Notifications could not be sent: {one_line(error, 300)}. The run goes on.")


def end(record: Record, given: Any) -> tuple[list[str], list[Notified]]:
    """Tell of the problems with which a run ends, and wait for what is not sent yet, no longer than a receiver may take.

    :returns: notes for people, and what each receiver has got
    """
    receivers = receivers_of(given)
    if record["run"]["check"]:
        return [_check_words(receivers)] if receivers else [], []
    queue = _queue(record, receivers)
    problems = problems_of(record)
    try:
        queue.put([end_report(record, problems, version())] if problems else [])
    except OSError as error:
        return [f"Notifications could not be sent: {one_line(error, 300)}."], queue.close(AT_THE_END)
    notified = queue.close(AT_THE_END)
    return [_words(one) for one in notified if one["failed"] or one["problem"]], notified


def _queue(record: Record, receivers: list[Receiver]) -> NotificationQueue:
    # What the user's own tasks are run with is what this playbook was run with.
    surroundings = {"ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(constants.COLLECTIONS_PATHS)}
    if constants.CONFIG_FILE:
        surroundings["ANSIBLE_CONFIG"] = str(constants.CONFIG_FILE)
    folder = os.path.join(constants.DEFAULT_LOCAL_TMP, f"azure-maintenance-{record['run']['run']}")
    return NotificationQueue(folder, receivers, ANSWER, version(), surroundings)


def _words(one: Notified) -> str:
    all_of_them = one["sent"] + one["failed"]
    if not one["failed"]:
        return f"Notifications to {one['to']}: all {all_of_them} were sent; in between, {one['problem']}."
    return f"Notifications to {one['to']}: {one['failed']} of {all_of_them} were not sent: {one['problem']}."


def _check_words(receivers: list[Receiver]) -> str:
    """Nothing is sent in check mode, but whether anybody listens is of use in the morning."""
    with ThreadPoolExecutor(max(1, len(receivers))) as pool:
        states = list(pool.map(_state, receivers))
    return f"Check mode: no notification is sent. Receivers: {listed(states)}."


def _state(one: Receiver) -> str:
    if one.kind != "url":
        return one.words
    problem = reach(one.target, Way(one.proxy, one.ca_file), 5.0)
    return f"{one.words} ({problem or 'it can be reached'})"
