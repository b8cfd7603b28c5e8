# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine in a tick: it answers as a Linux machine does whose steps are carried out elsewhere."""

import base64
import json

import pytest
from ansible.errors import AnsibleConnectionFailure
from pypsrp.exceptions import WinRMError
from winrm.exceptions import WinRMTransportError, WSManFaultError

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import is_expired
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import Answer, Transport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    SuppressedEvents,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.calls import limit, perform_on_windows
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import POWERSHELL, TOO_LATE
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine import acting
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import document, event
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.played import (
    PlayedMachine,
)

ENDPOINT = "http://imds.test"
HELLO = {"do": "hello"}
LOOK = {"do": "look", "wait": 0, "since": None}
APPROVE = {"do": "approve", "ids": ["ID-1"], "prepared": ["web1"], "allow_unknown": []}
# What look.ps1 reads of each: a key that is not there can't be read alike in all PowerShells.
KEYS = {
    "http": {
        "Method",
        "Url",
        "Headers",
        "Body",
        "TimeoutMs",
        "MaxBytes",
        "Known",
        "IntervalMs",
        "LimitMs",
        "FromMs",
        "UntilMs",
    },
    "read": {"Path"},
    "edit": {"Path", "Known", "Compare", "Body", "FromMs", "UntilMs"},
    "folder": {"Path"},
    "trust": {"Path"},
    "script": {"Text", "Parameters"},
    "boot": set(),
}
KEYS = {do: keys | {"Do", "Stop", "Expect"} for do, keys in KEYS.items()}
TAKES = 0.1  # seconds of each exchange with it
SERVICE = "service W3SVC"
STEPS = (acting.step("W3SVC", "service", elsewhere=True), acting.step("t.yml", "tasks", elsewhere=True))


class Service:
    """A metadata service: one event, which starts when it is approved."""

    def __init__(self):
        self.document = document(2, event("ID-1", resources=["web1"]))
        self.leaves = {"name": b"web1", "placementGroupId": b"group", "vmId": b"vm-id", "priority": b"Spot"}
        self.status = 200
        self.asked = []
        self.changes = []  # documents to come, one a look

    def answer(self, method, url, body=b""):
        self.asked.append(f"{method} {url.split('?')[0].rpartition('/')[2]}")
        if self.status != 200:
            return self.status, b""
        if method == "POST":
            self.document = document(3, event("ID-1", status="Started", resources=["web1"]))
            return 200, b""
        leaf = self.asked[-1].split()[1]
        if leaf in self.leaves:
            return 200, self.leaves[leaf]
        if self.changes:
            self.document = self.changes.pop(0)
        return 200, self.document


class ServiceTransport(Transport):
    """The way of a Linux machine to the service."""

    def __init__(self, service, clock):
        super().__init__(clock)
        self.service = service

    def get(self, url, headers, timeout):
        status, body = self.service.answer("GET", url)
        return Answer(status, {"content-length": str(len(body))}, body)

    def post(self, url, headers, body, timeout):
        return Answer(self.service.answer("POST", url, body)[0], {"content-length": "0"}, b"")


class Linux(acting.Machine):
    def __init__(self, folder, *steps):
        super().__init__(folder, *steps)
        self.service = Service()
        self.transport = ServiceTransport(self.service, self.clock)


class Windows(acting.Machine):
    """The same machine, with Windows. exchanges: what each had look.ps1 do"""

    takes = 0.0

    def __init__(self, folder, *steps):
        super().__init__(folder, *steps)
        self.service = Service()
        self.played = PlayedMachine(folder, exchange=self.exchange, now=self.clock.now, sleep=self.clock.sleep)
        self.booted = "2025-12-31T23:00:00"
        self.up_before = 3600.0  # seconds before the clock's beginning
        self.exchanges = []
        self.requests = []  # all of them
        self.before = {}  # what happens before the first exchange that has such a request

    def exchange(self, request):
        body = base64.b64decode(request["Body"])
        status, content = self.service.answer(request["Method"], request["Url"], body)
        headers = {"content-length": str(len(content))}
        return {"status": status, "headers": headers, "body": base64.b64encode(content).decode()}

    def execute(self, module, arguments):
        assert module == POWERSHELL
        requests = arguments["parameters"]["Requests"]
        self.requests += requests
        for request in requests:
            assert json.loads(json.dumps(request)) == request
            assert set(request) == KEYS[request["Do"]]
        asked = [request["Do"] if request["Do"] != "http" else request["Method"] for request in requests]
        self.exchanges.append(asked)
        self.clock.elapsed += self.takes
        for what in asked:
            self.before.pop(what, lambda: None)()
        self.played.boot = (self.booted, int(1000 * (self.clock.elapsed + self.up_before)))
        return {"result": self.played.result(requests)}

    def perform(self, call):
        self.exchanges.clear()
        self.requests.clear()
        return perform_on_windows("win1", self.execute, call, self.clock)

    def call(self, *requests, **options):
        self.number += 1
        given = {
            "run": "run-1",
            "number": self.number,
            "holder": {"kind": "run", "run": "run-1", "job": "", "controller": "ctl1"},
            "endpoint": ENDPOINT,
        }
        given.update(options)
        return self.perform({"requests": list(requests), "options": given, "steps": self.steps})

    @property
    def file(self):
        return self.played.path("%ProgramData%\\AzureMaintenance\\mark.json")

    def mark(self):
        return json.loads(self.file.read_text()) if self.file.exists() else None


