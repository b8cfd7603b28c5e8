# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events without an agent: what messages of Azure start. eda.builtin.generic is in the place of the source that reads them from Service Bus."""

import json

import yaml
from azure import SUBSCRIPTION, message
from controller import Controller
from page import ROOT
from rulebook import Rulebook

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

TOUCH = "{{ lookup('pipe', 'touch %s') }}"
NOT_WRITTEN = "its id, its time or the names of its machines are not written as Azure documents it"


class Fed(Rulebook):
    """A rulebook of Azure's events that is fed with messages, in this order, and then waits."""

    def __init__(self, folder, name, messages, inventory, **environment):
        (ruleset,) = yaml.safe_load((ROOT / "extensions" / "eda" / "rulebooks" / f"{name}.yml").read_text("utf-8"))
        (source,) = ruleset["sources"]
        assert set(source) == {"name", "azure.azcollection.azure_service_bus"}
        (folder / "messages.yml").write_text(json.dumps(messages), encoding="utf-8")
        fed = {"payload_file": str(folder / "messages.yml"), "shutdown_after": 900}
        ruleset["sources"] = [{"name": source["name"], "eda.builtin.generic": fed}]
        (folder / "copy.yml").write_text(json.dumps([ruleset]), encoding="utf-8")
        super().__init__(folder / "eda", folder / "copy.yml", inventory, **environment)

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8", errors="replace")[-5000:]
        return self.logged("Waiting for events")


def nothing_to_do(touch):
    """Messages that start no run."""
    for status in ("Started", "Completed", "Canceled"):
        yield message(f"event-{status.lower()}", "web_0", status=status)
    yield message("event-cluster", "web_0", ResourceType="ManagedCluster")
    yield {"body": "no JSON", "meta": {}}
    yield {"body": [message("event-list", "web_0")["body"]], "meta": {}}
    for other in ({"eventType": "Microsoft.Maintenance.PreMaintenanceEvent"}, {"eventType": touch}):
        yield {"body": {**message("event-other", "web_0")["body"], **other}, "meta": {}}


def not_as_documented(touch):
    """Messages of which the rulebook says so."""
    for names in (
        [touch],
        ["web_0", touch],
        [touch, "web_0"],
        [],
        [{"web_0": touch}],
        ["web_0,lone"],
        ["web 0"],
        touch,
        None,
    ):
        yield message("event-names", Resources=names)
    for text in (touch, "", None, 7, "a\nb"):
        yield message(text, "web_0")
    for time in (touch, "", "2026", None):
        found = message("event-time", "web_0")
        yield {**found, "body": {**found["body"], "eventTime": time}}


def test_maintain_runs_for_the_machines_of_a_scheduled_event_and_their_scope(tmp_path):
    """A stale message has a run that refuses it; one about another's machine has a run that has nothing to do."""
    world = World(tmp_path / "emulator", vms=["web_0,scope=of-web", "web_1,scope=of-web", "lone"])
    machines = {
        "first": {"azure_maintenance_resource_name": "web_0", "azure_maintenance_scope": "web"},
        "second": {"azure_maintenance_resource_name": "web_1", "azure_maintenance_scope": "web"},
        "lone": {},
    }
    for name, variables in machines.items():
        resource = variables.get("azure_maintenance_resource_name", name)
        variables["azure_maintenance_endpoint"] = f"{world.metadata}/vm/{resource}"
    journal = tmp_path / "journal"
    step = "echo {0} {{{{ inventory_hostname }}}} >> " + str(journal)
    everyone = {
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "azure_maintenance_folder": str(tmp_path / "marks") + "/{{ inventory_hostname }}",
        "drain_steps": [
            {"type": "command", "do": ["sh", "-c", step.format("left")], "undo": ["sh", "-c", step.format("back")]}
        ],
    }
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.json").write_text(json.dumps({"all": {"vars": everyone, "hosts": machines}}))
    event = world.event(resources=["web_0"], tail=1)
    touch = TOUCH % (tmp_path / "touched")
    refused = list(not_as_documented(touch))
    messages = [
        *nothing_to_do(touch),
        *refused,
        message("stale", "lone", minutes=16),
        message(
            "elsewhere",
            "of_another_team",
            of=f"{SUBSCRIPTION}/resourcegroups/rg/providers/microsoft.compute/virtualmachines/of_another_team",
        ),
        message(event.lower(), "WEB_0"),
        message(event.lower(), "WEB_0"),
    ]
    rulebook = Fed(tmp_path, "maintain_on_azure_event", messages, tmp_path / "inventory")
    try:
        rulebook.start()
        until(lambda: len([run for run in rulebook.runs() if run.ended]) == 3)
        assert journal.read_text(encoding="utf-8").splitlines() == ["left first", "back first"]
        assert sorted(run.failed for run in rulebook.runs()) == [False, False, True]
        assert rulebook.logged("Nothing was started: the report that asks for this run is of")
        assert rulebook.logged("Nothing to do: no host of this play is of_another_team in Azure")
        assert rulebook.log.read_text(encoding="utf-8").count(NOT_WRITTEN) == len(refused)
        assert not (tmp_path / "touched").exists()
        assert rulebook.logged("steps of first, second: run")  # and lone is no part of it
    finally:
        rulebook.end()
        world.stop()


def test_the_job_template_gets_names_and_times_and_each_event_is_launched_once(tmp_path):
    controller = Controller()
    controller.end("all")  # the limit where a rulebook gives none
    (tmp_path / "inventory").mkdir()
    touch = TOUCH % (tmp_path / "touched")
    moved = message("event-1", "web_0", "web_1", NotBefore="Mon, 19 Sep 2025 19:29:47 GMT")
    once = message("event-1", "web_0", "web_1")
    messages = [*nothing_to_do(touch), *not_as_documented(touch), once, once, moved, message("event-2", "7")]
    rulebook = Fed(
        tmp_path,
        "maintain_on_azure_event_controller",
        messages,
        tmp_path / "inventory",
        EDA_CONTROLLER_URL=controller.url,
        EDA_CONTROLLER_TOKEN="t0ken",
        EDA_JOB_TEMPLATE_REFRESH_DELAY="0.2",
    )
    try:
        rulebook.start()
        until(lambda: len(controller.launched) == 3)
        assert {body["limit"] for _at, body in controller.launched} == {"all"}
        handed = [body["extra_vars"] for _at, body in controller.launched]
        assert sorted(one["azure_maintenance_resources"] for one in handed) == [",7", ",web_0,web_1", ",web_0,web_1"]
        for one in handed:
            assert one["azure_maintenance_report_time"] == once["body"]["eventTime"][:19] + "Z"
            assert one["azure_maintenance_report_received"] >= one["azure_maintenance_report_time"]
            assert set(one) == {
                *("azure_maintenance_resources", "maintain_wait_timeout"),
                *("azure_maintenance_report_time", "azure_maintenance_report_received"),
            }
    finally:
        rulebook.stop()
        controller.close()
