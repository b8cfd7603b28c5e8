# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the settings say of the health endpoint. As data; pure.

Private to this collection.

Its process reads no settings, as these hold passwords: its unit names all of this.
"""

from typing import Any, Callable, NamedTuple, Tuple

from ..._text import shown
from ..health.addresses import AddressError, app_url, listen_address, network
from .refused import Refused, list_of, number_of, object_of, within

TIMEOUTS = (0.1, 30.0)
"""Seconds, the least and the most."""


class HealthSettings(NamedTuple):
    """Without an address there is no endpoint."""

    http: Tuple[str, ...] = ()  # addresses with ports where health is asked for by HTTP
    agent: Tuple[str, ...] = ()  # and by HAProxy's agent-check
    sources: Tuple[str, ...] = ()  # networks that are answered beside this machine
    metrics_sources: Tuple[str, ...] = ()  # and those that get its metrics
    app: str = ""  # URL of this machine that has to answer, too
    app_timeout: float = 1.0  # seconds

    @property
    def is_wanted(self) -> bool:
        return bool(self.http or self.agent)


def health_settings(value: Any) -> HealthSettings:
    """The settings out of what stands under ``health``.

    :raises Refused: when they can't be followed
    """
    given = {name: one for name, one in object_of(value, HealthSettings._fields).items() if one is not None}
    for key, parse in _LISTS.items():
        given[key] = within(key, _texts, given.get(key, []), parse)
    if given.get("app"):
        within("app", _checked, app_url, given["app"])
    if "app_timeout" in given:
        given["app_timeout"] = within("app_timeout", number_of, given["app_timeout"], "seconds", *TIMEOUTS)
    found = HealthSettings(**dict(given, app=given.get("app") or ""))
    _check_addresses(found)
    if found.metrics_sources and found.agent and not found.http:
        raise Refused("names who gets metrics, and http no address where they are to be had", ("metrics_sources",))
    if not found.is_wanted and found != HealthSettings():
        raise Refused("names no address: say in http, or in agent, where it listens")
    return found


_LISTS = {"http": listen_address, "agent": listen_address, "sources": network, "metrics_sources": network}


def _check_addresses(found: HealthSettings) -> None:
    """Those of both kinds, beside each other and beside who is answered there."""
    of_http = [listen_address(text).port for text in found.http]
    for key in ("http", "agent"):
        for number, text in enumerate(getattr(found, key)):
            address = listen_address(text)
            if key == "agent" and address.port in of_http:
                words = f"has the port {address.port} of an address in http: give the agent-check one of its own"
                raise Refused(words, (key, number))
            if not address.is_loopback and not (found.sources or (key == "http" and found.metrics_sources)):
                words = f"is {shown(text)}, where others can reach it, and sources names nobody who is answered there"
                raise Refused(words, (key, number))
    if found.app and app_url(found.app).address.port in of_http:
        raise Refused("is the port of the health endpoint itself", ("app",))


def _texts(given: Any, parse: Callable[[str], Any]) -> Tuple[str, ...]:
    for number, text in enumerate(list_of(given)):
        if text in given[:number]:
            raise Refused(f"is {shown(text)}, which stands further up already", (number,))
        within(number, _checked, parse, text)
    return tuple(given)


def _checked(parse: Callable[[str], Any], text: Any) -> None:
    try:
        parse(text if isinstance(text, str) else "")
    except AddressError as error:
        raise Refused(f"is {shown(text)}, {error}") from error