@pytest.fixture
def machine(tmp_path):
    made = Windows(tmp_path, *STEPS)
    made.takes = TAKES
    return made


# --- the same as on Linux ---


def without_times(value):
    """An answer without what depends on the machine's clock, the names of its boot and its disk, and when its mark was last renewed."""
    if isinstance(value, dict):
        left = {
            "lease",
            "boot_id",
            "disk",
            "uptime",
            "began",
            "took",
            "age",
            "elapsed",
            "notice",
            "number",
            "renewed",
        }
        return {key: without_times(inner) for key, inner in value.items() if key not in left}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def go(to="prepared", **more):
    return dict({"do": "go", "to": to, "events": ["ID-1"], "left": 600.0, "lease": 120.0}, **more)


OUTCOMES = {SERVICE: {"state": "done", "note": "", "seconds": 2.0}}
OTHERS = {"run": "run-2", "holder": {"kind": "run", "run": "run-2", "job": "", "controller": "ctl2"}}
LIVES = {
    "prepared, approved and recovered": [
        ([HELLO, LOOK], {}),
        ([LOOK, go()], {}),
        ([LOOK, go(before={SERVICE: {"ran": True}})], {}),
        ([LOOK, go()], {}),
        ([LOOK, go(outcomes=OUTCOMES)], {}),
        ([go(outcomes={"tasks t.yml": {"state": "done"}})], {}),
        ([APPROVE], {}),
        ([LOOK], {}),
        ([LOOK, go("recovered")], {}),
        ([go("recovered", outcomes={"tasks t.yml": {"state": "done", "direction": "undo"}})], {}),
        ([go("recovered", outcomes={SERVICE: {"state": "done", "direction": "undo"}})], {}),
        ([LOOK], {}),
    ],
    "a step fails": [
        ([go(before={SERVICE: {"ran": True}})], {}),
        ([go(outcomes={SERVICE: {"state": "failed", "note": "it hangs"}})], {}),
        ([go("recovered")], {}),
    ],
    "nothing to do": [([go("recovered")], {}), ([go("recovered", unmarked=True)], {})],
    "another run holds it": [
        ([go(before={SERVICE: {"ran": True}})], {}),
        ([LOOK, go()], OTHERS),
        ([go(take="run-1")], OTHERS),
        ([APPROVE], OTHERS),
        ([go("recovered")], {}),
    ],
    "an earlier call comes late": [
        ([go(before={SERVICE: {"ran": True}})], {"number": 5}),
        ([go(outcomes=OUTCOMES)], {"number": 5}),
        ([APPROVE], {"number": 4}),
    ],
    "a person says yes": [
        ([{"do": "yes", "event": "ID-1", "by": "me"}], {"run": ""}),
        ([{"do": "yes", "event": "ID-2", "by": "me"}, {"do": "no_yes", "event": "ID-1"}], {"run": ""}),
        ([LOOK], {}),
        ([{"do": "take_off"}], {}),
        ([LOOK], {}),
    ],
    "it is a copy of the machine on which its mark was made": [
        ([go(before={SERVICE: {"ran": True}})], {"vm_id": "vm-a"}),
        ([{"do": "yes", "event": "ID-1", "by": "me"}], {"run": ""}),
        ([{"do": "put_aside", "vm_id": "vm-a"}], {"run": ""}),
        ([{"do": "put_aside", "vm_id": "vm-b"}], {"run": ""}),
        ([LOOK], {}),
    ],
    "its run lets go of it": [
        ([go(before={SERVICE: {"ran": True}})], {}),
        ([go(outcomes=OUTCOMES)], {}),
        ([{"do": "release"}], OTHERS),
        ([{"do": "release"}], {}),
        ([go(take="run-1")], OTHERS),
    ],
    "requests that are wrong": [([{"do": "fly"}, LOOK], {}), ([LOOK], {"endpoint": "ftp://imds.test"})],
}


