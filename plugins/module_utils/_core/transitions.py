# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine is to become: prepared for events, recovered, or left as it is. One answer for the run and the watcher. Pure.

Private to this collection.
"""

from typing import Callable, NamedTuple, Sequence, Tuple

from .mark_view import MarkView

PREPARED, RECOVERED = "prepared", "recovered"

PREPARE_AGAIN = 5.0
"""Seconds until a preparation that could not even begin is retried: there is a time by which it has to be done."""

RECOVER_AGAIN = 30.0
"""Seconds until a recovery that left something is retried, at first: each time it is twice as long."""

RECOVER_AGAIN_AT_MOST = 600.0


class Try(NamedTuple):
    """What did not come about.

    to: PREPARED or RECOVERED; "" where nothing failed
    at: when it failed last
    times: how often it did in a row
    """

    to: str = ""
    at: float = 0.0
    times: int = 0

    def again(self, to: str, at: float) -> "Try":
        """After one more that did not come about."""
        return Try(to, at, self.times + 1 if to == self.to else 1)

    def rests(self, to: str, now: float) -> bool:
        """Whether it is too early to retry that."""
        if self.to != to:
            return False
        longer = min(RECOVER_AGAIN * 2 ** min(self.times - 1, 10), RECOVER_AGAIN_AT_MOST)
        return now - self.at < (PREPARE_AGAIN if to == PREPARED else longer)


def taken_up(
    view: MarkView,
    wanted: Sequence[str],
    is_struck: bool,
    preempts: Callable[[str], bool],
    must: Callable[[str], bool],
    retry: bool = False,
) -> Tuple[str, ...]:
    """For which of the events that it should be prepared for a machine is prepared now, by how far its outage is.

    :arg view: of its own mark, or of one that is being taken over
    :arg wanted: keys of the events
    :arg is_struck: whether one of its events has started
    :arg preempts: whether an event may leave no time to wait for the end of a recovery
    :arg must: whether the time left to an event has come to where it has to be prepared for
    :arg retry: whether a preparation that has failed may be retried, as it was another process's
    """
    if view.is_failed:  # it is undone first: what shows meanwhile is another outage
        return tuple(key for key in wanted if retry and key in view.keys)
    if view.is_recovering:  # it ends first where there is time for that
        return tuple(key for key in wanted if preempts(key) or must(key))
    if is_struck and view.phase in ("preparing", "prepared"):  # nothing more is begun under it before it has to be
        return tuple(key for key in wanted if key in view.keys or must(key))
    return tuple(wanted)


def is_new_outage(view: MarkView) -> bool:
    """Whether what a machine is prepared for is another outage than that of its mark: what is being undone by that is stopped."""
    return view.is_recovering or view.is_partially_recovered
