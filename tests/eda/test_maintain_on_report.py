# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watchers report to the rulebook, and it starts maintain for the machines that belong together.

The tests follow each other on one site: maintenance takes its time, and what the first one leaves behind is looked at by the last.
"""

import pytest
from rulebook import SECRET

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

WHOLE = 240  # seconds that a whole maintenance may take on a machine with much to do
HOSTILE = "{{ lookup('pipe', 'touch %s') }}"


def an_event(site, *machines, **keys):
    return site.world.event(resources=list(machines), **dict({"tail": 1}, **keys))


def back(site, *machines):
    """They are in service again, each as often as it has left."""
    journal = site.journal()
    return all(journal.count(f"back {name}") == journal.count(f"left {name}") > 0 for name in machines)


@pytest.fixture(scope="module")
def interrupted(site):
    """The rulebook is stopped in the middle of a maintenance, and started again; a schedule looks after what was left."""
    site.rulebook.start()
    event = an_event(site, "app1", tail=600)
    until(lambda: site.approved(event), WHOLE)
    site.rulebook.stop()
    until(lambda: site.journal() == ["left app1"])
    reported_meanwhile = an_event(site, "lone")
    until(lambda: site.machines["lone"].logged("tried again"))
    site.rulebook.start()
    scheduled = site.maintain("app")
    yield event, reported_meanwhile, scheduled
    scheduled.kill()
    scheduled.wait()


def test_what_was_reported_meanwhile_arrives(site, interrupted):
    _event, reported_meanwhile, _scheduled = interrupted
    until(lambda: site.rulebook.runs("lone"))
    until(lambda: back(site, "lone"), WHOLE)
    assert site.approved(reported_meanwhile)
    assert len(site.rulebook.runs("lone")) == 1, "a machine that shares no scope has a run of its own"


def test_two_scopes_side_by_side_and_each_event_once(site, interrupted, tmp_path):
    hostile = HOSTILE % (tmp_path / "executed")
    before = len(site.rulebook.runs())
    both = an_event(site, "web1", "web2", description=hostile)
    other = an_event(site, "db1")
    until(lambda: back(site, "web1", "web2", "db1"), WHOLE)
    assert site.approved(both) and site.approved(other)
    assert sorted(site.journal()).count("left web1") == 1 and site.journal().count("left web2") == 1
    for name in ("web1", "web2"):
        assert site.machines[name].reported(both)[0] == "scheduled", "both have reported it"
    until(lambda: all(run.ended for run in site.rulebook.runs("web1", "web2") + site.rulebook.runs("db1")))
    (web,), (database,) = site.rulebook.runs("web1", "web2"), site.rulebook.runs("db1")
    assert len(site.rulebook.runs()) == before + 2
    assert not web.failed and not database.failed
    assert max(web.began, database.began) < min(web.ended, database.ended), "neither has waited for the other"
    assert not (tmp_path / "executed").exists(), "text of an event is never a template"


def test_two_events_of_one_scope_one_after_the_other(site, interrupted):
    before = len(site.rulebook.runs("web1", "web2"))
    events = [an_event(site, "web1"), an_event(site, "web2")]
    until(lambda: len([run for run in site.rulebook.runs("web1", "web2")[before:] if run.ended]) == 2, WHOLE)
    first, second = site.rulebook.runs("web1", "web2")[before:]
    assert first.ended < second.began
    assert not first.failed and not second.failed
    assert all(site.approved(event) for event in events)
    assert back(site, "web1", "web2") and site.journal().count("left web2") == 2


def test_a_first_run_that_fails_at_once_has_a_second_chance(site, interrupted):
    """Somebody mends the inventory meanwhile; then a watcher says that its machine could not be prepared."""
    mended = site.folder / "mended"
    site.machines["own1"].prepare_hook(f"until [ -e {mended} ]; do sleep 0.1; done; exit 1")
    site.machines["own2"].prepare_hook("true")
    site.write_inventory(own1={"azure_maintenance_policy": "none"}, own2={"azure_maintenance_policy": "none"})
    event = an_event(
        site, "own1", "own2", notice=200
    )  # less than azure_maintenance_prepare_before: they prepare at once
    until(lambda: [run for run in site.rulebook.runs("own1", "own2") if run.failed])
    assert "prepare_failed" not in site.machines["own1"].reported(event)
    site.write_inventory()
    mended.touch()
    until(lambda: len(site.rulebook.runs("own1", "own2")) == 2)
    assert "prepare_failed" in site.machines["own1"].reported(event)
    until(lambda: site.rulebook.logged(f"(Reboot {event})"))
    site.world.move(event, "cancel")
    until(lambda: site.rulebook.runs("own1", "own2")[1].ended, WHOLE)


def test_a_wrong_signature_is_refused_and_nothing_is_lost(site, interrupted):
    lone, before = site.machines["lone"], len(site.rulebook.runs("lone"))
    lone.give_secret("another")
    event = an_event(site, "lone")
    until(lambda: lone.logged("HTTP 401"))
    assert len(site.rulebook.runs("lone")) == before
    lone.give_secret(SECRET)
    until(lambda: site.approved(event), WHOLE)
    assert len(site.rulebook.runs("lone")) == before + 1


def test_the_schedule_goes_on_where_a_stopped_run_was(site, interrupted):
    """It waits until the stopped run has been silent for two minutes, which the mark then says."""
    event, _reported, scheduled = interrupted
    assert scheduled.poll() is None and site.journal().count("left app1") == 1
    site.let_lease_run_out("app1")
    site.world.move(event, "complete")
    assert scheduled.wait(200) == 0, (site.folder / "scheduled").read_text(encoding="utf-8")[-3000:]
    assert back(site, "app1")
    assert "taken over" in (site.folder / "scheduled").read_text(encoding="utf-8")