@pytest.mark.parametrize("life", LIVES)
def test_it_answers_as_a_linux_machine_does_whose_steps_are_carried_out_elsewhere(tmp_path, life):
    linux, windows = Linux(tmp_path / "linux", *STEPS), Windows(tmp_path / "windows", *STEPS)
    for requests, options in LIVES[life]:
        mine, theirs = (without_times(machine.call(*requests, **options)) for machine in (linux, windows))
        text = json.dumps(theirs).replace("%ProgramData%\\\\AzureMaintenance\\\\", f"{linux.folder}/")
        assert json.loads(text) == mine
        assert linux.mark() is None or without_times(linux.mark()) == without_times(windows.mark())


# --- what it costs ---


def test_its_limit_leaves_time_for_a_slow_start_of_powershell():
    assert limit([LOOK]) == 60 and limit([{"do": "look", "wait": 30}]) == 90
    assert limit([LOOK], 100.0) == 100 and limit([{"do": "look", "wait": 30}], 100.0) == 130


STATE = ["trust", "folder", "read", "read", "read", "read"]


def test_who_it_is_and_what_it_sees(machine):
    machine.played.boot_id = "boot-1"
    answer = machine.call(HELLO, LOOK)
    assert machine.exchanges == [["boot"], STATE, *[["GET"]] * 6, STATE[:-1]]
    assert answer["answers"][0] == {
        "resource_name": "web1",
        "placement_group": "group",
        "vm_id": "vm-id",
        "priority": "Spot",
        "problem": "",
    }
    assert [shown["id"] for shown in answer["answers"][1]["events"]] == ["ID-1"]
    assert (answer["mark"], answer["yes"], answer["lost"]) == (None, [], "")


def test_every_answer_says_which_disk_it_is(machine):
    marks = go(before={SERVICE: {"ran": True}})
    assert [machine.call(request)["disk"] for request in (LOOK, marks, LOOK)] == ["", "17", "17"]


