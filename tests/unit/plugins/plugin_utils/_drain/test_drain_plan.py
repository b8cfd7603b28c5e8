# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps in, a host's plan out: order, inverses, defaults, and one clear sentence for everything that can be wrong."""

import inspect
import pathlib
import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.outage import _has_case
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.ways import WAYS

ROOT = pathlib.Path(__file__).parents[5]
WAYS_FILE = ROOT / "plugins" / "plugin_utils" / "_drain" / "ways.py"
GROUPS = {"all": ["web1", "web2", "lb1", "lb2", "win1"], "web": ["web1", "web2"], "lb": ["lb1", "lb2"], "empty": []}

SERVICE = {"type": "service", "name": "nginx"}
COMMAND = {"type": "command", "do": ["app", "drain"], "undo": "app 'resume it'"}
HTTP = {"type": "http", "do": {"url": "http://localhost/drain"}, "undo": {"url": "http://localhost/resume"}}
CONNECTIONS = {"type": "connections", "port": 443}
HAPROXY = {"type": "haproxy", "load_balancers": ["lb1"]}
IIS = {"type": "iis", "sites": ["Shop"], "app_pools": ["ShopPool"]}
CLUSTER = {"type": "failover_cluster"}
TASKS = {"type": "tasks", "do": "before.yml", "undo": "after.yml"}
EVERY = [SERVICE, COMMAND, HTTP, CONNECTIONS, HAPROXY, IIS, CLUSTER, TASKS]


def host(name="web1", system="linux", files=("/files/before.yml", "/files/after.yml"), systems=None):
    def find_file(path):
        return next((known for known in files if known.endswith("/" + path) or known == path), None)

    return Host(name, system, GROUPS, lambda other: (systems or {}).get(other, "linux"), find_file, 60.0)


def plan(*steps, on=None, verify=()):
    made = make_plan(list(steps), on or host(), verify)
    assert made["errors"] == []
    return made


def prepared(step, on=None):
    (only,) = plan(step, on=on)["prepare"]
    return only


def error(*steps, on=None, verify=()):
    made = make_plan(list(steps), on or host(), verify)
    assert made["prepare"] == made["recover"] == [], "nothing is done by halves"
    (only,) = made["errors"]
    return only


# Order


def test_steps_are_done_in_order_and_undone_in_reverse():
    made = plan(SERVICE, COMMAND, HTTP)
    assert [step["type"] for step in made["prepare"]] == ["service", "command", "http"]
    assert [step["type"] for step in made["recover"]] == ["http", "command", "service"]
    assert [step["number"] for step in made["recover"]] == [3, 2, 1]


def test_what_has_no_inverse_is_not_undone_and_what_only_has_one_is_not_done():
    made = plan({"type": "command", "do": "one"}, {"type": "command", "undo": "two"}, CONNECTIONS)
    assert [step["name"] for step in made["prepare"]] == ["command one", "connections of port 443"]
    assert [step["name"] for step in made["recover"]] == ["command two"]


def test_verifications_come_after_the_last_inverse():
    recover = plan(SERVICE, verify=["after.yml", "/files/before.yml"])["recover"]
    assert [(step["type"], step["name"]) for step in recover] == [
        ("service", "service nginx"),
        ("verify", "verify after.yml"),
        ("verify", "verify before.yml"),
    ]
    assert recover[1]["undo"] == "/files/after.yml" and recover[1]["own"]


def test_no_steps_are_no_steps():
    assert make_plan([], host()) == {"steps": [], "prepare": [], "recover": [], "errors": []}


# What a mark calls them, and who does them


def keys(*steps, verify=()):
    return [step["key"] for step in plan(*steps, verify=verify)["steps"]]


def test_a_key_is_type_and_subject_whatever_the_step_is_named():
    assert keys(SERVICE, dict(COMMAND, name="mine"), HTTP, CONNECTIONS) == [
        "service nginx",
        "command app drain",
        "http POST http://localhost/drain",
        "connections of port 443",
    ]


def test_steps_that_are_alike_are_told_apart():
    assert keys(SERVICE, CONNECTIONS, SERVICE, SERVICE) == [
        "service nginx",
        "connections of port 443",
        "service nginx (2)",
        "service nginx (3)",
    ]


def test_a_key_tells_no_secret():
    secret = {"type": "command", "do": "app --password=x", "no_log": True}
    url = {"type": "http", "do": {"url": "http://me:secret@localhost/drain?token=x"}}
    assert keys(secret, url) == ["command app", "http POST http://localhost/drain"]


def test_every_step_is_there_in_order_those_too_that_only_undo_and_verifications_are_undone_last():
    undone = {"type": "command", "undo": "two"}
    made = plan(SERVICE, undone, CONNECTIONS, verify=["after.yml", "before.yml"])
    assert [step["key"] for step in made["steps"]] == [
        "verify before.yml",
        "verify after.yml",
        "service nginx",
        "command two",
        "connections of port 443",
    ]
    assert [step for step in reversed(made["steps"]) if step["undoes"]] == made["recover"]


