# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an event is not approved, in words, and what ends that: one row a code, for the run, the watcher and the playbooks. Pure.

Private to this collection.
"""

import shlex
from typing import Dict, NamedTuple

from .._events.event import Event
from .._text import one_line

RUN, WATCHER = "run", "watcher"
"""Who says it: a run of maintain and the playbooks of a person, or the machine's own watcher."""


class Reason(NamedTuple):
    """Why an event is not approved now.

    code: of REASONS
    subject: the machines or the events that it is about; "" for the machine that says it
    words: what else is known, as a clause
    ends: what ends it, where whoever gives the reason knows that better than REASONS does
    """

    code: str
    subject: str = ""
    words: str = ""
    ends: str = ""


class Row(NamedTuple):
    """One code.

    sentence: a clause for "... is not approved: "; {which} is "it affects web1, which" or "the machine", {machine} "web1" or "the machine"
    run, watcher: what ends it, for each of them: what a person does, or "by itself ...": {approve} is the command that confirms the event
    """

    sentence: str
    run: str
    watcher: str


_AT_NOT_BEFORE = "by itself: the event starts at its not-before"
_NEXT_POLL = "by itself, with the next poll"
_DEPLOY = "in the inventory, then run the playbook deploy_watcher"
_PREPARE = "run maintain for these machines: it finds the confirmation, prepares what is missing, and approves"
_RECOVERED = "by itself, when the machine is recovered; the playbook status says who owns it"

REASONS: Dict[str, Row] = {
    # of the event
    "started": Row("it has started", "by itself, when it is over", "by itself, when it is over"),
    "advice": Row(
        "it is advice, and an approval has no effect",
        "by itself, when it disappears from the document",
        "by itself, when it disappears from the document",
    ),
    "status": Row(
        "its status {words} is not one that can be approved",
        "by itself, when it disappears from the document, or is Scheduled",
        "by itself, when it disappears from the document, or is Scheduled",
    ),
    "not_before": Row("its not-before has come: it starts by itself", _AT_NOT_BEFORE, _AT_NOT_BEFORE),
    # of the policy, the options and what people have said
    "policy_prepares": Row("the policy says {words}", "{approve}", "{approve}"),
    "policy_leaves": Row("the policy says {words}", _AT_NOT_BEFORE, _AT_NOT_BEFORE),
    "confirmation": Row("it waits for a confirmation", "{approve}", "{approve}"),
    "put_back": Row("{machine} was recovered by force despite it", "{approve}", "{approve}"),
    "on_hold": Row(
        "approvals are on hold{there} ({words})",
        "run there: azure-maintenance release",
        "azure-maintenance release",
    ),
    "outside_hours": Row("its hours ({words}) are not open", "by itself, when they open", "by itself, when they open"),
    "report_only": Row(
        "the watcher only reports", "run maintain for this machine", f"set watcher_mode to manage {_DEPLOY}"
    ),
    "never_approves": Row(
        "the watcher never approves (watcher_approve)",
        "run maintain for this machine",
        f"set watcher_approve to own {_DEPLOY}, or run maintain for this machine",
    ),
    # of other machines
    "other_machines": Row(
        "it lists other machines, too",
        "run maintain for all of its machines",
        "run maintain for all of its machines; else " + _AT_NOT_BEFORE,
    ),
    "unknown_machines": Row(
        "it also affects {subject}, which this run knows nothing about{words}",
        "run maintain for these machines as well; where they are gone, or nothing has to be prepared on them, set maintain_allow_unknown to true",
        "run maintain for all of its machines",
    ),
    "not_in_inventory": Row(
        "it also affects {subject}, which this inventory doesn't have{words}",
        "approve it from where they are, or, where nothing needs to be prepared on them, name them in approve_allow_unknown",
        "run maintain for all of its machines",
    ),
    "none_of_ours": Row("none of its machines is in the inventory", _AT_NOT_BEFORE, _AT_NOT_BEFORE),
    "ambiguous": Row(
        "{words}",
        "do what this says, or correct azure_maintenance_resource_name",
        "do what this says, or correct azure_maintenance_resource_name",
    ),
    "capacity": Row(
        "{words}",
        "by itself, when fewer machines are out; maintain_max_unavailable says how many may be",
        "by itself, when fewer machines are out",
    ),
    "under_way": Row(
        "{subject} is under way", "by itself, when that is over", "by itself, watcher_cooldown after that is over"
    ),
    "comes_first": Row(
        "{subject} comes first", "by itself, when that is over", "by itself, watcher_cooldown after that is over"
    ),
    "cooldown": Row(
        "waiting {subject} after another machine's last event ({words} elapsed)",
        "by itself, when that time is over",
        "by itself, when that time is over",
    ),
    "first_polls": Row(
        "waiting {subject} from the first poll on, as another machine's event may have ended just before ({words} elapsed)",
        "by itself, when that time is over",
        "by itself, when that time is over",
    ),
    "unreadable_entry": Row(
        "the document{of} has an event that can't be read, which may be another machine's",
        "by itself, when that entry has disappeared from the document; the playbook status shows it",
        "by itself, when that entry has disappeared from the document; azure-maintenance status shows it",
    ),
    # of one machine
    "owned": Row("{which} is marked by {words}", _RECOVERED, _RECOVERED),
    "unreadable_mark": Row(
        "{which} has an unreadable mark ({words})",
        "run the playbook recover with recover_force and recover_unmarked",
        "azure-maintenance recover --force",
    ),
    "wrong_name": Row(
        "{which} has another name in the inventory",
        "correct azure_maintenance_resource_name",
        "correct azure_maintenance_resource_name",
    ),
    "unreachable": Row(
        "{which} can't be reached: {words}",
        "by itself, when it answers again; where it is gone, take it out of the inventory, and set maintain_allow_unknown to true",
        _NEXT_POLL,
    ),
    "no_steps": Row(
        "{which} has no steps, and maintain_require_steps is true: say in drain_steps how to take it out of service",
        "set drain_steps, or maintain_require_steps to false",
        "set drain_steps, and run the playbook deploy_watcher",
    ),
    "steps_differ": Row(
        "{which} has a watcher {words}",
        "run the playbook deploy_watcher",
        "run the playbook deploy_watcher",
    ),
    "failed_there": Row(
        "{which} could not be prepared by its watcher (mark of {words})",
        _AT_NOT_BEFORE + "; azure-maintenance status says there what failed",
        _AT_NOT_BEFORE,
    ),
    "half_recovered": Row(
        "{which} could not be recovered by its watcher (mark of {words})",
        "run there: azure-maintenance recover --force",
        "azure-maintenance recover --force",
    ),
    "owner_down": Row(
        "{which} is marked by {words}, which is down",
        "start its watcher there (service azure-maintenance)",
        "start the service azure-maintenance",
    ),
    "left_out": Row(
        "{words}",
        "run there: azure-maintenance doctor",
        "azure-maintenance doctor, which says how to fix it",
    ),
    "failed": Row("{which} could not be prepared: {words}", _AT_NOT_BEFORE, _AT_NOT_BEFORE),
    "not_begun": Row(
        "{which} could not be prepared so far: {words}",
        "by itself: it is retried until its notice runs out",
        "by itself: it is retried until its notice runs out",
    ),
    "late": Row(
        "{which} was prepared too late: less than the margin was left before its not-before",
        _AT_NOT_BEFORE,
        _AT_NOT_BEFORE,
    ),
    "cannot_act": Row(
        "the watcher can't act: the system is shutting down, its state can't be written, or its name in Azure is not known yet",
        "by itself; azure-maintenance doctor says there what is wrong",
        "by itself; azure-maintenance doctor says what is wrong",
    ),
    "no_document": Row("no document was received so far", _NEXT_POLL, "by itself, when the first poll brings one"),
    "not_shown": Row(
        "the last document does not list it, or is too old",
        _NEXT_POLL,
        _NEXT_POLL,
    ),
    "denied": Row("the document of {machine} does not list it", "by itself, when it does", "by itself, when it does"),
    "not_prepared": Row(
        "{machine} {is} not prepared yet", "by itself, when that is done", "by itself, when that is done"
    ),
    "not_looked_at": Row(
        "whether {machine} is still out of service is not known: {words}",
        "by itself, when it can be looked at",
        "by itself, when it can be looked at",
    ),
    "in_service": Row("{machine} {words}", _PREPARE, _PREPARE),
}
"""Every reason. The guide's table of them is made from it (docs: failures)."""


