# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests conclude from three records that know nothing of each other: the emulator's journal, the machines' own
notes of when they were prepared and recovered, and what the user and HAProxy saw."""

from collections.abc import Sequence

from machines import settings
from machines.client import Client
from machines.controller import Run
from machines.emulator import Emulator
from machines.fleet import Fleet

WEB = ("web1", "web2", "web3", "web10")


def approved_once(azure: Emulator, event_id: str, by: str | Sequence[str]) -> float:
    """The only POST of the whole test is the approval of that event by that machine, or by one of these. Answers its Unix time."""
    # At the fleet's speed a second of Azure's is short, and a service that throttles has not executed anything.
    posts = [post for post in azure.posts() if post["status"] != 429]
    assert [(post["status"], [request["result"] for request in post["requests"]]) for post in posts] == [
        (200, ["approved"])
    ], posts
    assert posts[0]["vm"] in [settings.by_name()[name].resource for name in ([by] if isinstance(by, str) else by)], (
        posts
    )
    assert posts[0]["requests"][0]["event_id"].upper() == event_id.upper()
    started = azure.journal("started", event_id)
    assert not started or started[0]["cause"] == "approved", started
    return azure.times(event_id, "approved")[0]


def not_approved(azure: Emulator) -> None:
    assert azure.posts() == []
    assert azure.journal("approved") == []


def prepared_before(machines: Fleet, names: Sequence[str], at: float) -> None:
    for name in names:
        times = machines[name].times("prepared")
        assert len(times) == 1 and times[0] < at, (name, times, at)


def recovered_after(machines: Fleet, names: Sequence[str], at: float) -> None:
    for name in names:
        times = machines[name].times("recovered")
        assert len(times) == 1 and times[0] > at, (name, times, at)


def untouched(machines: Fleet, boots: dict, names: Sequence[str], user: Client | None = None) -> None:
    """Neither drained nor rebooted, and in use all the time."""
    for name in names:
        assert machines[name].times("prepared") == [] and machines[name].times("recovered") == [], name
        assert machines[name].boot_id() == boots[name], name
        if user is not None:
            assert user.states(name) == ["UP"], name


def rebooted(machines: Fleet, boots: dict, names: Sequence[str]) -> None:
    for name in names:
        assert machines[name].boot_id() not in ("", boots[name]), name


def struck_in_service(machines: Fleet, name: str, done: Run) -> None:
    """The run could do nothing about it: it says so, and takes nothing back that it did not do."""
    assert done.status != 0
    assert [f"reached {name} unprepared" in problem for problem in done.result["problems"]] == [True], done.result
    assert machines[name].times("prepared") == [] and machines[name].times("recovered") == []


def out_of_use(user: Client, names: Sequence[str], since: float, until: float) -> None:
    """HAProxy had taken them out, no request was under way there, and none went there until they were back."""
    for name in names:
        sample = user.sample(since)
        assert sample.states[name] == "DRAIN" and sample.sessions[name] == 0, (name, sample)
        assert user.served(name, since, until) == [], name


def at_most_out(user: Client, most: int) -> None:
    """HAProxy had never more of its servers taken out of use."""
    out = [sum("DRAIN" in state or "MAINT" in state for state in sample.states.values()) for sample in user.samples]
    assert 0 < max(out) <= most, max(out)