@pytest.mark.parametrize(
    "step, elsewhere",
    [
        *[(step, False) for step in (SERVICE, COMMAND, HTTP, CONNECTIONS)],
        *[(step, True) for step in (HAPROXY, TASKS)],
        *[(dict(step, delegate_to="lb1"), True) for step in (COMMAND, HTTP)],
        *[(dict(step, delegate_to="web1"), False) for step in (COMMAND, HTTP)],
    ],
)
def test_a_linux_machine_does_by_itself_what_needs_no_module_and_nobody_else(step, elsewhere):
    (made,) = plan(step)["steps"]
    assert made["elsewhere"] is elsewhere


@pytest.mark.parametrize(
    "delegate, delegates",
    [
        ("lb1", [{"host": "lb1", "ping": "ansible.builtin.ping"}]),
        ("win1", [{"host": "win1", "ping": "ansible.windows.win_ping"}]),
        ("web1", []),
        ("localhost", []),
        (None, []),
    ],
)
def test_a_machine_that_a_step_runs_on_can_be_asked_whether_it_is_there(delegate, delegates):
    (made,) = plan(dict(HTTP, delegate_to=delegate), on=host(systems={"win1": "windows"}))["steps"]
    assert made["delegates"] == delegates


@pytest.mark.parametrize("step", [*EVERY[:4], IIS, CLUSTER, TASKS])
def test_a_windows_machine_does_nothing_by_itself(step):
    (made,) = plan(step, on=host("win1", "windows"))["steps"]
    assert made["elsewhere"] is True


# Which steps are a host's


@pytest.mark.parametrize(
    "names, mine", [(["web1"], True), (["web"], True), (["lb", "web2"], False), (["empty"], False)]
)
def test_a_step_is_for_the_hosts_and_groups_it_names(names, mine):
    assert bool(plan(dict(SERVICE, hosts=names))["prepare"]) is mine


def test_hosts_may_be_one_name():
    assert plan(dict(SERVICE, hosts="web1"))["prepare"] and not plan(dict(SERVICE, hosts="web2"))["prepare"]


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_a_step_is_for_the_systems_it_names(system):
    made = plan(dict(SERVICE, systems=["linux"]), dict(IIS, systems=["windows"]), on=host(system=system))
    assert [step["type"] for step in made["prepare"]] == [{"linux": "service", "windows": "iis"}[system]]


def test_the_numbers_are_those_of_the_users_list():
    made = plan(dict(SERVICE, hosts=["web2"]), COMMAND)
    assert [step["number"] for step in made["prepare"]] == [2]


# Defaults and forms


@pytest.mark.parametrize("step", EVERY, ids=lambda step: step["type"])
def test_every_step_has_what_a_run_goes_by(step):
    system = "windows" if step in (IIS, CLUSTER) else "linux"
    made = plan(step, on=host(system=system))
    for planned in made["prepare"] + made["recover"]:
        assert {"key", "elsewhere", "number", "name", "does", "undoes", "timeout", "undo_timeout"} <= set(planned)
        assert set(planned["intervals"]) == {"do", "undo"} and planned["own"] == (step["type"] == "tasks")


def test_every_type_is_done_by_load_balancers_by_its_way_or_is_the_users_own():
    assert [name for name, kind in TYPES.items() if bool(kind.orders) + (name in WAYS) + kind.own != 1] == []
    assert [name for name, way in WAYS.items() if bool(way.before) != bool(TYPES[name].holds)] == []
    assert [name for name, kind in TYPES.items() if _has_case(kind) and not kind.holds] == []


def test_a_step_has_the_default_time_unless_it_names_its_own():
    assert prepared(SERVICE)["timeout"] == prepared(SERVICE)["undo_timeout"] == 60.0
    step = prepared(dict(SERVICE, timeout="5"))
    assert (step["timeout"], step["undo_timeout"]) == (5.0, 5.0)
    step = prepared(dict(SERVICE, timeout=5, undo_timeout=90))
    assert (step["timeout"], step["undo_timeout"]) == (5.0, 90.0)


def test_a_delegated_step_runs_by_the_system_of_its_delegate():
    on = host("win1", system="windows", systems={"lb1": "linux"})
    step = prepared(dict(COMMAND, delegate_to="lb1"), on)
    assert step["do"] == {"argv": ["app", "drain"]} and step["system"] == "linux"
    assert prepared(dict(COMMAND, delegate_to="localhost"), on)["system"] == "linux"
    assert prepared(dict(COMMAND, delegate_to="win1"), on)["system"] == "windows"


