# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``http`` on this machine.

Private to this collection.
"""

import json
from typing import Any, Dict, Mapping

from ..._clock import Clock, Deadline
from ..._steps.http import TYPE
from ..._steps.outcome import kept_back
from ..._steps.step_type import Step, Verdict
from ..hand import FAILED, Piece
from ..job_hand import LAST_WORDS, JobHand, answer, answer_to, watched
from ..keeper import Work


class HttpHand(JobHand):
    """Sends a request, and another one to take it back; waits until the application says that it is done."""

    beyond = LAST_WORDS

    def work(self, piece: Piece) -> Work:
        return lambda: _run(piece)


def _run(piece: Piece) -> Dict[str, Any]:
    step, part = piece.step, piece.step[piece.direction]
    deadline = Deadline(Clock(), piece.limit)
    sent = _asked(step, part, piece.limit)
    if sent["status"] not in part["status"]:
        if step["no_log"]:
            return answer(FAILED, kept_back(f" with {sent['status']}"))
        return answer(FAILED, f"Status code was {sent['status']} and not {part['status']}: {sent['msg']}")
    until = part.get("until")
    if not until:
        return answer_to(Verdict(True))

    def look(left: float) -> Verdict:
        seen = _asked(step, until, min(until["request_timeout"], max(left, LAST_WORDS)))
        return TYPE.judges["until"](step, piece.direction, seen)

    return answer_to(watched(until["interval"], deadline.remaining(), look), secret=step["no_log"])


def _asked(step: Step, part: Mapping[str, Any], seconds: float) -> Dict[str, Any]:
    # Here and not at the top: only the process of the job needs it.
    from .http_transport import Wire, ask

    wire = Wire(step.get("user"), step.get("password"), step["validate_certs"], step["use_proxy"])
    return ask(wire, part["method"], part["url"], part["headers"], _body(part), seconds)


def _body(part: Mapping[str, Any]) -> Any:
    if "body" not in part:
        return None
    body = part["body"]
    text = json.dumps(body) if part["body_format"] == "json" and not isinstance(body, str) else str(body)
    return text.encode("utf-8")
