# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that are planted in what a Windows machine is asked by."""

from __future__ import annotations

from typing import Any

from ..fault import Fault, always

STORE, CALLS, TRANSPORT = (f"plugin_utils._windows.{file}" for file in ("store", "calls", "transport"))


def _not_compared(real: Any) -> Any:
    def edit(store: Any, path: str, content: Any, known: Any, compare: bool) -> None:
        real(store, path, content, known, compare=False)

    return edit


def _unguarded(real: Any) -> Any:
    def write_along(store: Any, guard: bool = False) -> None:
        if not guard:
            real(store)

    return write_along


def _forgets(*names: str) -> Any:
    """What came of what was written: these are not kept."""

    def forgetting(real: Any) -> Any:
        def written(store: Any) -> None:
            real(store)
            for name in names:
                setattr(store, name, "")

        return written

    return forgetting


def _lease_is_no_change(real: Any) -> Any:
    def is_changed(store: Any) -> bool:
        mark, there = store._mark, store.there()
        if not mark or not there:
            return bool(real(store))
        left = {"lease", "number", "renewed", "holder"}
        alike = all(mark[key] == there[key] for key in mark if key not in left)
        return not (alike and mark["holder"] == there["holder"]) and bool(real(store))

    return is_changed


def _boot_of_mark(real: Any) -> Any:
    def moment(boot: Any) -> Any:
        found, mark = real(boot), boot._store.there()
        return found._replace(boot_id=mark["boot_id"]) if mark else found

    return moment


def _any_time(_real: Any) -> Any:
    return lambda _boot, _seconds: {"FromMs": 0, "UntilMs": 0}


def _as_asked_for(_real: Any) -> Any:
    return lambda _call, _request, said: said


def _all_well(real: Any) -> Any:
    def post(transport: Any, url: str, headers: Any, body: bytes, timeout: float) -> Any:
        answer = real(transport, url, headers, body, timeout)
        return answer._replace(status=200)

    return post


def _again_and_again(real: Any) -> Any:
    def brought_along(transport: Any, url: str, timeout: float) -> Any:
        asked = transport._brought.get(url)
        said = asked and asked.answer()
        return said if said and "failure" not in said else real(transport, url, timeout)

    return brought_along


def _sent_with(**more: Any) -> Any:
    """All requests to look.ps1 have this."""

    def sending(real: Any) -> Any:
        def look(machine: Any, requests: Any) -> Any:
            return real(machine, [{**request, **more} for request in requests])

        return look

    return sending


FAULTS = {
    "windows-compare": Fault(
        "stolen",
        "a mark is replaced whatever is in it",
        [(STORE, "WindowsStore._edit", _not_compared)],
        scenario="windows-two-runs",
    ),
    "windows-guard": Fault(
        "unguarded",
        "nothing guards a POST",
        [(STORE, "WindowsStore.write_along", _unguarded)],
        seed=19,
        scenario="windows-removed",
    ),
    "windows-stop": Fault(
        "unguarded",
        "a POST is sent though its guard failed",
        [(TRANSPORT, "WindowsMachine._look", _sent_with(Stop=False))],
        seed=19,
        scenario="windows-removed",
    ),
    "windows-changed": Fault(
        "unmarked",
        "that somebody else has been there is not noticed",
        [(STORE, "WindowsStore.written", _forgets("fenced"))],
        scenario="windows-two-runs",
    ),
    "windows-not-written": Fault(
        "unmarked",
        "what could not be written counts as written",
        [(STORE, "WindowsStore.written", _forgets("busy", "not_written"))],
        seed=8,
        scenario="windows-unwritable",
    ),
    "windows-refused": Fault(
        "unmarked",
        "an answer does not say that nothing was written",
        [(CALLS, "_Call._settled", _as_asked_for)],
        seed=8,
        scenario="windows-unwritable",
    ),
    "windows-lease": Fault(
        "stolen",
        "no lease is renewed",
        [(STORE, "WindowsStore.is_changed", _lease_is_no_change)],
        scenario="windows-two-runs",
    ),
    "windows-boot": Fault(
        "barrier",
        "each boot is the one of the mark",
        [(CALLS, "Boot.moment", _boot_of_mark)],
        scenario="windows-restarted",
    ),
    "windows-late": Fault(
        "late",
        "a request may change something whenever it arrives",
        [(CALLS, "Boot.window", _any_time)],
        seed=23,
        scenario="windows-hung",
    ),
    "windows-age": Fault(
        "unseen",
        "what came along with an earlier request is an answer whatever its age",
        [(TRANSPORT, "WindowsTransport._brought_along", _again_and_again)],
        scenario="windows-lone",
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
        seed=7,
        scenario="windows-stopped",
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
        [(CALLS, "_GuardedTransport.post", _all_well)],
        seed=4,
        scenario="windows-not-taken",
    ),
}
