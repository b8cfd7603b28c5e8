# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every reason has a sentence and says what ends it, for a run and for a watcher."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.messages import (
    REASONS,
    RUN,
    WATCHER,
    Reason,
    ends_by,
    sentence,
)

APPROVE_HERE = "azure-maintenance approve E1"
APPROVE_BY_PLAYBOOK = "ansible-playbook cloudops.azure_maintenance.approve -e approve_event=E1"
ITSELF = "by itself"

# code: subject and words as a run gives them, its sentence, and how what ends it begins, for a run and for a watcher
CASES = {
    "started": ("", "", "it has started", ITSELF, ITSELF),
    "advice": ("", "", "it is advice, and an approval has no effect", ITSELF, ITSELF),
    "status": ("", "'Odd'", "its status 'Odd' is not one that can be approved", ITSELF, ITSELF),
    "not_before": ("", "", "its not-before has come: it starts by itself", ITSELF, ITSELF),
    "policy_prepares": ("", "prepare", "the policy says prepare", APPROVE_BY_PLAYBOOK, APPROVE_HERE),
    "policy_leaves": ("", "notify", "the policy says notify", ITSELF, ITSELF),
    "confirmation": ("", "", "it waits for a confirmation", APPROVE_BY_PLAYBOOK, APPROVE_HERE),
    "put_back": (
        "web1",
        "",
        "web1 was recovered by force despite it",
        APPROVE_BY_PLAYBOOK,
        APPROVE_HERE,
    ),
    "on_hold": (
        "web1",
        "ann: a freeze",
        "approvals are on hold on web1 (ann: a freeze)",
        "run there: azure-maintenance release",
        "azure-maintenance release",
    ),
    "outside_hours": ("", "02:00-04:00 UTC", "its hours (02:00-04:00 UTC) are not open", ITSELF, ITSELF),
    "report_only": ("", "", "the watcher only reports", "run maintain", "set watcher_mode to manage"),
    "never_approves": (
        "",
        "",
        "the watcher never approves (watcher_approve)",
        "run maintain",
        "set watcher_approve to own",
    ),
    "other_machines": ("", "", "it lists other machines, too", "run maintain", "run maintain"),
    "unknown_machines": (
        "vm9",
        " (of web3 the VM's name is not known)",
        "it also affects vm9, which this run knows nothing about (of web3 the VM's name is not known)",
        "run maintain for these machines",
        "run maintain",
    ),
    "not_in_inventory": (
        "vm9",
        "",
        "it also affects vm9, which this inventory doesn't have",
        "approve it from where they are",
        "run maintain",
    ),
    "none_of_ours": ("", "", "none of its machines is in the inventory", ITSELF, ITSELF),
    "ambiguous": (
        "",
        "it names the VM 'vm1' twice",
        "it names the VM 'vm1' twice",
        "do what this says",
        "do what this says",
    ),
    "capacity": ("", "it waits for its turn", "it waits for its turn", ITSELF, ITSELF),
    "under_way": ("Reboot E2 of vm2", "", "Reboot E2 of vm2 is under way", ITSELF, ITSELF),
    "comes_first": ("Reboot E2 of vm2", "", "Reboot E2 of vm2 comes first", ITSELF, ITSELF),
    "cooldown": (
        "120 s",
        "5 s",
        "waiting 120 s after another machine's last event (5 s elapsed)",
        ITSELF,
        ITSELF,
    ),
    "first_polls": (
        "120 s",
        "5 s",
        "waiting 120 s from the first poll on, as another machine's event may have ended just before (5 s elapsed)",
        ITSELF,
        ITSELF,
    ),
    "unreadable_entry": (
        "web1",
        "",
        "the document of web1 has an event that can't be read, which may be another machine's",
        ITSELF,
        ITSELF,
    ),
    "owned": ("web1", "run 7", "it affects web1, which is marked by run 7", ITSELF, ITSELF),
    "unreadable_mark": (
        "web1",
        "it is no JSON",
        "it affects web1, which has an unreadable mark (it is no JSON)",
        "run the playbook recover",
        "azure-maintenance recover --force",
    ),
    "wrong_name": ("web1", "", "it affects web1, which has another name in the inventory", "correct", "correct"),
    "unreachable": ("web1", "no route", "it affects web1, which can't be reached: no route", ITSELF, ITSELF),
    "no_steps": (
        "web1",
        "",
        "it affects web1, which has no steps, and maintain_require_steps is true: say in drain_steps how to take it out of "
        "service",
        "set drain_steps",
        "set drain_steps",
    ),
    "steps_differ": (
        "web1",
        "(version 1) that lacks steps of the inventory: x",
        "it affects web1, which has a watcher (version 1) that lacks steps of the inventory: x",
        "run the playbook deploy_watcher",
        "run the playbook deploy_watcher",
    ),
    "failed_there": (
        "web1",
        "watcher",
        "it affects web1, which could not be prepared by its watcher (mark of watcher)",
        ITSELF,
        ITSELF,
    ),
    "half_recovered": (
        "web1",
        "watcher",
        "it affects web1, which could not be recovered by its watcher (mark of watcher)",
        "run there: azure-maintenance recover --force",
        "azure-maintenance recover --force",
    ),
    "owner_down": (
        "web1",
        "watcher",
        "it affects web1, which is marked by watcher, which is down",
        "start its watcher there",
        "start the service azure-maintenance",
    ),
    "left_out": (
        "",
        "hook x is not run",
        "hook x is not run",
        "run there: azure-maintenance",
        "azure-maintenance doctor",
    ),
    "failed": ("web1", "exit 1", "it affects web1, which could not be prepared: exit 1", ITSELF, ITSELF),
    "not_begun": ("web1", "disk", "it affects web1, which could not be prepared so far: disk", ITSELF, ITSELF),
    "late": (
        "web1",
        "",
        "it affects web1, which was prepared too late: less than the margin was left before its not-before",
        ITSELF,
        ITSELF,
    ),
    "cannot_act": (
        "",
        "",
        "the watcher can't act: the system is shutting down, its state can't be written, or its name in Azure is not known yet",
        ITSELF,
        ITSELF,
    ),
    "no_document": ("", "", "no document was received so far", ITSELF, ITSELF),
    "not_shown": ("", "", "the last document does not list it, or is too old", ITSELF, ITSELF),
    "denied": ("web1", "", "the document of web1 does not list it", ITSELF, ITSELF),
    "not_prepared": ("web1, web2", "", "web1, web2 are not prepared yet", ITSELF, ITSELF),
    "not_looked_at": (
        "web1",
        "lb1 is down",
        "whether web1 is still out of service is not known: lb1 is down",
        ITSELF,
        ITSELF,
    ),
    "in_service": ("web1", "is not marked", "web1 is not marked", "run maintain", "run maintain"),
}


