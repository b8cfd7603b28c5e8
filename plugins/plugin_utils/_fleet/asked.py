# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook learns of a machine in one call, outside of a run: its document, and its mark. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...module_utils._core import lease
from ...module_utils._core.lease import Moment
from ...module_utils._core.mark_view import DRAIN, NOBODY, WATCHER, Asker, MarkView, mark_view
from ...module_utils._text import one_line, seconds_until


class Asked(NamedTuple):
    """One machine of the inventory.

    name: its name in Azure; "" where it isn't known
    events: its document's events, as module scheduled_events_info returns them; None where it could not poll
    mark: as the machine gives it (a mapping; ``{"unreadable": why}``); None where there is none
    expired: whether its lease is over, or its watcher is not alive
    problem: why nothing came back from the machine; "" when something did
    blind: why it could not poll, though it answered
    unusable: the entries of its document that can't be read
    yes: the ids of the events to which a person has said yes on it
    silent: seconds since its mark was renewed; None where that isn't known
    lasts: seconds for which the mark's holder is still taken to be alive; None where that isn't known
    boot_id: of its present start
    ended: when it said so, by the controller's clock; None where that isn't known
    start: seconds that the last start of PowerShell on it took
    left_out: whether its watcher lacks steps of the inventory
    view: the mark, as somebody sees it who holds none
    waits: why its watcher does not approve an event, and what ends that, by the event's key
    """

    host: str
    name: str
    is_linux: bool
    events: Sequence[Mapping[str, Any]] | None
    mark: Mapping[str, Any] | None
    expired: bool = False
    problem: str = ""
    blind: str = ""
    unusable: Sequence[Mapping[str, Any]] = ()
    yes: Sequence[str] = ()
    silent: float | None = None
    lasts: float | None = None
    boot_id: str = ""
    ended: float | None = None
    start: float = 0.0
    left_out: bool = False
    view: MarkView = MarkView(NOBODY)
    waits: Mapping[str, Sequence[str]] = MappingProxyType({})


def asked(host: str, is_linux: bool, name: str, answer: Mapping[str, Any], endpoint: str = "") -> Asked:
    """A machine by its answer to ``hello`` and ``look``, without a run of its own.

    :arg endpoint: of the metadata service that it was asked by; "" for Azure's own
    :arg name: its name in Azure by the inventory, or "": for a machine that does not say it
    :arg answer: empty where the machine was not even called
    """
    if not answer:
        answer = {"lost": "the task that was to ask it failed (see above)"}
    answers = answer.get("answers") or ()
    look: Mapping[str, Any] = next((found for found in answers if "events" in found), {})
    named = next((found["resource_name"] for found in answers if found.get("resource_name")), name)
    has_document = look.get("incarnation") is not None and not look.get("failure")
    mark, watcher = answer.get("mark"), answer.get("watcher") or {}
    unreadable = str((mark or {}).get("unreadable") or "")
    given: Mapping[str, Any] = (mark or {}).get("lease") or {}
    boot_id, uptime = answer.get("boot_id"), answer.get("uptime")
    known = bool(given) and boot_id == given["boot_id"] and uptime is not None
    now = given.get("uptime", 0.0) if uptime is None else uptime
    moment = Moment(0.0, now, str(boot_id or given.get("boot_id") or ""))
    vm_id = next((str(found["vm_id"]) for found in answers if found.get("vm_id")), "")
    view = mark_view(None if unreadable else mark, unreadable, Asker("", vm_id, endpoint), moment)
    is_over = bool(given) and lease.is_expired(given, moment)
    return Asked(
        host=host,
        name=named,
        is_linux=is_linux,
        events=look["events"] if has_document else None,
        mark=mark,
        view=view,
        expired=not watcher.get("alive") if view.owner == WATCHER else is_over,
        problem=one_line(answer.get("lost"), 1000),
        blind="" if has_document else _why_no_document(answers, look),
        unusable=look.get("unusable_events") or (),
        yes=answer.get("yes") or (),
        silent=max(0.0, uptime - given["uptime"]) if known else None,
        lasts=lease.left(given, moment) if known else None,
        boot_id=str(boot_id or ""),
        ended=None if answer.get("ended") is None else float(answer["ended"]) - float(answer.get("age") or 0.0),
        start=float(answer.get("start") or 0.0),
        left_out=view.owner == WATCHER and bool(watcher.get("lacks")),
        waits=(watcher.get("waits") or {}) if watcher.get("alive") else {},
    )


def _why_no_document(answers: Sequence[Mapping[str, Any]], look: Mapping[str, Any]) -> str:
    said = [look.get("msg"), *(found.get("problem") for found in answers)]
    return next((one_line(words, 1000) for words in said if words), "its poll returned no document")


def holder_words(mark: Mapping[str, Any]) -> str:
    """Whose a mark is: ``run 4711 (job 12) on ctl1``"""
    holder = {key: one_line(value, 100) for key, value in mark["holder"].items()}
    kind = {"drain": "role drain in run", "watcher": "its watcher"}.get(holder["kind"], "run")
    words = " ".join(word for word in (kind, holder["run"]) if word)
    job = f" (job {holder['job']})" if holder.get("job") else ""
    where = f" on {holder['controller']}" if holder.get("controller") else ""
    return f"{words}{job}{where}"


def is_drains(view: MarkView) -> bool:
    """Whether role drain alone has taken the machine out of service, for no event: whoever ran it recovers it.

    That role's name is also on a mark that the playbook ``recover`` has taken over, or made where there was none.
    """
    return view.owner == DRAIN and not view.keys and view.phase in ("preparing", "prepared")


def has_ended(machine: Asked) -> bool:
    """Whether nobody goes on with the machine by its mark, which can be read: its holder has ended, or is taken to have."""
    view = machine.view
    return machine.expired or (view.owner == DRAIN and (view.is_failed or view.is_partially_recovered))


def event_words(event: Mapping[str, Any]) -> str:
    """An event as it is shown: ``Reboot A-1 (Scheduled, in 300 s)``"""
    when = "" if event.get("notice") is None else seconds_until(event["notice"])
    how = ", ".join(words for words in (event["status"] or "status unknown", when) if words)
    return f"{event['type'] or 'Event'} {event['id']} ({how})"