def test_a_step_is_called_by_its_type_and_subject_unless_it_has_a_name():
    assert (prepared(SERVICE)["service"], prepared(SERVICE)["name"]) == ("nginx", "service nginx")
    step = prepared({"type": "service", "name": "The web server", "service": "nginx"})
    assert (step["service"], step["name"]) == ("nginx", "The web server")
    assert prepared(CONNECTIONS)["name"] == "connections of port 443"


def test_a_long_name_is_cut():
    assert len(prepared({"type": "command", "do": "x" * 500})["name"]) == 80


# What can be wrong


def test_every_wrong_step_is_reported_at_once():
    made = make_plan([{"type": "servise"}, SERVICE, {"type": "connections"}], host())
    assert len(made["errors"]) == 2 and made["prepare"] == []
    assert made["errors"][0].startswith(
        "drain_steps, step 1 (servise): type 'servise' is unknown (did you mean 'service'?)"
    )
    assert made["errors"][1].startswith("drain_steps, step 3 (connections): ")


@pytest.mark.parametrize("steps, kind", [({}, "a dictionary"), ("nginx", "a text"), (None, "empty"), (5, "a number")])
def test_steps_are_a_list(steps, kind):
    assert make_plan(steps, host())["errors"] == [f"drain_steps is {kind}, not a list of steps"]


@pytest.mark.parametrize(
    "step, words",
    [
        ("nginx", "step 1: it is a text, not a step with a type"),
        ({"name": "nginx"}, "step 1: it has no type; types are service, command"),
        ({"type": ["service"]}, "step 1: type is a list, not a word"),
        ({"type": "prepare_hook", "path": "/x"}, "step 1 (prepare_hook): type 'prepare_hook' is unknown"),
        ({"type": "recover_hook", "path": "/x"}, "step 1 (recover_hook): type 'recover_hook' is unknown"),
        ({"type": "service"}, "step 1 (service): one of service and name is needed"),
        (
            dict(SERVICE, nmae="x"),
            "step 1 (service 'nginx'): key 'nmae' is unknown (did you mean 'name'?); it takes become",
        ),
        (dict(SERVICE, timeout="soon"), "unable to convert to float"),
        (dict(SERVICE, timeout=0), "timeout is 0.0; it is a number of seconds, more than 0"),
        (dict(SERVICE, undo_timeout=-1), "undo_timeout is -1.0"),
        (dict(SERVICE, timeout=float("nan")), "timeout is nan"),
        (dict(SERVICE, timeout=[5]), "timeout is a list, where a number belongs"),
        (dict(SERVICE, become="perhaps"), "unable to convert to bool"),
        (dict(SERVICE, name={"a": 1}), "name is a dictionary, where a text belongs"),
        (dict(SERVICE, hosts=["web3"]), "hosts names 'web3', which is neither a host nor a group"),
        (dict(SERVICE, hosts=[["web1"]]), "hosts is not a list of texts"),
        (dict(SERVICE, systems=["mac"]), "mac"),
        ({"type": "command"}, "one of do and undo is needed"),
        ({"type": "command", "do": {"cmd": "x"}}, "do is a dictionary, not a command line or a list of arguments"),
        ({"type": "command", "do": ["x", ["y"]]}, "do is a list, not a command line"),
        ({"type": "command", "do": True}, "do is true or false, not a command line"),
        ({"type": "command", "do": "echo 'open"}, "do can't be split into arguments: No closing quotation"),
        ({"type": "command", "do": "x", "undo": "  "}, "undo names no program"),
        (dict(COMMAND, delegate_to="lb9"), "delegate_to names 'lb9', which is no host of the inventory"),
        (dict(COMMAND, delegate_to="lb"), "delegate_to names 'lb', which is no host of the inventory"),
        (dict(COMMAND, ok_codes=["a"]), "ok_codes"),
        ({"type": "http"}, "one of do and undo is needed"),
        ({"type": "http", "do": "http://app/"}, "do is a text, where a dictionary belongs"),
        ({"type": "http", "do": {"method": "GET"}}, "missing required arguments: url found in do"),
        ({"type": "http", "do": {"url": "app/drain"}}, "do.url is 'app/drain', which is no http or https URL"),
        ({"type": "http", "do": {"url": "http:///drain"}}, "which is no http or https URL"),
        ({"type": "http", "do": {"url": "http://app:http/"}}, "which is no http or https URL"),
        ({"type": "http", "do": {"url": "ftp://app/"}}, "which is no http or https URL"),
        ({"type": "http", "do": {"url": "http://a/", "until": {"url": "x"}}}, "do.until.url is 'x'"),
        (
            {"type": "http", "do": {"url": "http://a/", "untli": {}}},
            "key 'do.untli' is unknown (did you mean 'until'?)",
        ),
        ({"type": "http", "do": {"url": "http://a/", "until": {"stauts": 1}}}, "key 'do.until.stauts' is unknown"),
        ({"type": "http", "do": {"url": "http://a/", "until": {"json": {"path": "a"}}}}, "equals"),
        ({"type": "http", "do": {"url": "http://a/", "until": {"interval": 0}}}, "do.until.interval is 0"),
        (
            {"type": "http", "undo": {"url": "http://a/", "until": {"request_timeout": 0}}},
            "undo.until.request_timeout is 0",
        ),
        ({"type": "connections"}, "missing required arguments: port"),
        ({"type": "connections", "port": 70000}, "port 70000 is not between 1 and 65535"),
        (dict(CONNECTIONS, at_limit="panic"), "panic"),
        (
            dict(CONNECTIONS, at_least=60, timeout=60),
            "at_least is 60 s and timeout 60 s, so it could never end in time",
        ),
        (dict(CONNECTIONS, interval=0), "interval is 0; it is a number of seconds, at least 1"),
        ({"type": "haproxy"}, "missing required arguments: load_balancers"),
        (dict(HAPROXY, load_balancers=["lb7"]), "load_balancers names 'lb7', which is neither a host nor a group"),
        (dict(HAPROXY, load_balancers=["empty"]), "load_balancers names no host"),
        (dict(HAPROXY, load_balancers=[]), "load_balancers names no host"),
        (dict(HAPROXY, mode="off"), "off"),
        (IIS, "type iis is for windows machines, and web1 is a linux machine"),
        (CLUSTER, "type failover_cluster is for windows machines"),
        ({"type": "tasks"}, "one of do and undo is needed"),
        ({"type": "tasks", "do": "nowhere.yml"}, "the file of do is not there: nowhere.yml"),
        ({"type": "tasks", "do": "before.yml", "undo": "nowhere.yml"}, "the file of undo is not there: nowhere.yml"),
    ],
)
def test_a_wrong_step_is_reported_by_number_name_and_key(step, words):
    message = error(step)
    assert message.startswith("drain_steps, step 1")
    assert words in message


