# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to the control API: who may send them, and what they say."""

import ipaddress
import json
from typing import Any, Dict, Optional

from .fields import Fields, did_you_mean
from .http_parser import Request
from .problems import InvalidInput


def refuse_other_pages(request: Request) -> None:
    """A web page somewhere else must not steer the emulator through its reader's browser."""
    host = request.headers.get("host", "")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name and name.lower() != "localhost":
        try:
            ipaddress.ip_address(name)
        except ValueError:
            raise InvalidInput("Host", f"{name!r} is neither an address nor localhost") from None
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise InvalidInput("Origin", f"{origin!r} is not this page")


def body_of(request: Request) -> Dict[str, Any]:
    """Its JSON, a mapping; an empty body is an empty one."""
    if not request.body.strip():
        return {}
    try:
        body = json.loads(request.body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("body", f"it is not JSON: {error}") from None
    Fields(body, "body")
    return body


def parameters(request: Request, *known: str) -> Dict[str, str]:
    """The parameters of its query, all of which must be known."""
    for name, _value in request.query:
        if name not in known:
            meant = did_you_mean(name, known)
            raise InvalidInput(name, f"unknown parameter{meant}; known here: {', '.join(known)}")
    return dict(request.query)


def number(given: Dict[str, str], name: str, default: float, low: float, high: float) -> float:
    """A parameter that is a number."""
    text: Optional[str] = given.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise InvalidInput(name, f"{text!r} is no number between {low:g} and {high:g}")
    return value
