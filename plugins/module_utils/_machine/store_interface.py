# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a store of a machine's mark offers, wherever it is: a folder of this machine, or one of a Windows machine.

Private to this collection.
"""

from typing import Any, ContextManager, Dict, Iterable, List, Optional

Mark = Dict[str, Any]
"""A mark as JSON; :mod:`.mark` says what is in it."""

HOOKS = "hooks"
"""The folder beside it of what hooks find, and leave for others."""


class MarkUnreadable(Exception):
    """There is a mark that can't be read, or one of a newer format: it counts as somebody's.

    :arg is_newer: whether it is of a newer format, and must not be touched at all
    """

    def __init__(self, message: str, is_newer: bool = False) -> None:
        super().__init__(message)
        self.is_newer = is_newer


class NotWritten(Exception):
    """The mark could not be written, or the folder not used; the message says why and what to do."""


class Busy(NotWritten):
    """Somebody else is just changing it; it can be tried again."""


class Fenced(Exception):
    """The mark is not, or not any more, that of this run and number: this call must not change anything."""


class TooLate(Fenced):
    """Nobody waits for this call any more: it must not begin anything."""


class Store:
    """One machine's mark and what is beside it.

    `replace`, `remove` and `held` compare first: the mark that is there must be of this run and bear this number, else
    they raise :class:`Fenced` and nothing is changed.
    """

    def alone(self) -> ContextManager[None]:
        """While in it, nobody else changes anything here; the others may be called from within."""
        raise NotImplementedError

    def read(self) -> Optional[Mark]:
        """The mark as JSON, its form checked; None when there is none.

        :raises MarkUnreadable: when there is one and nobody can tell whose
        """
        raise NotImplementedError

    def unwritable(self) -> str:
        """Why a mark could not be written, as far as can be seen; "" when nothing speaks against it, or nobody can tell."""
        return ""

    def create(self, mark: Mark) -> None:
        """The first mark.

        :raises Fenced: when there is one already
        :raises NotWritten: when it can't be written
        """
        raise NotImplementedError

    def replace(self, mark: Mark, run: str, number: int) -> None:
        """Put this mark in the place of the one of that run and number, as one change."""
        raise NotImplementedError

    def remove(self, run: str, number: int) -> None:
        """Remove the mark, what its jobs left, and a confirmation of its events."""
        raise NotImplementedError

    def take_off(self) -> None:
        """Remove the mark, whatever it is, and all that is beside it."""
        raise NotImplementedError

    def put_aside(self) -> str:
        """Move the mark, whatever it is, and all that is beside it out of the way; returns where it is. What was there goes."""
        raise NotImplementedError

    def held(self, run: str, number: int) -> ContextManager[None]:
        """While in it, nobody changes the mark, and it is of this run and number."""
        raise NotImplementedError

    def confirmed_events(self) -> List[str]:
        """The ids of the events that a person has confirmed here."""
        raise NotImplementedError

    def confirm_event(self, event: str, by: str, at: str) -> None:
        raise NotImplementedError

    def withdraw_confirmation(self, event: str) -> None:
        raise NotImplementedError

    def suppressed_events(self) -> List[str]:
        """The keys of the events despite which a person has recovered the machine."""
        raise NotImplementedError

    def suppress_events(self, events: Iterable[str], wall: float) -> None:
        """Add these; an earlier confirmation of them no longer counts."""
        raise NotImplementedError
