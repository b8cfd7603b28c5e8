# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual time: speed, jumps, and the dates that clients see."""

import emulator_harness  # noqa: F401  pylint: disable=unused-import  # it knows where the emulator is
import pytest
from imds_emulator.journal import Journal
from imds_emulator.model import Vm
from imds_emulator.scenario import Scenario
from imds_emulator.scenario_reader import read_event, read_scenario, read_vm
from imds_emulator.timeline import Clock, Timeline
from imds_emulator.world import World

MARCH = 1772438400.0  # Mon, 02 Mar 2026 08:00:00 GMT


class Watch:
    """Real time as a test sets it."""

    def __init__(self):
        self.seconds = 0.0

    def monotonic(self):
        return 1000 + self.seconds

    def wall(self):
        return MARCH + self.seconds


@pytest.fixture
def watch():
    return Watch()


def a_world(watch, speed=1.0, start=None, **settings):
    timeline = Timeline(Clock(start, speed, watch.monotonic, watch.wall))
    world = World(timeline, Journal(timeline))
    world.load(Scenario(vms=(read_vm({"name": "vm1"}, ""),), settings=settings))
    return world


def shown(world):
    return [event.as_json("rfc1123")["not_before_shown"] for event in world.events.values()]


def inject(world, **keys):
    return world.load(Scenario(events=(read_event(dict({"type": "Reboot", "resources": ["vm1"]}, **keys), "", ""),)))[0]


def test_speed(watch):
    clock = Clock(0.0, 60.0, watch.monotonic, watch.wall)
    watch.seconds = 2
    assert clock.now() == 120
    clock.set_speed(1)
    watch.seconds = 5
    assert clock.now() == 123
    clock.set_speed(0)
    watch.seconds = 100
    assert clock.now() == 123
    clock.advance(7)
    assert clock.now() == 130
    assert clock.real_seconds(60) is None


@pytest.mark.parametrize("speed, expected", [(1, "08:15:00"), (60, "08:00:15"), (0, "08:15:00")])
def test_dates_are_true_for_a_clients_own_clock(watch, speed, expected):
    world = a_world(watch, speed)
    inject(world, notice=900)
    assert shown(world) == [f"Mon, 02 Mar 2026 {expected} GMT"]
    if speed:
        watch.seconds = 900 / speed
        world.timeline.catch_up()
        assert [event.status for event in world.events.values()] == ["Started"]


def test_a_date_after_a_jump_is_true_too(watch):
    world = a_world(watch, 60)
    world.timeline.advance(3600)
    inject(world, notice=600)
    assert shown(world) == ["Mon, 02 Mar 2026 08:00:10 GMT"]


def test_a_date_once_shown_stays(watch):
    world = a_world(watch, 60)
    inject(world, notice=900)
    world.timeline.set_speed(1)
    world.timeline.advance(300)
    assert shown(world) == ["Mon, 02 Mar 2026 08:00:15 GMT"]


def test_virtual_dates(watch):
    world = a_world(watch, 60, start=0.0, not_before_clock="virtual")
    inject(world, notice=900)
    assert shown(world) == ["Thu, 01 Jan 1970 00:15:00 GMT"]


def test_things_happen_in_order_at_their_own_time(watch):
    timeline = Timeline(Clock(0.0, 1.0, watch.monotonic, watch.wall))
    done = []
    timeline.after(10, lambda: done.append(("b", timeline.now())))
    timeline.after(
        5, lambda: (done.append(("a", timeline.now())), timeline.after(1, lambda: done.append(("c", timeline.now()))))
    )
    off = timeline.after(7, lambda: done.append(("off", timeline.now())))
    off.call_off()
    assert timeline.next_due() == 5
    timeline.advance(100)
    assert done == [("a", 5), ("c", 6), ("b", 10)]
    assert timeline.now() == 100 and timeline.next_due() is None


def test_an_action_that_fails_does_not_stop_the_clock(watch):
    timeline = Timeline(Clock(0.0, 1.0, watch.monotonic, watch.wall))
    timeline.after(1, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        timeline.advance(2)
    assert timeline.now() == 2


def test_at_most_so_many_requests_within_any_second():
    vm = Vm(read_vm({"name": "vm1"}, ""), None)
    asked = [0.0, 0.1, 0.2, 0.3, 0.9, 0.95, 1.0, 1.05, 1.11, 1.5]
    assert [vm.may_ask(5, moment) for moment in asked] == [True] * 5 + [False, True, False, True, True]


def test_events_of_one_scenario_have_one_now(watch):
    class Slow(Watch):
        def monotonic(self):
            self.seconds += 0.4
            return super().monotonic()

    world = a_world(Slow(), start=0.0)
    events = world.load(
        read_scenario({"resources": ["vm1"], "events": [{"type": "Terminate", "name": str(n)} for n in range(5)]})
    )
    assert len({event.not_before for event in events}) == 1


def test_old_events_are_forgotten(watch):
    world = a_world(watch)
    for _number in range(1005):
        world.lifecycle.cancel(inject(world))
    keep = inject(world)
    assert len(world.events) == 1001 and keep.id in world.events


def test_the_journal_is_bounded(watch):
    timeline = Timeline(Clock(0.0, 1.0, watch.monotonic, watch.wall))
    journal = Journal(timeline, kept=10)
    for _number in range(25):
        journal.add("x")
    assert [entry["seq"] for entry in journal.entries()] == list(range(16, 26))
