# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``http`` of a Windows machine, or delegated to another one, by Ansible's modules.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....module_utils._steps.step_type import Step
from ..elsewhere import AtHand, has_ended
from .job import followed
from .way import Call, Order, Seen, Way, options, part_of, seconds_of

LATER = 5  # seconds: so long after its limit Ansible would end the request, which has given up before


def _look(hand: AtHand, job: Any, call: Call) -> Seen:
    step, part = hand["step"], part_of(hand)
    seen = followed(hand, job, call, _request(step, part, seconds_of(hand)))
    if hand["awaited"] or not part.get("until") or "went_wrong" in seen.result or not has_ended(seen.result):
        return seen
    return Seen(call(_question(step, part["until"])), ["until"], seen.job)


def _request(step: Step, part: Mapping[str, Any], seconds: int) -> Order:
    common = dict(_common(step), url=part["url"], method=part["method"], status_code=part["status"], timeout=seconds)
    if step["system"] != "windows":
        given = options(body=part.get("body"), body_format=part["body_format"], headers=part["headers"], **common)
        return Order("ansible.builtin.uri", given, seconds + LATER)
    # .NET takes the content type on its own, not among the headers
    types = [value for name, value in part["headers"].items() if name.lower() == "content-type"]
    headers = {name: value for name, value in part["headers"].items() if name.lower() != "content-type"}
    content_type = types[0] if types else None
    given = options(body=part.get("body"), headers=headers, content_type=content_type, **common)
    return Order("ansible.windows.win_uri", given, seconds + LATER)


def _question(step: Step, until: Mapping[str, Any]) -> Order:
    common = dict(_common(step), url=until["url"], method=until["method"], headers=until["headers"])
    given = options(timeout=until["request_timeout"], return_content=True, **common)
    if step["system"] != "windows":
        return Order("ansible.builtin.uri", given, failure_answers=True)
    return Order("ansible.windows.win_uri", dict(given, status_code=until["status"]), failure_answers=True)


def _common(step: Step) -> dict[str, Any]:
    return {
        "url_username": step.get("user"),
        "url_password": step.get("password"),
        "force_basic_auth": "user" in step,
        "validate_certs": step["validate_certs"],
        "use_proxy": step["use_proxy"],
        "follow_redirects": "none",
    }


WAY = Way(_look)
