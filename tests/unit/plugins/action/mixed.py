# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must come of a mixed play, whatever plays the Windows machine: a stand-in, or a real PowerShell (tests/windows)."""

import json
import pathlib
import sys
import threading
import urllib.request

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook

PLAYS = pathlib.Path(__file__).with_name("standin")
MIXED = PLAYS / "mixed.yml"
ID = "0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11"


def scenario(notice, tail):
    """One event over both machines; seconds of which ten are one on a clock that runs at speed 10."""
    return {
        "settings": {"rate_limit": 0},
        "vms": [{"name": "linux1", "scope": "web"}, {"name": "win1", "scope": "web"}],
        "resources": ["linux1", "win1"],
        "events": [{"type": "Reboot", "id": ID, "notice": notice, "tail": tail}],
    }


OPTION_245 = "f5000000000000000400000000000000ffffff7f7f000001"  # 127.0.0.1, which can't be the service's address
ENDPOINT = "[all:vars]\nazure_maintenance_endpoint={{ emulator }}/vm/{{ inventory_hostname }}\n"
LINUX = f"linux1 ansible_connection=local ansible_python_interpreter={sys.executable}\n"


def journal_of(folder):
    """What the emulator has written so far; without a line that is still being written."""
    text = (folder / "journal").read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def end_it_when_both_wait(folder, control, stop):
    """End the event of mixed.yml as soon as both machines have seen it Started, in the task that waits for its end.

    That task is the first one after the start in which a machine asks for the document and then for its own name. So
    nothing depends on how long anything takes.
    """
    while not stop.wait(0.1):
        journal = journal_of(folder) if (folder / "journal").exists() else []
        started = [entry["seq"] for entry in journal if entry["kind"] == "started"]
        asked = {
            entry["vm"]
            for entry in journal
            if entry["kind"] == "request"
            and "/compute/name" in entry["path"]
            and entry["seq"] > min(started, default=0)
        }
        if started and asked == {"linux1", "win1"}:
            request = urllib.request.Request(f"{control}/events/{ID}/complete", b"{}", method="POST")
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).close()
            return


class Played:
    """What came of a play: printed, status, results by host, and the POSTs that arrived."""

    def __init__(self, folder, play, hosts, variables, **environment):
        mixed = play == MIXED
        stop = threading.Event()
        with emulator(folder, scenario(36000, 36000 if mixed else 100), "--speed", "10") as addresses:
            address, control = addresses
            ending = threading.Thread(target=end_it_when_both_wait, args=(folder, control, stop))
            if mixed:
                ending.start()
            try:
                self.printed, self.status = playbook(
                    folder,
                    play,
                    LINUX + hosts + ENDPOINT,
                    dict(variables, emulator=address, results=str(folder), nobody="http://127.0.0.1:1"),
                    **environment,
                )
            finally:
                stop.set()
                if mixed:
                    ending.join()
        self.results = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
        journal = journal_of(folder)
        self.journal = [entry for entry in journal if entry["kind"] != "request"]
        self.posts = [entry for entry in journal if entry["kind"] == "post"]