def test_every_code_has_a_case():
    assert set(CASES) == set(REASONS)


@pytest.mark.parametrize("code", sorted(REASONS))
def test_a_sentence_and_what_ends_it(code):
    subject, words, said, run, watcher = CASES[code]
    reason = Reason(code, subject, words)
    assert sentence(reason) == said
    assert ends_by(reason, RUN, "E1").startswith(run) and ends_by(reason, WATCHER, "E1").startswith(watcher)


@pytest.mark.parametrize(
    "reason, said",
    [
        (Reason("put_back"), "the machine was recovered by force despite it"),
        (Reason("on_hold", words="root: a freeze"), "approvals are on hold (root: a freeze)"),
        (Reason("failed", words="exit 1"), "the machine could not be prepared: exit 1"),
        (Reason("not_prepared"), "the machine is not prepared yet"),
        (Reason("unreadable_entry"), "the document has an event that can't be read, which may be another machine's"),
    ],
)
def test_a_machine_speaks_of_itself(reason, said):
    assert sentence(reason) == said


def test_who_gives_the_reason_may_know_better_what_ends_it():
    assert ends_by(Reason("outside_hours", words="x", ends="by itself at {02:00}"), RUN, "E1") == "by itself at {02:00}"


def test_an_id_is_quoted_for_the_shell():
    assert ends_by(Reason("confirmation"), WATCHER, "A; reboot") == "azure-maintenance approve 'A; reboot'"


def test_what_comes_from_elsewhere_is_no_template():
    assert sentence(Reason("failed", "{web1}", "{x}")) == "it affects {web1}, which could not be prepared: {x}"