@pytest.mark.parametrize("step, words", [({"type": "iis"}, "one of sites and app_pools is needed")])
def test_a_wrong_windows_step(step, words):
    assert words in error(step, on=host("win1", system="windows"))


def test_a_wrong_step_for_other_hosts_is_still_wrong():
    assert "unknown" in error({"type": "service", "name": "x", "hosts": ["web2"], "wrong": 1})


def test_a_windows_step_for_other_systems_is_no_error():
    assert plan(dict(IIS, systems=["windows"]), dict(CLUSTER, hosts=["win1"]))["prepare"] == []


@pytest.mark.parametrize("path, words", [("nowhere.yml", "the file is not there: nowhere.yml"), (5, "it is a number")])
def test_a_wrong_verification(path, words):
    message = error(SERVICE, verify=[path])
    assert message.startswith("drain_verify_tasks, file 1: ") and words in message


# What others need


@pytest.mark.parametrize(
    "step, system, collections",
    [
        (SERVICE, "linux", []),
        (SERVICE, "windows", ["ansible.windows"]),
        (IIS, "windows", ["microsoft.iis", "ansible.windows"]),
        (dict(HAPROXY, backends=["www"]), "linux", ["community.general"]),
        (TASKS, "linux", []),
        (dict(COMMAND, delegate_to="win1"), "linux", ["ansible.windows"]),
    ],
)
def test_a_step_names_the_collections_that_it_needs(step, system, collections):
    on = host(system=system, systems={"win1": "windows"})
    assert sorted(prepared(step, on)["collections"]) == sorted(collections)


@pytest.mark.parametrize("name", [name for name in TYPES if name != "tasks"])
def test_a_type_names_every_collection_that_its_modules_are_of(name):
    way = [part for part in WAYS_FILE.read_text(encoding="utf-8").split("\n\n\n") if part.startswith(f"def _{name}")]
    texts = [*way, pathlib.Path(inspect.getfile(TYPES[name].complete)).read_text(encoding="utf-8")]
    uses = re.compile(r"""(?:Order\(f?|"use": )"(\w+\.\w+)\.""")
    used = {found for text in texts for found in uses.findall(text)}
    ours = {"ansible.builtin", "ansible.windows", "cloudops.azure_maintenance"}
    assert used - ours == set(TYPES[name].collections)


def test_a_step_names_the_places_where_its_load_balancers_are_asked():
    step = prepared(dict(HAPROXY, load_balancers=["lb"], become=True))
    place = {"socket": "/run/haproxy/admin.sock", "become": True}
    assert step["places"] == [dict(place, load_balancer="lb1"), dict(place, load_balancer="lb2")]
    assert "become" not in prepared(HAPROXY)["places"][0]
