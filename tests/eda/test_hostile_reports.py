# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever has the secret may write any report: what he can start by it, with both rulebooks, and what he can't."""

import json
import time

import pytest
import yaml
from controller import Controller
from page import ROOT, example
from reports import Sender, report
from rulebook import SECRET, Rulebook, free_port

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

TOUCH = "{{ lookup('pipe', 'touch %s') }}"
REFUSED = "No run was started for a report of web1: its time, the id of its event, its label"
REFUSED_UNNAMED = (
    "No run was started for a report of a machine whose name is not printed, as it is no plain name: its time"
)
NO_NAMES = (
    *("x:all", "@/etc/hostname", "web\nall", "web\n", "web\r\n", "\nweb", "web\u0085", "web\u2028", " web"),
    *("", "*", "!web", "-web", ".web", "~web", "web[0]", "web,all", "\u212aweb", "w" * 201, "w" * 10_000, "['web']"),
    *("{{ 7 * 7 }}", "{% raw %}", "$ANSIBLE_VAULT;1.1;AES256\n6162", "\ud800"),
    *(7, 0, -7, 1.5, 1e22, 10**40, True, False, None, [], ["web"], {}, {"web": "web"}, [{"web": "web"}], [["web"]]),
)
"""Where a name is wanted."""


def labelled(**labels):
    return dict(report("forged", "web1", "web"), labels={"inventory_hostname": "web1", **labels})


def forged(touch):
    """Each starts nothing, and is refused in the output."""
    good = report("forged", "web1", "web")
    for text in (touch, *NO_NAMES):
        yield labelled(capacity_group=text)
        yield dict(good, labels={"inventory_hostname": text})
        yield dict(good, event=dict(good["event"], id=text))
        yield dict(good, at=text)
    for at in (good["at"] + "\n", good["at"] + touch, good["at"].replace("Z", "+00:00"), "web"):
        yield dict(good, at=at)
    # What a condition finds and what a template finds by the same words must be the same.
    yield dict(labelled(capacity_group=touch), **{"labels.capacity_group": "web"})
    yield dict(good, labels={"capacity_group": touch, "inventory_hostname": "web1", "capacity_group[0]": "web"})
    yield dict(good, labels=None)
    yield {key: value for key, value in good.items() if key != "at"}


def harmless(touch):
    """Each starts nothing either; what is printed of it is another matter."""
    good = report("forged", "web1", "web")
    for labels in ([], [touch], "web", touch, 7, [{"capacity_group": touch}], [{"inventory_hostname": "web1"}]):
        yield dict(good, labels=labels)
    for text in (touch, 7, None, [], ["scheduled"], {"scheduled": 1}):
        yield dict(good, happened=text)
        yield dict(good, watcher=text)
        yield dict(good, event=text)
        yield dict(labelled(capacity_group=touch), machine=text)
        yield dict(labelled(capacity_group=touch), machine={"name": text, "hostname": text})
        yield dict(good, labels={}, machine={"name": text, "hostname": text})
        yield dict(good, happened="test", labels={}, machine={"name": text, "hostname": text})
        yield dict(good, happened="test", labels={"inventory_hostname": text})
    yield {"id": good["id"], "labels": {"capacity_group": touch}}


class Started:
    """A rulebook, and what it has started: the hosts or limits."""

    def __init__(self, folder, name):
        self.world, self.controller = None, None
        inventory = folder / "inventory"
        inventory.mkdir()
        if name == "maintain_on_report":
            self.world = World(folder / "emulator", vms=["web1,scope=of-web", "db1,scope=of-db"])
            everyone = {
                "ansible_connection": "local",
                "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                "azure_maintenance_endpoint": self.world.running.metadata + "/vm/{{ inventory_hostname }}",
                "azure_maintenance_folder": str(folder / "marks") + "/{{ inventory_hostname }}",
                "drain_steps": [{"type": "command", "do": "true"}],
            }
            groups = {group: {"hosts": {f"{group}1": {}}} for group in ("web", "db")}
            (inventory / "hosts.json").write_text(json.dumps({"all": {"vars": everyone, "children": groups}}))
            self.rulebook = Rulebook(folder / "eda", name, inventory)
        else:
            self.controller = Controller()
            self.rulebook = Rulebook(
                folder / "eda",
                name,
                inventory,
                EDA_CONTROLLER_URL=self.controller.url,
                EDA_CONTROLLER_TOKEN="t0ken",
                EDA_JOB_TEMPLATE_REFRESH_DELAY="0.2",
            )
        self.rulebook.start()
        self.send = Sender(folder, self.rulebook.url, SECRET).send

    def send_all(self, reports):
        """Each of an event of its own: the throttle must not be what holds one up."""
        for number, one in enumerate(reports):
            event = one.get("event")
            if isinstance(event, dict) and event.get("id") == "forged":
                one = dict(one, event=dict(event, id=f"forged-{number}"))
            assert self.send(one) == 200

    def all(self):
        if self.controller:
            return [body["limit"] for _at, body in self.controller.launched]
        return [":".join(run.hosts) for run in self.rulebook.runs()]

    def ended(self):
        return self.controller or all(run.ended for run in self.rulebook.runs())

    def log(self):
        return self.rulebook.log.read_text(encoding="utf-8", errors="replace")

    def stop(self):
        self.rulebook.end()
        for other in (self.world, self.controller):
            if other:
                other.stop() if other is self.world else other.close()


