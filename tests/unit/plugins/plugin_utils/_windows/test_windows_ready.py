# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a Windows machine could be taken out of service: the services of its steps, its IIS, and its clock."""

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine import acting
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import document
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.test_windows_calls import (
    HELLO,
    LOOK,
    Windows,
)

READY = {"do": "ready", "always": False}


def service(name):
    return acting.step(name, "service", elsewhere=True, service=name)


class WithServices(Windows):
    there = {
        "W3SVC": {"result": {"services": [{"name": "W3SVC", "state": "started"}]}},
        "Broken": {"failure": "Unknown", "message": "Access is denied"},
    }

    def __init__(self, folder):
        super().__init__(folder, service("W3SVC"), service("W3SCV"), acting.step("t.yml", "tasks", elsewhere=True))
        self.service.document = document(2)
        self.asked = []

    def execute(self, module, arguments):
        (request, *_others) = arguments["parameters"]["Requests"]
        if request["Do"] != "script":
            return super().execute(module, arguments)
        name = request["Parameters"]["Name"]
        self.asked.append(name)
        self.clock.elapsed += self.takes
        answer = self.there.get(name, {"result": {"services": []}})
        if isinstance(answer, Exception):
            raise answer
        return {"result": {"answers": [answer]}}

    def ready(self, **more):
        return self.call(HELLO, LOOK, dict(READY, **more))["answers"][2]


@pytest.fixture
def machine(tmp_path):
    return WithServices(tmp_path)


def test_services_that_are_not_there(machine):
    assert machine.ready()["lacks"] == {"service W3SCV": "this machine has no service W3SCV"}
    assert machine.asked == ["W3SVC", "W3SCV"]
    assert machine.mark() is None


def test_a_folder_that_others_may_write_to_is_found_before_anything_is_begun(machine):
    machine.file.parent.mkdir(parents=True)
    machine.played.trust = {"sddl": "O:BUD:PAI(A;OICI;FA;;;SY)", "link": False, "user": ""}
    assert "its owner is Users (BU)" in machine.call(READY)["answers"][0]["mark"]


def test_one_that_can_not_be_looked_at(machine):
    machine.steps = [service("Broken"), service("Gone")]
    machine.there = dict(machine.there, Gone=AnsibleConnectionFailure("Connection reset"))
    lacks = machine.ready()["lacks"]
    assert 'PowerShell did not do its work: "Access is denied"' in lacks["service Broken"]
    assert lacks["service Gone"] == "it could not be checked: Connection reset"


def iis(sites=(), app_pools=()):
    return acting.step("shop", "iis", elsewhere=True, sites=list(sites), app_pools=list(app_pools))


class WithSites(WithServices):
    found = {
        "microsoft.iis.website_info": {"site": [{"name": "Shop", "state": "Started"}], "exists": True},
        "microsoft.iis.web_app_pool_info": {"app_pools": [{"name": "ShopPool", "attributes": {"state": "Started"}}]},
    }

    def execute(self, module, arguments):
        if module not in self.found:
            return super().execute(module, arguments)
        assert arguments == {}
        self.asked.append(module)
        self.clock.elapsed += self.takes
        if isinstance(self.found[module], Exception):
            raise self.found[module]
        return self.found[module]


@pytest.fixture
def web_server(tmp_path):
    return WithSites(tmp_path)


@pytest.mark.parametrize(
    "step, why",
    [
        (iis(["Shop"], ["ShopPool"]), None),
        (iis(["Shpo"]), "IIS has no site named Shpo; it has Shop"),
        (iis([], ["Pool"]), "IIS has no application pool named Pool; it has ShopPool"),
    ],
)
def test_sites_and_application_pools_that_are_not_there(web_server, step, why):
    web_server.steps = [step]
    assert web_server.ready()["lacks"].get(step["key"]) == why


def test_what_iis_has_is_asked_for_once(web_server):
    web_server.steps = [dict(iis(["Shop"]), key=f"iis {number}") for number in range(5)]
    assert web_server.ready()["lacks"] == {} and web_server.asked == list(web_server.found)


def test_a_machine_without_iis(web_server):
    web_server.found = {"microsoft.iis.website_info": {"failed": True, "msg": "WebAdministration is not there"}}
    web_server.steps = [iis(["Shop"])]
    (why,) = web_server.ready()["lacks"].values()
    assert 'website_info did not do its work: "WebAdministration is not there"' in why


def test_a_controller_without_the_collection(web_server):
    """The preflight says it too, and ends the run; this is what a machine says of it."""
    web_server.found = {"microsoft.iis.website_info": AnsibleError("was not found in configured module paths")}
    web_server.steps = [iis(["Shop"])]
    (why,) = web_server.ready()["lacks"].values()
    assert "lacks the collection microsoft.iis: ansible-galaxy collection install microsoft.iis." in why


def test_they_have_their_time(machine):
    machine.takes = 3.0
    machine.steps = [service("W3SVC") for _dummy in range(25)]
    machine.steps = [dict(step, key=f"service {number}") for number, step in enumerate(machine.steps)]
    lacks = machine.ready()["lacks"]
    assert 0 < len(machine.asked) < 11  # of a call of 60 s
    assert set(lacks.values()) == {"no time was left to check it"} and len(lacks) == 25 - len(machine.asked)


def test_an_event_comes_first_but_in_check_mode(machine):
    machine.service.document = Windows(machine.folder).service.document
    assert machine.ready()["lacks"] == {} and machine.asked == []
    assert len(machine.ready(always=True)["lacks"]) == 1


def test_the_clock_is_the_machines_own(machine):
    assert machine.ready()["wall"] == 1767225600.0  # 2026-01-01, by when it was started and how long it has been up
    machine.booted = "2025-12-31T23:05:00"
    assert machine.ready()["wall"] == 1767225900.0


def test_of_a_machine_that_does_not_say_a_date_it_is_the_controller_s(machine):
    machine.booted = "yesterday"
    assert machine.ready()["wall"] == pytest.approx(machine.clock.wall(), abs=1.0)
