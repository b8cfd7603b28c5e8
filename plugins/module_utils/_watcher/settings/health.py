# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the settings say of the health endpoint. As data; pure.

Private to this collection.

Its process reads no settings, as these hold passwords: its unit names all of this.
"""

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

from ..._text import shown
from ..health.addresses import Address, AddressError, app_url, listen_address, network

LEAST_SECONDS, MOST_SECONDS = 0.1, 30.0


class HealthError(Exception):
    """What is wrong, as a clause, and where: the names and positions that lead there within ``health``."""

    def __init__(self, words: str, where: Tuple[Any, ...] = ()) -> None:
        super().__init__(words)
        self.where = where


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


def health_settings(given: Mapping[str, Any]) -> HealthSettings:
    """The settings out of what stands under ``health``; other keys than those of them are no business of this.

    :raises HealthError: when they can't be followed
    """
    found = HealthSettings(
        http=_texts(given.get("http"), "http"),
        agent=_texts(given.get("agent"), "agent"),
        sources=_texts(given.get("sources"), "sources"),
        metrics_sources=_texts(given.get("metrics_sources"), "metrics_sources"),
        app=given.get("app") or "",
        app_timeout=_seconds(given.get("app_timeout")),
    )
    _check_addresses(found)
    for key in ("sources", "metrics_sources"):
        for number, source in enumerate(getattr(found, key)):
            _checked(network, source, (key, number))
    if found.metrics_sources and found.agent and not found.http:
        raise HealthError("names who gets metrics, and http no address where they are to be had", ("metrics_sources",))
    if found.app:
        url = _checked(app_url, found.app, ("app",))
        if url.address.port in [listen_address(text).port for text in found.http]:
            raise HealthError("is the port of the health endpoint itself", ("app",))
    if not found.is_wanted and found != HealthSettings():
        raise HealthError("names no address: say in http, or in agent, where it listens")
    return found


def _check_addresses(found: HealthSettings) -> None:
    kinds: Dict[int, str] = {}
    for key in ("http", "agent"):
        for number, text in enumerate(getattr(found, key)):
            where = (key, number)
            address: Address = _checked(listen_address, text, where)
            if kinds.setdefault(address.port, key) != key:
                raise HealthError(
                    f"has the port {address.port} of an address in http: give the agent-check one of its own", where
                )
            if not address.is_loopback and not (found.sources or (key == "http" and found.metrics_sources)):
                raise HealthError(
                    f"is {shown(text)}, where others can reach it, and sources names nobody who is answered there",
                    where,
                )


def _checked(parse: Any, text: Any, where: Tuple[Any, ...]) -> Any:
    try:
        return parse(text if isinstance(text, str) else "")
    except AddressError as error:
        raise HealthError(f"is {shown(text)}, {error}", where) from error


def _texts(given: Any, key: str) -> Tuple[str, ...]:
    if not isinstance(given, (list, type(None))):
        raise HealthError(f"must be a list, not {shown(given)}", (key,))
    found: List[Any] = given or []
    for number, text in enumerate(found):
        if text in found[:number]:
            raise HealthError(f"is {shown(text)}, which stands further up already", (key, number))
    return tuple(found)


def _seconds(given: Any) -> float:
    if given is None:
        return HealthSettings().app_timeout
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given)
    if not is_number or not LEAST_SECONDS <= given <= MOST_SECONDS:
        words = f"must be a number of seconds from {LEAST_SECONDS:g} to {MOST_SECONDS:g}, not {shown(given)}"
        raise HealthError(words, ("app_timeout",))
    return float(given)
