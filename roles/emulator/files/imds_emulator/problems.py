# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user of the emulator can get wrong."""


class Problem(Exception):
    """The root: one sentence for a person."""


class InvalidInput(Problem):
    """A value that can't be used; the text begins with the place, as in `events[1].type: ...`."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)


class NotThere(Problem):
    """An event, a VM, a fault or a scenario of that name doesn't exist."""


class WrongMoment(Problem):
    """The event can't make that move from where it is."""
