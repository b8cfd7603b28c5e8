# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a whole run of role ``drain``: reports of its steps in, ``drain_result`` out. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from .report import Report


class Result(TypedDict):
    """``drain_result`` or ``drain_recover_result``."""

    ok: bool
    seconds: float
    steps: list[Report]
    failed_step: str
    message: str
    reverted: bool
    revert_errors: list[str]


def result_of_run(reports: Sequence[Report], reverts: Sequence[Report] | None, trouble: str, seconds: float) -> Result:
    """The result of a run.

    :arg reverts: the reports of undoing the steps; None when nothing was undone
    :arg trouble: why steps could not be run at all, whatever they are
    """
    failures = [report for report in reports if not report["ok"]]
    revert_errors = [report["message"] for report in reverts or [] if not report["ok"]]
    sentences = [trouble] if trouble else [report["message"] for report in failures]
    if revert_errors:
        sentences.append(f"Undoing it failed as well: {'. '.join(revert_errors)}")
    elif reverts is not None:
        sentences.append("What was done is undone")
    return {
        "ok": not trouble and not failures,
        "seconds": round(seconds, 1),
        "steps": list(reports),
        "failed_step": failures[0]["name"] if failures else "",
        "message": _joined(sentences),
        "reverted": reverts is not None and not revert_errors,
        "revert_errors": revert_errors,
    }


def result_of_check(reports: Sequence[Report], seconds: float) -> Result:
    """The result of check mode, where the reports say what would be done."""
    result = result_of_run(reports, None, "", seconds)
    result["message"] = "Check mode: nothing was run."
    return result


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(f"{sentence.rstrip('.')}." for sentence in sentences)