def test_an_approval_is_sent_only_with_the_mark_as_it_was_read(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    (approve,) = machine.call(APPROVE)["answers"]
    assert ["read", "POST"] in machine.exchanges
    assert approve["approved"] == ["ID-1"]
    assert approve["look"]["events"][0]["status"] == "Started"


def test_a_machine_without_a_mark_approves_as_long_as_it_has_none(machine):
    assert machine.call(APPROVE)["answers"][0]["approved"] == ["ID-1"]
    assert ["read", "POST"] in machine.exchanges
    assert not machine.file.parent.exists()


@pytest.mark.parametrize("cut_at, unsent", [("boot", True), ("POST", False)])
def test_a_call_that_was_lost_before_the_approval_has_not_sent_it(machine, cut_at, unsent):
    def cut():
        raise AnsibleConnectionFailure("connection refused")

    machine.before[cut_at] = cut
    answer = machine.call(APPROVE)
    assert answer["lost"].startswith("Nothing listens") and answer["unsent"] is unsent


def test_a_long_wait_is_asked_for_a_minute_at_a_time(machine):
    (look,) = machine.call({"do": "look", "wait": 150, "since": 2}, seconds=200)["answers"]
    waits = [request["LimitMs"] for request in machine.requests if request.get("LimitMs")]
    assert waits[:2] == [60000, 60000] and len(waits) == 3 and look["failure"]["kind"] == "timeout"


def test_a_wait_for_a_change_that_came_ends_at_once(machine):
    (look,) = machine.call({"do": "look", "wait": 60, "since": 1}, seconds=85)["answers"]
    assert look["incarnation"] == 2 and not any(request.get("LimitMs") for request in machine.requests)


def test_what_happens_in_a_wait_is_heard_after_it(machine):
    """A person has said something, and another run has taken the machine."""
    machine.call(go(before={SERVICE: {"ran": True}}))
    person, happened = Windows(machine.folder), []

    def happens():
        if any(request.get("LimitMs") for request in machine.requests[-1:]):
            overtake(machine)()
            says(machine, "hold.json", reason="a release", by="me", until=None, vm_id="")
            happened.append(person.mark())
        else:
            machine.before["GET"] = happens

    machine.before["GET"] = happens
    answer = machine.call({"do": "look", "wait": 30, "since": 2}, seconds=60)
    assert happened and answer["mark"]["holder"]["run"] == "run-2" and answer["hold"]["reason"] == "a release"


def test_a_longer_lease_is_written(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.call(go(lease=900.0))
    lease = machine.mark()["lease"]
    assert lease["until"] - lease["uptime"] == pytest.approx(900.0)


# --- others in between ---


def overtake(machine, run="run-2"):
    def happens():
        mark = machine.mark()
        mark.update(number=mark["number"] + 1, holder=dict(mark["holder"], run=run))
        machine.file.write_text(json.dumps(mark))

    return happens


def test_an_approval_that_was_overtaken_is_not_sent(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.before["POST"] = overtake(machine)
    answer = machine.call(APPROVE)
    assert "POST scheduledevents" not in machine.service.asked
    (approve,) = answer["answers"]
    assert approve["approved"] == [] and approve["failure"] is None
    assert [entry["reason"] for entry in approve["not_approved"]] == ["fenced"]
    assert "by run run-2" in answer["fenced"]
    assert answer["mark"]["holder"]["run"] == "run-2"


def test_a_mark_that_appears_keeps_an_approver_from_approving(machine):
    def happens():
        machine.file.parent.mkdir(parents=True)
        machine.file.write_text("{")

    machine.before["POST"] = happens
    answer = machine.call(APPROVE)
    assert "POST scheduledevents" not in machine.service.asked
    assert answer["answers"][0]["not_approved"][0]["reason"] == "fenced"


def test_a_reboot_within_a_call_ends_what_it_may_change(machine):
    """Its service runs again."""
    machine.call(go(before={SERVICE: {"ran": True}}))
    clock_ms = machine.played._clock_ms
    machine.before["POST"] = lambda: setattr(machine.played, "_clock_ms", lambda: 5000)
    (approve,) = machine.call(APPROVE)["answers"]
    assert approve["approved"] == [] and "POST scheduledevents" not in machine.service.asked
    machine.played._clock_ms = clock_ms


# --- what comes when nobody waits for it any more ---


def slow(machine, seconds):
    """What happens before an exchange: it hangs for so long."""

    def happens():
        machine.clock.elapsed += seconds

    return happens


LATE = f"{TOO_LATE}."


def test_what_may_change_something_says_between_which_moments_of_the_machine(machine):
    for requests in ([go(before={SERVICE: {"ran": True}})], [APPROVE]):
        machine.call(*requests, seconds=20.0)
        limits = {(one["FromMs"], one["UntilMs"]) for one in machine.requests if one.get("UntilMs")}
        ((since, until),) = limits
        assert 19000 <= until - since <= 20000
    assert {one["Do"] for one in machine.requests if one.get("UntilMs")} == {"edit", "http"}


def test_a_first_mark_that_comes_too_late_is_not_made(machine):
    machine.before["edit"] = slow(machine, 70.0)
    answer = machine.call(go(before={SERVICE: {"ran": True}}))
    (went,) = answer["answers"]
    assert (went["state"], went["why"], went["steps"]) == ("skipped", LATE, [])
    assert answer["elsewhere"] is None and answer["mark"] is None and machine.mark() is None
    assert machine.call(go(before={SERVICE: {"ran": True}}))["elsewhere"]["begun"]


@pytest.mark.parametrize("bears_mark", [False, True])
def test_an_approval_that_comes_too_late_is_not_sent(machine, bears_mark):
    if bears_mark:
        machine.call(go(before={SERVICE: {"ran": True}}))
    machine.before["POST"] = slow(machine, 70.0)
    (approve,) = machine.call(APPROVE)["answers"]
    assert "POST scheduledevents" not in machine.service.asked
    assert approve["approved"] == [] and approve["failure"] is None
    assert [(entry["id"], entry["message"]) for entry in approve["not_approved"]] == [("ID-1", LATE)]


def test_a_yes_that_comes_too_late_is_none(machine):
    machine.before["edit"] = slow(machine, 70.0)
    answer = machine.call({"do": "yes", "event": "ID-1", "by": "me"}, run="")
    assert answer["answers"] == [{"problem": LATE}]
    assert machine.call(LOOK)["yes"] == []


def test_nothing_is_begun_where_the_start_of_powershell_took_all_of_the_time(machine):
    machine.before["boot"] = slow(machine, 25.0)
    answer = machine.call(go(before={SERVICE: {"ran": True}}), seconds=20.0)
    assert answer["answers"][0]["state"] == "skipped" and "comes too late" in answer["answers"][0]["why"]
    assert ["edit"] not in machine.exchanges


def test_what_it_takes_to_ask_is_no_time_for_a_step(machine):
    """What is left of it is told to those who begin it when they can."""
    machine.before["edit"] = slow(machine, 2.0)
    answer = machine.call(go(before={SERVICE: {"ran": True}}, left=30.0))
    assert answer["elsewhere"]["begins"] == answer["answers"][0]["elsewhere"]["begins"] < 30.0 - 2.0


def test_a_machine_that_does_not_show_its_clock(machine):
    machine.played._clock_ms = lambda: None
    assert "can't be determined" in machine.call(LOOK)["lost"]


def test_a_change_that_was_overtaken_is_none_and_hands_out_nothing(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.before["edit"] = overtake(machine)
    answer = machine.call(go(outcomes=OUTCOMES))
    assert answer["answers"][0]["state"] == "refused"
    assert "by run run-2" in answer["answers"][0]["why"]
    assert answer["elsewhere"] is None and answer["ask"] == []
    assert machine.mark()["steps"][0]["state"] == "begun"


def test_two_first_marks_are_one(machine):
    machine.before["edit"] = lambda: (machine.file.parent.mkdir(parents=True), machine.file.write_text("not JSON"))
    answer = machine.call(go(before={SERVICE: {"ran": True}}))
    assert answer["answers"][0]["state"] == "refused"
    assert answer["elsewhere"] is None
    assert machine.file.read_text() == "not JSON"


def test_what_can_not_be_written_is_not_begun(machine):
    (machine.folder / "ProgramData").write_text("in the way")
    answer = machine.call(LOOK, go(before={SERVICE: {"ran": True}}))
    look, went = answer["answers"]
    assert went["state"] == "failed" and answer["elsewhere"] is None
    assert "can't be written" in went["why"] and "azure_maintenance_folder" in went["why"]
    assert look["events"]


# --- what somebody else has open: busy is not failed ---


def test_a_mark_that_is_in_use_can_not_be_written_now_and_is_tried_again(machine):
    machine.played.busy = {"lock"}
    answer = machine.call(LOOK, go(before={SERVICE: {"ran": True}}))
    look, went = answer["answers"]
    assert went["state"] == "preparing" and answer["elsewhere"] is None and answer["mark"] is None
    assert "is in use by another program" in went["why"] and "the next call tries again" in went["why"]
    assert look["events"]
    machine.played.busy = set()
    assert machine.call(go(before={SERVICE: {"ran": True}}))["elsewhere"]["begun"]


@pytest.mark.parametrize("bears_mark", [False, True])
def test_no_approval_is_sent_while_the_mark_is_in_use(machine, bears_mark):
    if bears_mark:
        machine.call(go(before={SERVICE: {"ran": True}}))
    machine.before["POST"] = lambda: machine.played.busy.update({"lock", "mark.json"})
    (approve,) = machine.call(APPROVE)["answers"]
    assert "POST scheduledevents" not in machine.service.asked
    assert approve["approved"] == [] and approve["failure"] is None
    assert "the next call tries again" in approve["not_approved"][0]["message"]
    machine.played.busy = set()
    assert machine.call(APPROVE)["answers"][0]["approved"] == ["ID-1"]


@pytest.mark.parametrize("name", ["mark.json", "yes", "watcher.json"])
def test_what_can_not_be_read_because_it_is_in_use_is_asked_for_again(machine, name):
    """It is neither a mark that nobody understands, nor none."""
    machine.played.busy = {name}
    answer = machine.call(LOOK, go())
    assert answer["answers"] is None and "is in use by another program" in answer["lost"]


def test_a_mark_that_can_not_be_understood_is_somebodys(machine):
    machine.file.parent.mkdir(parents=True)
    machine.file.write_text('{"format": 99}')
    answer = machine.call(LOOK, go(), APPROVE)
    assert "format 99" in answer["mark"]["unreadable"]
    assert answer["answers"][1]["state"] == "refused"
    assert answer["answers"][2]["approved"] == []
    assert machine.file.read_text() == '{"format": 99}'


def test_what_is_put_aside_is_kept(machine):
    machine.call(go(before={SERVICE: {"ran": True}}), vm_id="vm-a")
    content = machine.file.read_text()
    machine.call({"do": "put_aside", "vm_id": "vm-b"}, run="")
    assert not machine.file.exists() and (machine.file.parent / "aside.json").read_text() == content


def test_a_mark_that_can_not_be_understood_can_be_taken_off(machine):
    machine.call({"do": "yes", "event": "ID-1", "by": "me"}, run="")
    machine.file.write_text("not JSON")
    answer = machine.call({"do": "take_off"})
    assert (answer["answers"], answer["mark"], answer["yes"]) == ([{}], None, [])
    assert not machine.file.exists()


# --- a folder that others may write to ---

OTHERS_FOLDER = {"sddl": "O:BAD:AI(A;OICIID;FA;;;BA)(A;CIID;DCLCRPCR;;;BU)", "link": False, "user": ""}


def test_nothing_in_a_folder_that_users_may_write_to_counts_and_nothing_is_written_there(machine):
    machine.call({"do": "yes", "event": "ID-1", "by": "me"}, run="")
    machine.played.trust = OTHERS_FOLDER
    answer = machine.call(LOOK, go(before={SERVICE: {"ran": True}}), APPROVE)
    look, went, approve = answer["answers"]
    assert look["events"] and answer["yes"] == []
    assert went["state"] == "refused" and approve["approved"] == [] and answer["elsewhere"] is None
    assert "Users (BU) may write there" in went["why"] and "icacls" in went["why"] and "Remove it" in went["why"]
    assert "POST scheduledevents" not in machine.service.asked and not machine.file.exists()


@pytest.mark.parametrize(
    "request_", [{"do": "yes", "event": "ID-2", "by": "me"}, {"do": "put_back", "events": ["ID-1"]}, {"do": "take_off"}]
)
def test_nor_is_what_a_person_says_written_there(machine, request_):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.played.trust = OTHERS_FOLDER
    answer = machine.call(request_, run="")
    assert "may write there" in answer["answers"][0]["problem"]
    assert machine.file.exists() and not list(machine.file.parent.glob("yes/*"))


def test_a_folder_whose_access_list_can_not_be_read_is_not_used(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.played.trust = {"failure": "Unknown", "message": "Access is denied", "part": "trust"}
    answer = machine.call(LOOK)
    assert "can't be determined (Access is denied)" in answer["mark"]["unreadable"]


# --- a watcher of its own ---


def says(machine, name, **what):
    machine.file.parent.mkdir(parents=True, exist_ok=True)
    (machine.file.parent / name).write_text(json.dumps(dict(what, format=1)))


@pytest.mark.parametrize("boot, alive", [("boot-1", True), ("boot-0", False)])
def test_what_a_watcher_says_of_itself_is_passed_on(machine, boot, alive):
    machine.played.boot_id = "boot-1"
    says(machine, "watcher.json", uptime=machine.up_before, boot_id=boot, mode="manage", version="1.0", steps=[])
    answer = machine.call(LOOK)
    assert answer["watcher"]["alive"] is alive and answer["watcher"]["mode"] == "manage"
    assert len(answer["watcher"]["lacks"]) == len(STEPS)


def test_a_machine_without_a_watcher_says_nothing_of_one(machine):
    answer = machine.call(LOOK)
    assert answer["watcher"] is None and answer["hold"] is None
    says(machine, "watcher.json")
    (machine.file.parent / "watcher.json").write_text("{")
    assert machine.call(LOOK)["watcher"] is None


def test_a_hold_is_passed_on_also_one_that_can_not_be_read(machine):
    says(machine, "hold.json", reason="a release", by="me", until=None, vm_id="")
    assert machine.call(LOOK)["hold"]["reason"] == "a release"
    says(machine, "hold.json", reason="over", by="me", until=1.0, vm_id="")
    assert machine.call(LOOK)["hold"] is None
    machine.played.busy = {"hold.json"}
    assert "can't be read" in machine.call(LOOK)["hold"]["reason"]


def test_a_watchers_lease_is_not_taken_for_expired(machine):
    """It goes by the same id of the boot as look.ps1."""
    machine.played.boot_id = "boot-1"
    machine.call(go(before={SERVICE: {"ran": True}}))
    mark = machine.mark()
    mark["holder"] = {"kind": "watcher", "run": "watcher", "job": "", "controller": "win1"}
    machine.file.write_text(json.dumps(mark))
    for boot, expired in (("boot-1", False), ("boot-2", True)):
        machine.played.boot_id = boot
        answer = machine.call(LOOK, **OTHERS)
        assert is_expired(answer["mark"]["lease"], Moment(0.0, answer["uptime"], answer["boot_id"])) is expired


# --- clocks ---


def test_a_clock_that_was_set_is_no_other_boot(machine):
    """Windows works the moment of its boot out from the time of day."""
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.booted = "2025-12-31T23:00:14"
    answer = machine.call(LOOK, go(), **OTHERS)
    assert "taken to be alive" in answer["answers"][1]["why"]
    assert answer["boot_id"] == "2025-12-31T23:00:00"


def test_a_reboot_is_another_boot_and_ends_the_lease(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.booted = "2026-01-01T01:00:00"
    answer = machine.call(go(take="run-1"), **OTHERS)
    assert answer["boot_id"] == "2026-01-01T01:00:00"
    assert answer["answers"][0]["state"] == "preparing"


def test_two_boots_within_a_minute_are_two(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.booted, machine.up_before = "2025-12-31T23:00:50", 5.0 - machine.clock.elapsed
    assert machine.call(LOOK)["boot_id"] == machine.booted


def test_two_boots_within_two_minutes_are_two_though_the_machine_was_not_reached_for_long(machine):
    """Else it would pass for prepared, and the second start has brought its services back."""
    machine.booted, machine.up_before = "2025-12-31T23:00:00", 10.0 - machine.clock.elapsed
    machine.call(go(before={SERVICE: {"ran": True}}))
    lease = machine.mark()["lease"]
    machine.clock.sleep(60)
    machine.booted, machine.up_before = "2025-12-31T23:00:49", 30.0 - machine.clock.elapsed
    answer = machine.call(LOOK)
    assert answer["uptime"] > lease["uptime"] and answer["boot_id"] == machine.booted


@pytest.mark.parametrize("seconds", [0, 40, 119])
def test_boots_are_told_apart_by_their_id_however_soon_one_follows_the_other(machine, seconds):
    machine.played.boot_id, machine.up_before = "boot-1", 10.0 - machine.clock.elapsed
    machine.call(go(before={SERVICE: {"ran": True}}))
    lease = machine.mark()["lease"]
    machine.played.boot_id, machine.booted = "boot-2", f"2025-12-31T23:{seconds // 60:02}:{seconds % 60:02}"
    answer = machine.call(go(take="run-1"), **OTHERS)
    assert (lease["boot_id"], answer["boot_id"]) == ("boot-1", "boot-2")
    assert answer["uptime"] > lease["uptime"] and answer["answers"][0]["state"] == "preparing"


def test_a_boot_with_an_id_is_the_same_whatever_the_clock_is_set_to(machine):
    machine.played.boot_id = "boot-1"
    machine.call(go(before={SERVICE: {"ran": True}}))
    machine.booted = "2026-02-01T01:00:00"
    answer = machine.call(LOOK, go(), **OTHERS)
    assert "taken to be alive" in answer["answers"][1]["why"] and answer["boot_id"] == "boot-1"


@pytest.mark.parametrize("ahead, notice", [("23:00:00", 899), ("23:03:00", 719), ("22:57:00", 1079)])
def test_the_notice_is_reckoned_by_the_clock_of_the_machine(machine, ahead, notice):
    """As on Linux machines, and as the check of a controller says: it may be set wrong where the machine is not."""
    machine.booted = f"2025-12-31T{ahead}"
    (look,) = machine.call(LOOK)["answers"]
    assert look["events"][0]["notice"] == notice


def test_the_notice_of_a_machine_whose_moment_of_boot_is_in_other_words_is_reckoned_by_the_controller(machine):
    machine.booted, machine.played.boot_id = "01.01.2026 00:00", "boot-1"
    (look,) = machine.call(LOOK)["answers"]
    assert look["events"][0]["notice"] == 899


# --- what is lost ---


def test_a_connection_that_fails_is_lost_and_not_tried_again(machine):
    def fails():
        raise AnsibleConnectionFailure("timed out")

    machine.before["boot"] = fails
    answer = machine.call(LOOK, go())
    assert "did not answer in time" in answer["lost"]
    assert answer["answers"] is None and len(machine.exchanges) == 1


def test_a_connection_that_fails_on_the_way_is_lost(machine):
    def fails():
        raise AnsibleConnectionFailure("Connection reset")

    for what, requests in (("POST", [APPROVE, LOOK, LOOK]), ("edit", [go(before={SERVICE: {"ran": True}})])):
        machine.before[what] = fails
        answer = machine.call(*requests)
        assert "connection was cut" in answer["lost"]
        assert what in machine.exchanges[-1]


@pytest.mark.parametrize(
    "error, words",
    [
        (
            WSManFaultError(500, "Bad HTTP response", "", "The WinRM Shell client cannot process it"),
            "cannot process it",
        ),
        (WinRMTransportError("http", 503, ""), "WinRM on the machine failed"),
        (WinRMError("The runspace is broken"), "WinRMError: The runspace is broken"),
    ],
)
def test_errors_that_winrm_and_psrp_let_through_are_connections_that_fail(machine, error, words):
    """They are of no class of Ansible's. An error of the task would take the machine out of the play, and nobody would recover it."""

    def fails():
        raise error

    for what in ("boot", "edit"):
        machine.before[what] = fails
        answer = machine.call(go(before={SERVICE: {"ran": True}}))
        assert words in answer["lost"]
        assert what in machine.exchanges[-1]


def test_a_machine_that_can_not_look_says_why(machine):
    machine.execute = lambda module, arguments: {"failed": True, "msg": "running scripts is disabled on this system"}
    assert "Get-ExecutionPolicy" in machine.call(LOOK)["lost"]


def test_a_machine_that_does_not_know_when_it_was_started(machine):
    machine.booted = None
    assert "Win32_OperatingSystem" in machine.call(LOOK)["lost"]


def test_what_a_person_has_put_back_is_kept_in_the_file_of_the_watcher(machine):
    machine.call({"do": "put_back", "events": ["id-1"]}, run="")
    assert SuppressedEvents(str(machine.file.parent)).read() == {"ID-1"}
    SuppressedEvents(str(machine.file.parent)).add(["id-2"], machine.clock.wall())
    assert machine.call(LOOK)["put_back"] == ["ID-1", "ID-2"]
    answer = machine.call({"do": "put_back", "events": ["id-3"]}, run="")
    assert answer["put_back"] == ["ID-1", "ID-2", "ID-3"]
    assert SuppressedEvents(str(machine.file.parent)).read() == {"ID-1", "ID-2", "ID-3"}


def test_what_the_watcher_notes_at_the_same_time_is_not_lost(machine):
    machine.before["edit"] = lambda: SuppressedEvents(str(machine.file.parent)).add(["id-2"], machine.clock.wall())
    machine.call(LOOK)
    machine.file.parent.mkdir(parents=True)
    answer = machine.call({"do": "put_back", "events": ["id-3"]}, run="")
    assert "run this again" in answer["answers"][0]["problem"]
    assert SuppressedEvents(str(machine.file.parent)).read() == {"ID-2"}


def test_what_a_person_has_put_back_joins_no_mark(machine):
    machine.call({"do": "put_back", "events": ["id-1"]}, run="")
    assert machine.call(go(events=["ID-2"], before={SERVICE: {"ran": True}}))["mark"]["events"] == ["ID-2"]
    assert machine.call(go(events=["ID-1", "ID-2", "ID-3"], before={SERVICE: {"ran": True}}))["mark"]["events"] == [
        "ID-2",
        "ID-3",
    ]
    answer = machine.call(go(events=["ID-1"], before={SERVICE: {"ran": True}}))
    assert (answer["answers"][0]["state"], answer["mark"]["events"]) == ("refused", ["ID-2", "ID-3"])
    assert "despite event ID-1" in answer["answers"][0]["why"]


def test_what_a_person_has_put_back_is_no_yes(machine):
    machine.call({"do": "yes", "event": "ID-1", "by": "me"}, run="")
    machine.call({"do": "put_back", "events": ["id-1"]}, run="")
    answer = machine.call({"do": "take_off"})
    assert (answer["put_back"], answer["yes"]) == (["ID-1"], [])
    machine.call({"do": "yes", "event": "ID-1", "by": "me"}, run="")
    answer = machine.call()
    assert (answer["put_back"], answer["yes"]) == (["ID-1"], ["ID-1"])


def test_what_can_not_be_read_of_what_a_person_has_said_is_not_taken_for_nothing(machine):
    """Or a machine that a person has recovered would be taken out of service again."""
    carry_out = machine.played._carried_out
    broken = {"failure": "Unknown", "message": "Access to the path is denied.", "part": "folder"}
    machine.played._carried_out = lambda request: broken if request["Do"] == "folder" else carry_out(request)
    answer = machine.call(LOOK)
    assert answer["answers"] is None and "can't be read" in answer["lost"] and "administrator" in answer["lost"]


def test_the_approval_of_a_machine_that_is_not_prepared_by_it_is_not_sent(machine):
    machine.call(go(before={SERVICE: {"ran": True}}))
    pending = go(outcomes={SERVICE: {"state": "pending"}})
    went, approve = machine.call(pending, dict(APPROVE, own=["ID-1"]))["answers"]
    assert went["state"] == "preparing" and "POST scheduledevents" not in machine.service.asked
    assert [entry["reason"] for entry in approve["not_approved"]] == ["fenced"]


def test_that_it_is_prepared_and_the_approval_are_one_call(tmp_path):
    machine = Windows(tmp_path, STEPS[0])
    machine.call(go(before={SERVICE: {"ran": True}}))
    went, approve = machine.call(go(outcomes=OUTCOMES), dict(APPROVE, own=["ID-1"]))["answers"]
    assert went["state"] == "prepared" and machine.mark()["phase"] == "prepared"
    assert approve["approved"] == ["ID-1"] and approve["look"]["events"][0]["status"] == "Started"
