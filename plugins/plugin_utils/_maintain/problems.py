# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves for a person: one sentence for each subject, so that nothing is said twice. Pure.

Private to this collection.

The record's ``problems`` is a dictionary. Its keys name what a sentence is about: an event and what became of it, a machine,
a scope. To report on the same subject again replaces the sentence; to withdraw it needs no more than the subject.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._text import listed
from .entry import event_of, is_open, title, waits_for_approval
from .facts import machines_of, may_be_gone, scope_by_host
from .look import message_of
from .machines import Machine, scopes, sentinels
from .plan import APPROVING
from .schema import AFFECTED, HALF_PREPARED, PREPARED, Entry, Record
from .todo import next_approver


def report(record: Record, subject: str, sentence: str) -> None:
    """Say something about a subject, in place of what was said about it before."""
    record["problems"][subject] = sentence


def withdraw(record: Record, subject: str) -> None:
    """What was said about a subject, if anything, is no longer so."""
    record["problems"].pop(subject, None)


def _about_event(entry: Entry, what: str) -> str:
    return f"event {event_of(entry).key}: {what}"


def _about_machine(host: str, what: str) -> str:
    return f"machine {host}: {what}"


def _about_scope(scope: str, what: str) -> str:
    return f"scope {scope}: {what}"


# ---- about an event ----


def report_hold(record: Record, entry: Entry) -> None:
    """Say what stands against an approval that the policy wants, or no longer that something does."""
    subject = _about_event(entry, "held")
    wanted = entry["action"] in APPROVING and entry["verdict"] in ("prepare", "watch") and entry["started"] is None
    if wanted and entry["hold"]:
        report(record, subject, f"{title(entry)} was not approved: {entry['hold']}")
    else:
        withdraw(record, subject)


def report_nameless(record: Record, entry: Entry) -> None:
    """An event that is left alone because none of its machines is ours may be ours all the same."""
    scope_of = scope_by_host(record)
    seen_in = {scope_of[host] for host in entry["seen_by"]}
    nameless = [host for host, name in record["names"].items() if not name and scope_of[host] in seen_in]
    subject = _about_event(entry, "left alone")
    if entry["verdict"] == "not_ours" and nameless:
        report(
            record,
            subject,
            f"{title(entry)} was left alone, but may affect {listed(nameless)}: the name of the VM is not known "
            "(azure_maintenance_resource_name).",
        )
    else:
        withdraw(record, subject)


def report_failed_preparation(record: Record, entry: Entry) -> None:
    """A machine of the event could not be prepared."""
    report(record, _about_event(entry, "preparation"), f"{title(entry)} was not approved: {entry['failed']}")


def report_unapproved(record: Record) -> None:
    """Say which events should be approved and can't be: every approver has tried it, or is lost."""
    for entry in record["events"].values():
        if is_open(entry) and waits_for_approval(entry) and not next_approver(record, entry):
            why = entry["approval"]["problem"] or "no machine is left that could do it"
            report(
                record,
                _about_event(entry, "approval"),
                f"{title(entry)} could not be approved, and starts by itself: {why}",
            )


def report_approved(record: Record, entry: Entry) -> None:
    """The event was approved after all."""
    withdraw(record, _about_event(entry, "approval"))


def report_end_of_watch(record: Record, entry: Entry, why: str) -> None:
    """The run stops watching an event that may still be there, and leaves its machines as they are."""
    report(record, _about_event(entry, "watch"), f"{title(entry)}{why}")
    for host in entry["affected"]:
        if record["hosts"][host]["state"] in (PREPARED, HALF_PREPARED, AFFECTED):
            _report_left(record, host)


# ---- about machines and scopes ----


def report_recovery(record: Record, host: str, result: Mapping[str, Any]) -> None:
    """Say that a machine is not back in service, or no longer that it is out of it."""
    withdraw(record, _about_machine(host, "left"))
    if result["ok"]:
        withdraw(record, _about_machine(host, "recovery"))
    else:
        why = result.get("message") or "no reason was given"
        report(record, _about_machine(host, "recovery"), f"{host} is not back in service: {why}")


def report_left_machines(record: Record) -> None:
    """No run ends in silence that leaves a machine out of service, unless its event took the machine away."""
    for host, state in record["hosts"].items():
        if state["state"] in (PREPARED, HALF_PREPARED) and not may_be_gone(record, host):
            _report_left(record, host)


def _report_left(record: Record, host: str) -> None:
    how = "was left as it was found" if record["hosts"][host]["state"] == AFFECTED else "stayed prepared"
    report(
        record,
        _about_machine(host, "left"),
        f"{host} {how}: bring it back with the playbook recover once its maintenance is over.",
    )


def report_unwatched_scopes(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
    """Nobody is left to look on behalf of a scope: its events go unseen for the rest of the run.

    :arg looks: what the machines that looked last returned, by host
    """
    able = sentinels(machines_of(record), record["lost"])
    for scope, members in scopes(machines_of(record)).items():
        subject = _about_scope(scope, "watch")
        left = [machine for machine in members if not may_be_gone(record, machine.host)]
        if scope in able or not left or subject in record["problems"]:
            continue
        why = "; ".join(f"{machine.host}: {_why_lost(machine, looks.get(machine.host, {}))}" for machine in left)
        report(
            record,
            subject,
            f"No machine can see the events of scope {scope!r} (any more), so the run did not watch it: {why}",
        )


def _why_lost(machine: Machine, look: Mapping[str, Any]) -> str:
    return machine.problem or message_of(look) or "it failed earlier, or its service gave no document"


def report_unreadable(record: Record, looks: Mapping[str, Mapping[str, Any]]) -> None:
    """Say which entries of the documents can't be read, once for all machines of a scope."""
    scope_of = scope_by_host(record)
    for host, look in looks.items():
        for unusable in look.get("unusable_events") or ():
            subject = _about_scope(scope_of[host], f"unreadable {unusable['id'] or unusable['reason']}")
            if subject not in record["problems"]:
                report(
                    record,
                    subject,
                    f"{host} is shown an event ({unusable['id'] or 'without an id'}) that can't be read, so nothing "
                    "was done about it: "
                    f"{unusable['reason']}. See unusable_events in the result of scheduled_events_info there.",
                )
