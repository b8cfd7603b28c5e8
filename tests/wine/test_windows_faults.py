# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the guide's table of faults with the watcher as a service: each outage still ends as it should.

Several faults share a service, as each start of one costs seconds under Wine.
"""

import io
import json
import zipfile

from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import until

PREPARED, RECOVERED = "prepare Reboot", "recover Reboot"
QUIET = {"cooldown": 1000}  # it approves nothing before that


def happens(machine, what, times=1):
    until(lambda: machine.happened().count(what) >= times, lambda: f"{what}: {machine.happened()}\n{machine.log()}")


def hooks(machine):
    for phase in ("prepare", "recover"):
        machine.hook(phase)


def prepared(machine, **keys):
    """It is out of service for one more event; its id."""
    event = machine.world.event(**dict({"notice": 280, "tail": 600}, **keys))
    until(lambda: machine.mark().get("phase") == "prepared" and event in machine.mark()["events"], "the preparation")
    return event


def wrong_answers(machine):
    """Each may be the answer to any poll. The redirect leads to a machine that has no event, and the last one is of a document whose number
    begins anew."""
    anew = dict(machine.world.document(machine.name), DocumentIncarnation=0)
    return [
        *(dict(kind="status", status=status) for status in (404, 410, 429, 500, 503)),
        dict(
            kind="redirect",
            location=machine.world.endpoint_of("web16") + "/metadata/scheduledevents?api-version=2020-07-01",
        ),
        *(dict(kind=kind) for kind in ("reset", "empty", "truncated", "html", "control_characters", "hang")),
        dict(kind="body", body='{"DocumentIncarnation": 9, "Events": null}'),
        dict(kind="body", body="{}"),
        dict(kind="body", body=json.dumps(anew)),
    ]


def with_a_lost_id(document):
    (event,) = document["Events"]
    return dict(document, Events=[{key: value for key, value in event.items() if key != "EventId"}])


def test_approvals_and_polls_that_go_wrong(machine):
    hooks(machine)
    machine.start()
    machine.world.fault("status", method="POST", status=500, count=1)
    machine.world.fault("lost_answer", method="POST", count=1)
    event = machine.world.event(notice=280, tail=600)
    happens(machine, "started")
    assert machine.happened().count("started") == 1
    for number, fault in enumerate(wrong_answers(machine)):
        machine.world.fault(method="GET", count=1, skip=2 * number, **fault)  # after a good answer
    until(lambda: not machine.world.faults(), lambda: f"the end of {machine.world.control('GET', '/faults')}", 240)
    lost = with_a_lost_id(machine.world.document(machine.name))
    fault = machine.world.fault(method="GET", kind="body", body=json.dumps(lost))
    happens(machine, "event_unreadable")  # a single answer may never be read: on a slow machine it comes too late
    machine.world.heal(fault)
    until(lambda: machine.published().get("looking") and not machine.published()["problems"], "a good poll")
    assert machine.done() == [PREPARED] and machine.mark()["phase"] == "prepared"
    machine.world.move(event, "complete")
    happens(machine, "recovered")
    assert machine.done() == [PREPARED, RECOVERED] and machine.happened().count("ended") == 1


def test_cancelled_before_in_the_middle_and_after_and_a_recover_hook_that_is_gone(machine):
    machine.write(prepare_before=600, hooks={"recover.d/10-app.cmd": {"limit": 60}}, **QUIET)
    go_on = machine.waiting_hook("prepare")
    recover = machine.hook("recover")
    machine.start()
    early = machine.world.event(notice=3600)
    happens(machine, "scheduled")
    machine.world.move(early, "cancel")
    happens(machine, "ended")
    assert machine.done() == []

    middle = machine.world.event(notice=500)
    until(machine.done, "the begin of the hook")
    machine.world.move(middle, "cancel")
    happens(machine, "ended", 2)
    go_on.write_text("")
    happens(machine, "recovered")
    assert machine.done() == [PREPARED, RECOVERED]

    late = prepared(machine, notice=500)
    text = recover.read_text()
    recover.unlink()
    machine.world.move(late, "cancel")
    happens(machine, "recovery_failed")
    assert machine.mark()["phase"] == "half" and machine.done() == [PREPARED, RECOVERED, PREPARED]
    recover.write_text(text)
    happens(machine, "recovered", 2)
    assert machine.done() == [PREPARED, RECOVERED] * 2 and not machine.mark()


def noting(machine):
    """A drain step, as the role checks it, that writes down each time that it is done."""

    def note(word):
        return {"argv": ["cmd.exe", "/c", f"echo {word}>>{machine.folder / 'steps'}"]}

    words = {"does": "note it", "undoes": "note that it is back", "timeout": 20.0, "undo_timeout": 20.0}
    options = {"do": note("do"), "undo": note("undo"), "environment": {}, "ok_codes": [0], "no_log": False}
    return dict(words, **options, type="command", key="command note", number=1, name="note", elsewhere=False)


def steps(machine):
    return (machine.folder / "steps").read_text().split()


def test_the_power_is_cut_again_and_again(machine):
    """In the middle of a prepare hook; when it is prepared, by nobody's event and by its own; in the middle of a recover hook."""
    machine.write(
        steps=[noting(machine)], hook_limit=60, **QUIET
    )  # what has failed is undone as long as there is time for that
    hooks(machine)
    machine.start()
    event = prepared(machine)
    machine.cut_power()
    machine.start()
    until(lambda: steps(machine) == ["do", "do"], "the step that is done again")
    until(lambda: machine.mark()["phase"] == "prepared", "the preparation")
    machine.world.move(event, "approve")  # by somebody else
    happens(machine, "started")
    machine.cut_power()
    machine.world.fault("delay", method="GET", delay=11, count=1)  # others are given ten seconds
    machine.start()
    until(lambda: not machine.world.faults() and machine.published().get("looking"), "the first answer")
    assert steps(machine) == ["do", "do"] and machine.done() == [PREPARED]
    go_on = machine.waiting_hook("recover")
    machine.world.move(event, "complete")
    until(lambda: RECOVERED in machine.done(), "the begin of the recover hook")
    machine.cut_power()
    go_on.write_text("")
    machine.start()
    happens(machine, "recovered")
    assert machine.done() == [PREPARED, RECOVERED, RECOVERED] and steps(machine) == ["do", "do", "undo"]

    machine.waiting_hook("prepare")
    machine.world.event(notice=280)
    until(lambda: machine.done().count(PREPARED) == 2, "the begin of the hook")
    machine.cut_power()
    machine.start()
    happens(machine, "recovered", 2)
    assert machine.done().count(PREPARED) == 2 and machine.happened().count("prepare_failed") == 1
    assert not [post for post in machine.world.journal("post") if post["requests"][0]["event_id"] == event]


