# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbooks of a person ask for, as templates hand it over.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import did_you_mean, listed
from .approval_stages import is_heard
from .inspection import Asked
from .recover_plan import Overrides, verdicts
from .rehearsal import left_behind, rehearsal
from .status import status_lines, unknown

_PARTS = ("status", "unknown", "heard", "recover", "rehearse", "rehearsed")


def by_hand(
    answers: Mapping[str, Mapping[str, Any]],
    part: str,
    before: Any,
    given: Mapping[str, Any],
    wall: float,
) -> Any:
    """One of these parts, by its name.

    :arg answers: by host: ``is_linux``, ``resource_name`` and ``answer``; empty for one that was not called
    :arg given: for "recover" what is wanted against its own judgement; for the two of a rehearsal what was asked for
    """
    if part == "heard":
        return all(is_heard(before, host, said.get("answer") or {}) for host, said in answers.items())
    machines = machines_of(answers)
    if part == "status":
        return status_lines(machines, float(wall))
    if part == "unknown":
        return unknown(machines)
    if part == "recover":
        # On a command line all of it is text.
        overrides = Overrides(boolean(given["force"]), str(given["take"]), boolean(given["unmarked"]))
        return {host: verdict._asdict() for host, verdict in verdicts(machines, overrides).items()}
    if part == "rehearse":
        return rehearsal(machines, given)._asdict()
    if part == "rehearsed":
        return {host: left._asdict() for host, left in left_behind(machines, given).items()}
    raise ScheduledEventsError(
        f"maintenance_by_hand knows no part {part!r}{did_you_mean(part, _PARTS)}; it knows {listed(_PARTS)}."
    )


def machines_of(answers: Mapping[str, Mapping[str, Any]]) -> list[Asked]:
    """The machines, by what each answered."""
    return [_machine(host, said) for host, said in answers.items()]


def _machine(host: str, said: Mapping[str, Any]) -> Asked:
    name, endpoint = str(said.get("resource_name") or ""), str(said.get("endpoint") or "")
    return Asked(host, bool(said.get("is_linux")), name, said.get("answer") or {}, endpoint)
