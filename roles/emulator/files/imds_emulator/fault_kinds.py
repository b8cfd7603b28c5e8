# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to break an answer, and what the client sees then."""

from typing import Any, Callable, Dict, NamedTuple

from .answers import JSON, Answer, Delivery, error, throttled
from .fields import REQUIRED, Fields


class Kind(NamedTuple):
    """A way to break an answer."""

    executes: bool  # is the request carried out before the answer breaks?
    read: Callable[[Fields], Dict[str, Any]]  # its own keys
    answer: Callable[[Answer, Dict[str, Any]], Answer]
    by_service: bool = False  # the service itself answers so: its rate limit comes first


PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>\n"
)


def _no_keys(fields: Fields) -> Dict[str, Any]:
    return {}


def _status_keys(fields: Fields) -> Dict[str, Any]:
    return {"status": fields.whole("status", REQUIRED, 200, 599), "retry_after": fields.whole("retry_after", None)}


def _status(answer: Answer, options: Dict[str, Any]) -> Answer:
    status = options["status"]
    after = options["retry_after"]
    headers = (("Retry-After", str(after)),) if after is not None else ()
    if status == 429:
        return throttled(headers)
    return error(status, f"{status} by a fault of the emulator")._replace(headers=headers)


def _html_keys(fields: Fields) -> Dict[str, Any]:
    return {"status": fields.whole("status", 200, 200, 599)}


def _redirect_keys(fields: Fields) -> Dict[str, Any]:
    return {
        "status": fields.whole("status", 302, 300, 399),
        "location": fields.text("location", "http://portal.example.invalid/"),
    }


def _body_keys(fields: Fields) -> Dict[str, Any]:
    return {
        "body": fields.text("body", "null"),
        "status": fields.whole("status", 200, 200, 599),
        "content_type": fields.text("content_type", JSON),
    }


def _with_control_characters(answer: Answer, options: Dict[str, Any]) -> Answer:
    body = answer.body.replace(b'"Description":"', b'"Description":"\x01\t\n')
    if body == answer.body and body.endswith(b"}"):  # no description in this version, or no event
        body = body[:-1] + b',"Note":"\x01\t\n"}'
    return answer._replace(body=body)


def _truncated(answer: Answer, options: Dict[str, Any]) -> Answer:
    size = options["bytes"]
    return answer._replace(
        delivery=Delivery(cut=len(answer.body) // 2 if size is None else min(size, max(0, len(answer.body) - 1)))
    )


KINDS = {
    "status": Kind(False, _status_keys, _status, by_service=True),
    "reset": Kind(False, _no_keys, lambda answer, options: answer._replace(delivery=Delivery(reset=True))),
    "lost_answer": Kind(True, _no_keys, lambda answer, options: answer._replace(delivery=Delivery(reset=True))),
    "hang": Kind(False, _no_keys, lambda answer, options: answer._replace(delivery=Delivery(hang=True))),
    "delay": Kind(
        True,
        lambda fields: {"delay": fields.number("delay", REQUIRED, 0, 3600)},
        lambda answer, options: answer._replace(delivery=Delivery(delay=options["delay"])),
    ),
    "empty": Kind(True, _no_keys, lambda answer, options: Answer(200, b"", JSON)),
    "truncated": Kind(True, lambda fields: {"bytes": fields.whole("bytes", None)}, _truncated),
    "trickle": Kind(
        True,
        lambda fields: {"interval": fields.number("interval", 0.5, 0.001, 3600)},
        lambda answer, options: answer._replace(delivery=Delivery(interval=options["interval"])),
    ),
    "control_characters": Kind(True, _no_keys, _with_control_characters),
    "html": Kind(
        False, _html_keys, lambda answer, options: Answer(options["status"], PAGE, "text/html; charset=utf-8")
    ),
    "redirect": Kind(
        False,
        _redirect_keys,
        lambda answer, options: Answer(
            options["status"], b"", "text/html; charset=utf-8", (("Location", options["location"]),)
        ),
    ),
    "body": Kind(
        False,
        _body_keys,
        lambda answer, options: Answer(options["status"], options["body"].encode("utf-8"), options["content_type"]),
    ),
}