@pytest.fixture(params=["maintain_on_report", "maintain_on_report_controller"])
def started(request, tmp_path):
    found = Started(tmp_path, request.param)
    yield found
    found.stop()


def test_forged_reports_start_nothing_and_the_next_good_one_starts_its_run(started, tmp_path):
    touched = tmp_path / "touched"
    refused = list(forged(TOUCH % touched))
    started.send_all(refused)
    assert started.send(dict(report("", "handled", "web", "test"), event=None)) == 200
    until(lambda: "A test report of handled has arrived." in started.log())
    assert started.log().count(REFUSED) == len(refused)
    started.send_all(harmless(TOUCH % touched))
    assert started.send(report("good", "web1", "web")) == 200
    until(lambda: started.all() and started.ended(), 120)
    assert started.send(dict(report("", "web1", "web", "test"), event=None)) == 200
    until(lambda: "A test report of web1 has arrived." in started.log())
    assert not touched.exists()
    assert started.all() == (["all:&web"] if started.controller else ["web1"])
    printed = started.log()
    assert REFUSED_UNNAMED in printed
    assert "A test report has arrived, of a machine whose name is not printed" in printed
    assert started.rulebook.process.poll() is None
    assert "Traceback" not in printed
    assert not [
        line for line in printed.splitlines() if line.startswith("No run") and ("touch" in line or "{{" in line)
    ]


def written(minutes):
    """A report that is so old; below zero it comes from the future."""
    found = report("forged", "web1", "web", moment=Moment(time.time() - 60 * minutes, 5000.0, "boot"))
    return dict(found, event=dict(found["event"], id=f"written{minutes}"))


def test_an_old_report_says_that_it_starts_nothing(started):
    reports = [written(minutes) for minutes in (16, -16, 13)]
    for number, one in enumerate(reports, 1):
        assert started.send(one) == 200
        until(lambda number=number: len(started.all()) == number and started.ended(), 120)
        if started.controller:
            started.controller.end("web")
            assert started.controller.launched[-1][1]["extra_vars"]["azure_maintenance_report_time"] == one["at"]
    if not started.controller:
        assert [run.failed for run in started.rulebook.runs()] == [True, True, False]
        said = [f"Nothing was started: the report that asks for this run is of {one['at']}" for one in reports]
        until(lambda: said[0] in started.log() and said[1] in started.log())
        assert said[2] not in started.log()


def test_a_secret_for_each_group_as_the_guide_has_it(tmp_path):
    (ruleset,) = yaml.safe_load(
        (ROOT / "extensions" / "eda" / "rulebooks" / "maintain_on_report_controller.yml").read_text(encoding="utf-8")
    )
    ruleset.update(yaml.safe_load(example("sources:")))
    ports = {source["name"]: free_port() for source in ruleset["sources"]}
    for source in ruleset["sources"]:
        source["eda.builtin.webhook"].update(port=ports[source["name"]], hmac_secret=f"secret of {source['name']}")
    ruleset["rules"][0]["condition"] += " " + example(
        "and event.meta.source.name == event.payload.labels.capacity_group"
    )
    copy = tmp_path / "copy.yml"
    copy.write_text(json.dumps([ruleset]), encoding="utf-8")
    (tmp_path / "inventory").mkdir()
    controller = Controller()
    rulebook = Rulebook(
        tmp_path / "eda",
        copy,
        tmp_path / "inventory",
        EDA_CONTROLLER_URL=controller.url,
        EDA_CONTROLLER_TOKEN="t0ken",
        EDA_JOB_TEMPLATE_REFRESH_DELAY="0.2",
    )
    rulebook.port = ports["db"]
    senders = {}
    for group, port in ports.items():
        (tmp_path / group).mkdir()
        senders[group] = Sender(tmp_path / group, f"http://127.0.0.1:{port}/azure", f"secret of {group}").send
    try:
        rulebook.start()
        (tmp_path / "wrong").mkdir()
        wrong = Sender(tmp_path / "wrong", f"http://127.0.0.1:{ports['db']}/azure", "secret of web").send
        until(lambda: wrong(report("event-1", "db1", "db")) == 401)
        assert senders["web"](report("event-2", "db1", "db")) == 200  # its own secret, and another's group
        assert senders["web"](report("event-3", "web1", "web")) == 200
        until(lambda: len(controller.launched) == 1)
        assert senders["db"](report("event-4", "db1", "db")) == 200
        until(lambda: len(controller.launched) == 2)
        assert [body["limit"] for _at, body in controller.launched] == ["all:&web", "all:&db"]
    finally:
        rulebook.stop()
        controller.close()