def title(event: Event) -> str:
    """The event's name in a sentence."""
    return f"{one_line(event.event_type) or 'Event'} {event.event_id}"


def title_of(event: Event) -> str:
    """The same, with the machines that it lists."""
    return f"{event.event_type or 'event'} {event.event_id} of {', '.join(event.resources[:3])}"


def on_hold(by: str, reason: str, machine: str = "", ends: str = "") -> Reason:
    """That a person lets nothing be approved.

    :arg machine: on which that was said; "" on this one
    """
    return Reason("on_hold", machine, ": ".join(one_line(words) for words in (by, reason) if words), ends)


def sentence(reason: Reason) -> str:
    """Why, as a clause for "... is not approved: "."""
    subject = reason.subject
    return REASONS[reason.code].sentence.format(
        subject=subject,
        words=reason.words,
        machine=subject or "the machine",
        which=f"it affects {subject}, which" if subject else "the machine",
        there=f" on {subject}" if subject else "",
        of=f" of {subject}" if subject else "",
        **{"is": "are" if "," in subject else "is"},
    )


def ends_by(reason: Reason, who: str, event_id: str) -> str:
    """What ends it: what a person does, or "by itself ...".

    :arg who: RUN or WATCHER
    """
    if reason.ends:
        return reason.ends
    row = REASONS[reason.code]
    command = (
        "ansible-playbook cloudops.azure_maintenance.approve -e approve_event="
        if who == RUN
        else "azure-maintenance approve "
    )
    return (row.run if who == RUN else row.watcher).format(approve=command + shlex.quote(event_id))
