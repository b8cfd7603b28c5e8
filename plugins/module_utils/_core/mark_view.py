# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who owns a machine's mark and for how long, for which metadata service it was made, and what the machine is prepared for: one answer for
run, watcher, machine program and playbooks. Pure.

Private to this collection.

A rehearsal has a metadata service of its own, and its marks count for nobody else.
"""

from typing import Any, Dict, FrozenSet, Mapping, NamedTuple, Optional

from .._clock import Moment
from .._imds.endpoint import DEFAULT_ENDPOINT
from .._steps.sequence import FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK
from .._text import one_line


def made_for(mark: Mapping[str, Any]) -> str:
    """The endpoint that a mark names."""
    return str(mark.get("endpoint") or DEFAULT_ENDPOINT)


def is_made_for(mark: Mapping[str, Any], endpoint: str) -> bool:
    """Whether a mark was made for this endpoint ("": Azure's own), by whomever."""
    one, other = made_for(mark), endpoint or DEFAULT_ENDPOINT
    return one == other or _form(one) == _form(other)


def is_made_for_azure(mark: Mapping[str, Any]) -> bool:
    return is_made_for(mark, DEFAULT_ENDPOINT)


def service_words(mark: Mapping[str, Any]) -> str:
    """For whom a mark was made, for people."""
    name = (
        "Azure's own metadata service"
        if is_made_for_azure(mark)
        else "a metadata service other than Azure's, as in a rehearsal"
    )
    return f"{name} ({one_line(made_for(mark))})"


def _form(endpoint: str) -> str:
    return endpoint.strip().rstrip("/").lower()


NOBODY = "nobody"
"""There is no mark: the machine is in service."""

OURS = "ours"
"""The asker's own."""

WATCHER = "watcher"
"""That of the machine's own watcher, alive or not: nobody else takes it over."""

DRAIN = "drain"
"""Role drain's: only its own recovery undoes it."""

RUN = "run"
"""That of another run whose lease has not expired."""

EXPIRED = "expired"
"""That of a run which has not renewed its lease: maintain and recover take it over."""

UNREADABLE = "unreadable"
"""The owner is unknown: the mark can't be read, or has a newer format."""

FOREIGN = "foreign"
"""Made for another metadata service: a rehearsal's, or for a rehearsal a real one. A rehearsal's that nobody has renewed for an hour is EXPIRED."""

COPIED = "copied"
"""That of the VM that this one was copied from: none of its steps was done here."""

UNIDENTIFIED = "unidentified"
"""A watcher's, and nobody has said so far which VM this is: it may be that of the VM of which this one is a copy."""

FORGOTTEN = 3600.0
"""Seconds after which an interrupted rehearsal is over: nobody has renewed its marks, and its emulator has ended because nobody asked it."""

FRESH = 10.0
"""Seconds for which what a mark said counts as what it says, from the end of the call that brought it."""

_BEGINS_RECOVERY = (TAKING_BACK, TAKEN_BACK, NOT_TAKEN_BACK)


class Asker(NamedTuple):
    """Who asks whose a mark is.

    run: its run as marks name it; "watcher" for the machine's own watcher; "" for who holds no mark
    vm_id: the machine's, as its metadata service says; "" where it names none; None for a watcher that has not asked it so far
    endpoint: of the metadata service that the asker goes by; "" for Azure's own
    """

    run: str
    vm_id: Optional[str] = ""
    endpoint: str = ""


class MarkView(NamedTuple):
    """A mark, as whoever asks sees it. Beside its owner and his words all is empty where there is none, or it can't be read.

    phase: preparing, prepared, recovering or half; ids: of its events as they came, by key; outage: its name, where a watcher
    gave it one; boot_id: of the start of the machine under which its steps were last begun from the first one on; recovery_begun:
    whether a step was undone, or was to be; failed_words: which steps failed, and why; owner_words: whose it is, for people; since:
    when it was made, as text
    """

    owner: str
    phase: str = ""
    keys: FrozenSet[str] = frozenset()
    ids: Mapping[str, str] = {}
    outage: str = ""
    boot_id: str = ""
    recovery_begun: bool = False
    failed_words: str = ""
    owner_words: str = ""
    since: str = ""

    @property
    def is_failed(self) -> bool:
        """Whether its preparation has failed, and nothing of it was undone so far."""
        return self.phase == "half" and not self.recovery_begun

    @property
    def is_recovering(self) -> bool:
        return self.phase == "recovering"

    @property
    def is_partially_recovered(self) -> bool:
        """Whether its recovery has ended, and not all could be undone."""
        return self.phase == "half" and self.recovery_begun


def mark_view(mark: Optional[Mapping[str, Any]], unreadable: str, asker: Asker, moment: Moment) -> MarkView:
    """A machine's mark, as its checked form has it.

    :arg mark: None where there is none, or where it can't be read
    :arg unreadable: why it can't be; "" when it can
    :arg moment: now, by the machine's clocks
    """
    owner = owner_of(mark, unreadable, asker, moment)
    if mark is None or unreadable:
        return MarkView(owner, owner_words=unreadable)
    ids = event_ids(mark)
    return MarkView(
        owner,
        mark["phase"],
        frozenset(ids),
        ids,
        _outage(mark),
        prepared_under(mark),
        recovery_begun(mark),
        _failed_words(mark),
        _owner_words(owner, mark),
        one_line(mark.get("since")),
    )


def owner_of(mark: Optional[Mapping[str, Any]], unreadable: str, asker: Asker, moment: Moment) -> str:
    """Whose the mark is: one of the words above."""
    if unreadable:
        return UNREADABLE
    if mark is None:
        return NOBODY
    if is_copied(mark.get("vm_id") or "", asker.vm_id or ""):
        return COPIED
    holder = mark["holder"]
    if holder["kind"] == "drain":
        return DRAIN
    is_askers = holder["run"] == asker.run
    if is_askers and asker.vm_id is None:
        return UNIDENTIFIED
    if not is_made_for(mark, asker.endpoint):
        return EXPIRED if _is_forgotten(mark, asker, moment) else FOREIGN
    if is_askers:
        return OURS
    if holder["kind"] == "watcher":
        return WATCHER
    return EXPIRED if is_expired(mark["lease"], moment) else RUN


def _is_forgotten(mark: Mapping[str, Any], asker: Asker, moment: Moment) -> bool:
    """Whether the mark, made for another service, is that of a rehearsal which was interrupted so long ago that its emulator has ended, too."""
    if mark["holder"]["kind"] != "run" or not is_made_for_azure({"endpoint": asker.endpoint}):
        return False
    expired = mark["lease"]["until"] if mark["lease"]["boot_id"] == moment.boot_id else 0.0
    return bool(moment.uptime >= expired + FORGOTTEN)


def is_copied(vm_id: str, own: str) -> bool:
    """Whether something that names a VM is of another one than this.

    :arg own: "" where nobody knows so far
    """
    return bool(vm_id and own and vm_id.lower() != own.lower())


# ---- what a mark says, whoever asks ----


def event_ids(mark: Mapping[str, Any]) -> Dict[str, str]:
    """The ids of its events as they came, by key, in its order."""
    return {event.upper(): event for event in mark["events"]}


def prepared_under(mark: Mapping[str, Any]) -> str:
    """The start of the machine under which the steps of a mark were last begun from the first one on."""
    return str(mark.get("again") or mark["boot_id"])


def recovery_begun(mark: Mapping[str, Any]) -> bool:
    """Whether a step was undone, or was to be."""
    return mark["phase"] == "recovering" or any(step["state"] in _BEGINS_RECOVERY for step in mark["steps"])


def holder_words(mark: Mapping[str, Any]) -> str:
    """Who holds it, for people: ``run 4711 (job 12) on ctl1``, or ``its watcher``"""
    holder = {key: one_line(value, 200) for key, value in mark["holder"].items()}
    if holder["kind"] == "watcher":
        return "its watcher"
    kind = "role drain in run" if holder["kind"] == "drain" else "run"
    who = f"{kind} {holder['run']}".rstrip()
    job = f" (job {holder['job']})" if holder.get("job") else ""
    where = f" on {holder['controller']}" if holder.get("controller") else ""
    return f"{who}{job}{where}"


def holder_since(mark: Mapping[str, Any]) -> str:
    """The same with since when: ``run 4711 (job 12) on ctl1, since 2026-01-01T00:00:00Z``"""
    return holder_words(mark) + since_words(mark)


def since_words(mark: Mapping[str, Any]) -> str:
    """``, since 2026-01-01T00:00:00Z``; "" where the mark does not say since when it is there."""
    since = one_line(mark.get("since"))
    return f", since {since}" if since else ""


def _owner_words(owner: str, mark: Mapping[str, Any]) -> str:
    if owner == COPIED:
        return f"VM {one_line(mark['vm_id'])}"
    if owner == UNIDENTIFIED:
        return "a watcher, of this machine or of the one of which it is a copy"
    return holder_since(mark)


def _outage(mark: Mapping[str, Any]) -> str:
    note = mark.get("note")
    return str(note.get("outage") or "") if isinstance(note, Mapping) else ""


def _failed_words(mark: Mapping[str, Any]) -> str:
    failed = [step for step in mark["steps"] if step["state"] in (FAILED, NOT_TAKEN_BACK)]
    return "; ".join(f"{step['words'] or step['unwords'] or step['key']}: {step['note']}" for step in failed)


# ---- what may be done by it ----


NO_MARK, OWNED, OTHER_EVENT, OTHER_PHASE = "no_mark", "owned", "other_event", "other_phase"
REBOOTED, LEFT_OUT, STALE = "rebooted", "left_out", "stale"
"""Why a machine is not prepared for an event."""


def is_prepared_for(view: MarkView, key: str, boot_id: str, age: Optional[float], left_out: bool = False) -> bool:
    """Whether the machine is out of service for an event, as far as that can be known now; see :func:`why_not_prepared_for`."""
    return not why_not_prepared_for(view, key, boot_id, age, left_out)


def why_not_prepared_for(view: MarkView, key: str, boot_id: str, age: Optional[float], left_out: bool = False) -> str:
    """Why the machine is not out of service for an event, as far as that can be known now: one of the words above, "" when it is.

    :arg boot_id: of the machine's present start: a start undoes what was done, whatever the reason for it was
    :arg age: seconds since the end of the call that brought the mark; None where none did
    :arg left_out: whether a step or a hook of it is not run
    """
    if view.owner == NOBODY:
        return NO_MARK
    if view.owner not in (OURS, WATCHER):
        return OWNED
    if key not in view.keys:
        return OTHER_EVENT
    if view.phase != "prepared":
        return OTHER_PHASE
    if view.boot_id != boot_id:
        return REBOOTED
    if left_out:
        return LEFT_OUT
    return STALE if age is None or age > FRESH else ""


def is_drains_own(view: MarkView) -> bool:
    """Whether role drain alone has taken the machine out of service, for no event: whoever ran it recovers it.

    That role's name is also on a mark that the playbook ``recover`` has taken over, or made where there was none.
    """
    return view.owner == DRAIN and not view.keys and view.phase in ("preparing", "prepared")


def is_left(view: MarkView, is_over: bool) -> bool:
    """Whether nobody goes on with the machine by its mark, so that a person may.

    :arg is_over: whether its lease has expired, or its watcher is not alive
    """
    return is_over or (view.owner == DRAIN and (view.is_failed or view.is_partially_recovered))


# ---- how long its owner counts as alive: by the time since the machine was started, which nobody sets, and by the boot id: who held
# the mark before a reboot has not renewed it since ----

LEASE = 120.0
"""Seconds for which a mark is held from one call to the next."""


def lease_of(moment: Moment, seconds: float) -> Dict[str, Any]:
    """A lease of so many seconds from now."""
    return {"uptime": moment.uptime, "boot_id": moment.boot_id, "until": moment.uptime + seconds}


def renewed_lease(lease: Mapping[str, Any], moment: Moment) -> Dict[str, Any]:
    """The lease for as long as it was given, from now."""
    return lease_of(moment, lease["until"] - lease["uptime"])


def is_expired(lease: Mapping[str, Any], moment: Moment) -> bool:
    return bool(lease["boot_id"] != moment.boot_id or moment.uptime >= lease["until"])


def lease_left(lease: Mapping[str, Any], moment: Moment) -> float:
    """Seconds until it expires, never below 0."""
    return 0.0 if is_expired(lease, moment) else float(lease["until"] - moment.uptime)


def seconds_since(began: Mapping[str, Any], moment: Moment) -> float:
    """Seconds since something began; infinite when the machine has been started anew since."""
    if began["boot_id"] != moment.boot_id or moment.uptime < began["uptime"]:
        return float("inf")
    return float(moment.uptime - began["uptime"])
