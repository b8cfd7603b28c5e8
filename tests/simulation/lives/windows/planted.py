# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that are planted in what a Windows machine is asked by."""

from __future__ import annotations

from typing import Any

from ..fault import Fault, always

STORE, CALLS, TRANSPORT = (f"plugin_utils._windows.{file}" for file in ("store", "calls", "transport"))


def _not_compared(real: Any) -> Any:
    def edit(store: Any, name: str, body: Any, compare: bool = True) -> None:
        real(store, name, body, compare=False)

    return edit


def _unguarded(real: Any) -> Any:
    return lambda store: dict(real(store), Expect={})


def _taken_for_written(*errors: str) -> Any:
    """What was not written, for these reasons."""

    def taking(real: Any) -> Any:
        def edit(store: Any, name: str, body: Any, compare: bool = True) -> None:
            try:
                real(store, name, body, compare)
            except Exception as error:
                if type(error).__name__ not in errors:
                    raise
                store._said[name] = {"body": body}

        return edit

    return taking


def _boot_of_mark(real: Any) -> Any:
    def made(boot: Any, machine: Any, clock: Any, mark: Any) -> None:
        real(boot, machine, clock, mark)
        found = mark()
        boot._id = found["boot_id"] if found else boot._id

    return made


def _any_time(_real: Any) -> Any:
    return lambda _boot, _seconds: {"FromMs": 0, "UntilMs": 0}


def _all_well(real: Any) -> Any:
    def post(transport: Any, url: str, headers: Any, body: bytes, timeout: float) -> Any:
        answer = real(transport, url, headers, body, timeout)
        return answer._replace(status=200)

    return post


def _sent_with(**more: Any) -> Any:
    """All requests to look.ps1 have this."""

    def sending(real: Any) -> Any:
        def answers(machine: Any, *requests: Any) -> Any:
            return real(machine, *({**request, **more} for request in requests))

        return answers

    return sending


FAULTS = {
    "windows-compare": Fault(
        "stolen",
        "a mark is replaced whatever is in it",
        [(STORE, "WindowsStore._edit", _not_compared)],
        seed=7,
        scenario="windows-two-runs",
    ),
    "windows-guard": Fault(
        "unguarded",
        "nothing guards a POST",
        [(STORE, "WindowsStore.guard", _unguarded)],
        seed=143,
        scenario="windows-removed",
    ),
    "windows-stop": Fault(
        "unguarded",
        "a POST is sent though its guard failed",
        [(TRANSPORT, "WindowsMachine._answers", _sent_with(Stop=False))],
        seed=143,
        scenario="windows-removed",
    ),
    "windows-changed": Fault(
        "unmarked",
        "that somebody else has been there is not noticed",
        [(STORE, "WindowsStore._edit", _taken_for_written("Fenced"))],
        seed=7,
        scenario="windows-two-runs",
    ),
    "windows-not-written": Fault(
        "unmarked",
        "what could not be written counts as written",
        [(STORE, "WindowsStore._edit", _taken_for_written("Busy", "NotWritten"))],
        seed=12,
        scenario="windows-unwritable",
    ),
    "windows-boot": Fault(  # before an approval the second look sees what the start has put back
        "missed",
        "each boot is the one of the mark",
        [(CALLS, "Boot.__init__", _boot_of_mark)],
        seed=154,
        scenario="windows",
    ),
    "windows-late": Fault(
        "late",
        "a request may change something whenever it arrives",
        [(CALLS, "Boot.window", _any_time)],
        seed=30,
        scenario="windows-hung",
    ),
    "windows-yes": Fault(
        "confirmed",
        "no confirmation is read",
        [(STORE, "WindowsStore.confirmed_events", always([]))],
        scenario="windows-confirmed",
    ),
    "windows-put-back": Fault(
        "put-back",
        "nobody reads recoveries by force",
        [(STORE, "WindowsStore.suppressed_events", always([]))],
        seed=218,
        scenario="windows",
    ),
    "windows-watched": Fault(
        "kept-off",
        "nobody reads what the watcher of a Windows machine says of itself",
        [(STORE, "WindowsStore.said_of_watcher", always(None))],
        seed=48,
        scenario="mixed",
    ),
    "windows-posted": Fault(
        "prompt",  # what was lost is sent again, a minute later
        "every POST counts as accepted",
        [(TRANSPORT, "WindowsTransport.post", _all_well)],
        seed=4,
        scenario="windows-not-taken",
    ),
}