def test_a_preempt_in_the_middle_of_a_recovery(machine):
    machine.write(approve="never")
    hooks(machine)
    machine.start()
    event = prepared(machine)
    go_on = machine.waiting_hook("recover")
    machine.world.move(event, "cancel")
    until(lambda: RECOVERED in machine.done(), "the begin of the recover hook")
    preempt = prepared(machine, type="Preempt")
    happens(machine, "recovery_interrupted")
    assert machine.done() == [PREPARED, RECOVERED, "prepare Preempt"]
    go_on.write_text("")
    machine.world.move(preempt, "cancel")
    happens(machine, "recovered")
    assert machine.done()[3:] == [RECOVERED] and "recovery_failed" not in machine.happened()


def is_removed(path):
    """Whether a file could be removed, which on Windows it can't be while somebody reads it."""
    try:
        path.unlink()
    except PermissionError:
        return False
    return True


def test_what_it_keeps_is_damaged_and_the_machine_is_cloned(machine):
    machine.write(**QUIET)
    hooks(machine)
    machine.state.mkdir()
    mark = machine.state / "mark.json"
    mark.write_text("{")
    machine.start()
    machine.world.event(notice=280)
    happens(machine, "degraded")
    until(lambda: machine.does("has an unreadable mark"), "what it says of the mark")
    assert machine.done() == [] and mark.read_text() == "{"
    until(lambda: is_removed(mark), "that the program does not read its mark")
    until(lambda: machine.mark().get("phase") == "prepared", "the preparation")
    machine.kill()
    kept = [machine.folder / "run" / "remembered.json", machine.state / "orders" / "20260101T000000Z-1"]
    for path in [*kept, *(machine.state / name for name in ("watcher.json", "reserve", "watcher.lock"))]:
        path.write_bytes(b'\xff{"format"')
    machine.start()
    assert machine.mark()["phase"] == "prepared" and machine.done() == [PREPARED]

    machine.cut_power()
    machine.write(endpoint=machine.world.endpoint_of("web15"), **QUIET)  # another VM's disk
    machine.start()
    happens(machine, "clone_detected")
    until(lambda: machine.does("watching"), "what it does then")
    assert (machine.state / "aside" / "mark.json").exists() and machine.done() == [PREPARED]


def other_version(program):
    """The same program, which says that it is another version."""
    found = io.BytesIO()
    with zipfile.ZipFile(program) as old, zipfile.ZipFile(found, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "__main__.py":
                head, call, rest = content.decode().partition("main(")
                content = f"{head}{call}'99.0.0',{rest.partition(',')[2]}".encode()
            new.writestr(name, content)
    return found.getvalue()


def test_upgraded_and_downgraded_in_the_middle_of_hooks(machine, program):
    machine.write(**QUIET)
    go_on = [machine.waiting_hook(phase) for phase in ("prepare", "recover")]
    machine.start()
    event = machine.world.event(notice=280)
    until(machine.done, "the begin of the hook")
    machine.stop()
    this_version = program.read_bytes()
    program.write_bytes(other_version(program))
    machine.start()
    until(lambda: machine.published()["version"] == "99.0.0", "the other version")
    go_on[0].write_text("")
    until(lambda: machine.mark()["phase"] == "prepared", "the preparation")
    machine.world.move(event, "cancel")
    until(lambda: RECOVERED in machine.done(), "the begin of the recover hook")
    machine.stop()
    program.write_bytes(this_version)
    machine.start()
    go_on[1].write_text("")
    happens(machine, "recovered")
    assert machine.done() == [PREPARED, RECOVERED] and machine.published()["version"] != "99.0.0"