class MixedPlay:
    """Tests of mixed.yml; the fixture `played` brings what came of it."""

    def test_both_see_the_same(self, played):
        results = played.results
        mine, others = results["linux1"]["seen"], results["win1"]["seen"]
        for key in ("incarnation", "api_version", "unusable_events", "placement_group", "transitions", "polls"):
            assert mine[key] == others[key], key
        for event in mine["events"] + others["events"]:
            event.pop("notice")
        assert mine["events"] == others["events"]
        assert mine["events"][0]["affects_self"] is True
        assert (mine["resource_name"], others["resource_name"]) == ("linux1", "win1")

    def test_both_return_the_same_keys_and_types(self, played):
        results = played.results

        def shape(value):
            if isinstance(value, dict):
                return {key: shape(inner) for key, inner in value.items()}
            return [shape(inner) for inner in value] if isinstance(value, list) else type(value)

        for task in ("seen", "checked", "unprepared", "gave_up"):
            mine, others = (dict(results[host][task]) for host in ("linux1", "win1"))
            for added in (
                "ansible_facts",
                "invocation",
                "exception",
                "failed_when_suppressed_exception",
                "warnings",
            ):  # by core
                mine.pop(added, None), others.pop(added, None)
            assert shape(mine) == shape(others), task

    def test_check_mode_is_the_same_and_sends_nothing(self, played):
        results = played.results
        for host in ("linux1", "win1"):
            checked = results[host]["checked"]
            assert (checked["changed"], checked["approved"], checked["confirmed"]) == (True, [ID], [])
            assert checked["diff"]["before"] == {"events": [{"id": ID, "status": "Scheduled"}]}
            assert checked["diff"]["after"] == {"events": [{"id": ID, "status": "approved"}]}
            assert results[host]["unprepared"]["not_approved"][0]["reason"] == "unknown_machines"

    def test_the_windows_machine_approves(self, played):
        results = played.results
        approved = results["win1"]["approved"]
        assert (approved["changed"], approved["approved"], approved["confirmed"]) == (True, [ID], [ID])

    def test_both_wait_for_its_end(self, played):
        results = played.results
        for host in ("linux1", "win1"):
            gone = results[host]["gone"]
            assert gone["events"] == []
            assert {"kind": "gone", "id": ID, "type": "Reboot", "outcome": "completed", "affects_self": True} in gone[
                "transitions"
            ]

    def test_both_give_up_alike(self, played):
        results = played.results
        for host in ("linux1", "win1"):
            gave_up = results[host]["gave_up"]
            assert gave_up["failure"]["kind"] == "timeout"
            assert gave_up["msg"].startswith("No event came within 1.5 s")
            assert 1 <= gave_up["polls"] <= 5

    def test_the_delegate_is_asked(self, played):
        results = played.results
        assert results["linux1"]["delegated"]["resource_name"] == "win1"

    def test_only_the_service_of_the_inventory_is_asked(self, played):
        for host in ("linux1", "win1"):
            tasks = played.results[host]
            asked = {tasks[task]["endpoint"] for task in ("seen", "checked", "unprepared", "gone", "gave_up")}
            assert len(asked) == 1 and asked.pop().endswith("/vm/" + host)
        assert played.results["linux1"]["background"]["endpoint"].endswith("/vm/linux1")

    def test_a_wait_that_holds_up_the_other_host_is_one_warning(self, played):
        assert played.printed.count("[WARNING]: This task waits on 2 hosts") == 1, played.printed

    def test_what_is_not_approved_is_a_warning(self, played):
        for host in ("linux1", "win1"):
            tasks = played.results[host]
            assert str(tasks["unprepared"]["warnings"]).count(f"Event {ID} was not approved: ") == 1

    def test_async_works_on_linux_and_is_refused_on_windows(self, played):
        results = played.results
        assert results["linux1"]["background"]["resource_name"] == "linux1"
        assert "async does not work" in results["win1"]["background"]["msg"]

    def test_discovery_reads_the_registry(self, played):
        results = played.results
        assert results["win1"]["discovered"]["failure"]["kind"] == "unreachable"
        assert "no DHCP lease with option 245 was found" in results["win1"]["discovered"]["msg"]

    def test_only_one_approval_was_sent(self, played):
        assert [entry["vm"] for entry in played.posts] == ["win1"]


MAINTAIN = {
    "azure_maintenance_endpoint": "{{ emulator }}/vm/{{ inventory_hostname }}",
    "azure_maintenance_scope": "web",
    "maintain_wait_timeout": 60,
    "maintain_recover_timeout": 60,
    "maintain_margin": 5,
    "maintain_require_steps": False,
    "maintain_max_unavailable": 2,  # the event affects both of them
    "azure_maintenance_hosts": "linux1,win1",
}


class MixedMaintain:
    """Tests of the playbook maintain over both machines; the fixture `maintained` brings what came of it."""

    def test_it_lives_through_the_event(self, maintained):
        assert maintained.status == 0, maintained.printed

    def test_the_event_was_approved_once_and_took_place(self, maintained):
        assert len(maintained.posts) == 1, maintained.printed
        changes = {entry["kind"]: entry for entry in maintained.journal if entry.get("event_id") == ID}
        assert changes["started"]["cause"] == "approved"
        assert changes["gone"]["outcome"] == "completed"

    def test_the_linux_machine_is_the_sentinel(self, maintained):
        assert maintained.posts[0]["vm"] == "linux1"
