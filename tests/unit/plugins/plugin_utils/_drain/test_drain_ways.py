# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How steps are done by Ansible's modules: what is called, in which order, and what is made of what came back."""

from __future__ import annotations

import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import orders as rounds
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.elsewhere import (
    as_it_came,
    initial_state,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.orders import orders
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan

STATUS = "ansible.builtin.async_status"
POWERSHELL = "ansible.windows.win_powershell"
COMMAND = {"type": "command", "do": "app drain", "undo": "app resume", "delegate_to": "lb1"}
SITES = {"site": [{"name": "Shop", "state": "Started", "site_id": 3, "application_pool": "Shared"}]}
POOLS = {"app_pools": [{"name": "ShopPool", "attributes": {"state": "Started"}}]}
IIS = {"type": "iis", "sites": ["Shop"], "app_pools": ["ShopPool"]}
ENDED = {"ansible_job_id": "j1", "finished": True}
GOES_ON = {"ansible_job_id": "j1", "finished": False}


class Others:
    """A machine whose step others do, in looks of one run."""

    def __init__(self, raw, system="linux"):
        host = Host("web1", system, {"all": ["web1", "lb1"]}, lambda name: "linux", lambda path: path)
        plan = make_plan([raw], host)
        assert not plan["errors"]
        (self.step,) = self.steps = plan["steps"]
        self.jobs = {}
        self.called = []
        self.kind = "run"
        self.initial = None

    def look(self, *came, direction="do", begun=False, by="r1", left=60.0, tries=1, phase="preparing"):
        """What a look returns whose calls are answered in this order."""
        key = self.step["key"]
        entry = {"key": key, "before": self.initial, "by": by, "tries": tries, "limit": left}
        holder = {"run": "r1", "kind": self.kind}
        mark = {"since": "12:00", "holder": holder, "phase": phase, "steps": [entry]}
        asked = {"key": key, "direction": direction, "begun": begun, "left": left, "begins": left}
        self.answer = {"number": 1, "elsewhere": asked, "mark": mark}
        return self._gone_through(came)

    def before(self, *came):
        self.answer = {"number": 1, "ask": [self.step["key"]]}
        return self._gone_through(came)

    def _gone_through(self, came):
        answers = list(came)
        self.called, self.removed = [], []

        def call(order):
            if order.options.get("mode") == "cleanup":
                self.removed.append(order.options["jid"])
                return {"went_wrong": {"failed": True, "msg": "could not find job"}}  # it must not matter
            self.called.append(order)
            return answers.pop(0)

        (order,) = orders(self.answer, self.steps)
        found = rounds.look(order, self.answer, self.steps, self.jobs, call)
        assert not answers, "it was to call more"
        if order["part"] == "step":
            self.jobs[f"12:00 {self.step['key']} {self.answer['elsewhere']['direction']} {self._tries}"] = found["job"]
        return found

    @property
    def _tries(self):
        return self.answer["mark"]["steps"][0]["tries"]

    @property
    def used(self):
        return [order.use for order in self.called]


def test_a_command_is_begun_once_and_looked_at_until_it_has_ended():
    others = Others(dict(COMMAND, environment={"A": "b"}, ok_codes=[0, 3], chdir="/srv"))
    first = others.look({"ansible_job_id": "j1", "changed": True}, GOES_ON, begun=True)
    begun, looked_at = others.called
    assert (begun.use, begun.lasts, begun.environment) == ("ansible.builtin.command", 90, {"A": "b"})
    argv = ["timeout", "-k", "5", "60", "app", "drain"]
    assert begun.options == {"argv": argv, "chdir": "/srv", "expand_argument_vars": False}
    assert (looked_at.use, looked_at.options, looked_at.ok_codes) == (STATUS, {"jid": "j1"}, [0, 3])
    assert (first["changed"], first["outcome"]["state"], first["job"]) == (
        True,
        "pending",
        {"jid": "j1", "is_over": False, "failed": None},
    )
    second = others.look(dict(ENDED, rc=3, changed=True))
    assert others.used == [STATUS]
    assert (second["changed"], second["outcome"]["state"]) == (False, "done")


def test_ansibles_file_of_a_job_is_removed_with_that_of_its_inverse():
    """A start of PowerShell each: no approval waits for them."""
    others = Others(COMMAND)
    others.look({"ansible_job_id": "j1"}, dict(ENDED, rc=0), begun=True)
    assert others.removed == []
    others.look({"ansible_job_id": "j2"}, GOES_ON, direction="undo", begun=True)
    assert others.removed == []
    ended = others.look(dict(ENDED, rc=0), direction="undo")
    assert others.removed == ["j1", "j2"] and ended["outcome"]["state"] == "done"


@pytest.mark.parametrize("more", [{"no_log": True}, {"undo": None}])
@pytest.mark.parametrize("came", [dict(ENDED, rc=0), {"went_wrong": dict(ENDED, failed=True, rc=3)}])
def test_that_of_a_secret_step_and_where_nothing_is_undone_is_removed_at_once(more, came):
    raw = {key: value for key, value in dict(COMMAND, **more).items() if value is not None}
    others = Others(raw)
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    assert others.removed == []
    others.look(came)
    assert others.removed == ["j1"]
    if "undo" in raw:
        others.look({"ansible_job_id": "j2"}, dict(ENDED, rc=0), direction="undo", begun=True)
        assert others.removed == ["j2"]


def test_how_a_job_ended_is_said_again_where_the_machine_has_not_heard_of_it():
    others = Others(dict(COMMAND, no_log=True))
    wrong = {"went_wrong": dict(ENDED, failed=True, rc=3, cmd="x", stderr="geheim")}
    first = others.look({"ansible_job_id": "j1"}, wrong, begun=True)
    again = others.look()
    assert first["outcome"] == again["outcome"] and again["outcome"]["state"] == "failed"
    assert others.used == [] and "geheim" not in str(again)


def test_that_of_role_drain_by_itself_is_removed_at_once():
    """It is another run that recovers, and does not know of the job."""
    others = Others(COMMAND)
    others.kind = "drain"
    others.look({"ansible_job_id": "j1"}, dict(ENDED, rc=0), begun=True)
    assert others.removed == ["j1"]


def test_that_of_a_machine_which_can_not_be_asked_stays():
    others = Others(dict(COMMAND, no_log=True))
    others.look({"ansible_job_id": "j1"}, {"went_wrong": {"unreachable": True, "msg": "gone"}}, begun=True)
    assert others.removed == []


@pytest.mark.parametrize("direction, option", [("do", "creates"), ("undo", "removes")])
def test_what_a_command_has_made_is_asked_for(direction, option):
    others = Others(dict(COMMAND, creates="/mark"))
    others.look({"ansible_job_id": "j1"}, GOES_ON, direction=direction, begun=True)
    assert others.called[0].options[option] == "/mark"


def test_a_command_line_of_windows_stays_as_it_is():
    others = Others({"type": "command", "do": "app.exe /drain"}, "windows")
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    begun = others.called[0]
    assert (begun.use, begun.options, begun.lasts) == ("ansible.windows.win_command", {"cmd": "app.exe /drain"}, 60)


def test_one_that_can_not_begin_has_failed():
    others = Others(COMMAND)
    found = others.look({"went_wrong": {"unreachable": True, "msg": "no route"}}, begun=True)
    assert found["outcome"] == {"state": "failed", "note": "lb1 unreachable: no route", "direction": "do"}
    assert others.used == ["ansible.builtin.command"]


def test_what_another_run_has_begun_is_given_up_and_only_its_inverse_begun():
    others = Others(COMMAND)
    found = others.look(by="r0")
    assert found["outcome"]["state"] == "failed" and "nobody knows how it ended" in found["outcome"]["note"]
    others.look({"ansible_job_id": "j2"}, GOES_ON, direction="undo", by="r0")
    assert others.used == ["ansible.builtin.command", STATUS]


@pytest.mark.parametrize("raw, system", [(COMMAND, "linux"), ({"type": "service", "service": "W3SVC"}, "windows")])
@pytest.mark.parametrize("by", ["r0", "r1"])  # another run's, or of a call whose answer was lost
def test_what_is_undone_next_is_not_begun_and_its_limit_is_waited_for_where_nobody_can_look_at_it(raw, system, by):
    others = Others(raw, system)
    for left, state in ((30.0, "pending"), (10.0, "pending"), (0.0, "failed")):
        found = others.look(by=by, left=left, phase="recovering")
        assert (others.used, found["outcome"]["state"], found["outcome"]["direction"]) == ([], state, "do")


def test_what_is_undone_next_is_looked_at_until_it_has_ended():
    others = Others(COMMAND)
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    assert others.look(GOES_ON, phase="recovering")["outcome"]["state"] == "pending"
    assert others.look(dict(ENDED, rc=0), phase="recovering")["outcome"]["state"] == "done"


NOTHING = {"changed": False, "failed": False}
SAYS = [
    # the step, what its modules return before the one that says nothing, whether it is undone; the module, and what that lacks
    (COMMAND, [], "do", "ansible.builtin.command", "ansible_job_id"),
    (COMMAND, [{"ansible_job_id": "j1"}], "do", "ansible.builtin.command", "ansible_job_id"),
    (COMMAND, [{"ansible_job_id": "j1"}, ENDED], "do", "ansible.builtin.command", "rc"),
    (COMMAND, [{"ansible_job_id": "j1"}, ENDED], "undo", "ansible.builtin.command", "rc"),
    (
        {"type": "http", "do": {"url": "http://a/"}},
        [{"ansible_job_id": "j1"}, ENDED],
        "do",
        "ansible.windows.win_uri",
        "status_code",
    ),
    ({"type": "service", "name": "Shop"}, [], "do", "ansible.windows.win_service", "ansible_job_id"),
    (
        {"type": "service", "name": "Shop"},
        [{"ansible_job_id": "j1"}, ENDED],
        "undo",
        "ansible.windows.win_service",
        "state",
    ),
    ({"type": "connections", "port": 443}, [], "do", POWERSHELL, "result"),
    ({"type": "connections", "port": 443, "listen_again": True}, [], "undo", "ansible.windows.win_wait_for", "elapsed"),
    ({"type": "failover_cluster"}, [], "do", POWERSHELL, "result"),
    (IIS, [], "do", "microsoft.iis.website_info", "site"),
    (IIS, [SITES], "undo", "microsoft.iis.web_app_pool_info", "app_pools"),
    (IIS, [SITES, POOLS, {"changed": True}], "do", POWERSHELL, "result"),
]


@pytest.mark.parametrize("raw, before, direction, module, lacks", SAYS)
def test_a_result_that_says_nothing_is_a_failure(raw, before, direction, module, lacks):
    others = Others(raw, "linux" if "delegate_to" in raw else "windows")
    before = list(before)
    ended = bool(before) and before[-1] is ENDED
    last = dict(NOTHING, **(before.pop() if ended else {}))
    found = others.look(*before, last, direction=direction, begun=True)
    assert found["outcome"]["state"] == "failed"
    assert f"{module} returned no {lacks}, so it is not known whether" in found["outcome"]["note"]


@pytest.mark.parametrize("mode", ["auto", "delayed"])
@pytest.mark.parametrize("direction", ["do", "undo"])
def test_windows_starts_no_service_at_a_boot_before_it_is_recovered(direction, mode):
    others = Others({"type": "service", "name": "Shop"}, "windows")
    others.initial = {"ran": True, "start_mode": mode}
    others.look({"ansible_job_id": "j1"}, NOTHING, direction=direction, begun=True)
    state, wanted = ("stopped", "manual") if direction == "do" else ("started", mode)
    assert others.called[0].options == {"name": "Shop", "state": state, "start_mode": wanted}


BEFORE = [
    ({"type": "service", "name": "Shop"}, "ansible.windows.win_service_info returned no services"),
    (IIS, "microsoft.iis.website_info returned no site"),
    ({"type": "failover_cluster"}, f"{POWERSHELL} returned no result"),
]


@pytest.mark.parametrize("raw, words", BEFORE)
def test_nor_is_the_initial_state_known_by_it(raw, words):
    assert words in Others(raw, "windows").before(NOTHING)["went_wrong"]["msg"]


RAN = {"changed": True, "delta": "0:00:00.1", "stderr": "still in service"}


@pytest.mark.parametrize(
    "system, came, found",
    [
        (
            "linux",
            {**RAN, "rc": 0, "cmd": ["timeout"]},
            {"initial": {"rc": 0, "words": "exit code 0: still in service"}},
        ),
        ("windows", {**RAN, "rc": 3}, {"initial": {"rc": 3, "words": "exit code 3: still in service"}}),
        (
            "linux",
            {**RAN, "rc": 124, "cmd": ["timeout"]},
            {"failed": "its check gave no answer: it did not end within 4 s"},
        ),
        (
            "linux",
            {**RAN, "rc": 127, "cmd": ["timeout"], "stderr": "timeout: failed to run command"},
            {"failed": "its check gave no answer: timeout: failed to run command"},
        ),
        ("windows", {"rc": 2, "msg": "no such file"}, {"failed": "its check gave no answer: no such file"}),
        ("windows", {"went_wrong": {"unreachable": True, "msg": "gone"}}, {"failed": "unreachable: gone"}),
    ],
)
def test_the_check_of_a_command_is_an_answer_however_it_ends(system, came, found):
    raw = {"type": "command", "do": "app.exe drain", "check": ["app", "is drained"], "environment": {"A": "b"}}
    others = Others(raw, system)
    result = others.before(came)
    order = others.called[0]
    argv = ["app", "is drained"] if system == "windows" else ["timeout", "-k", "5", "4", "app", "is drained"]
    assert (order.options["argv"], order.lasts, order.failure_answers) == (argv, 0, True)
    assert order.environment == {"A": "b"} and result["changed"] is False
    assert initial_state(others.step, as_it_came(result)) == found


def test_the_words_of_a_secret_check_are_kept_back():
    step = Others({"type": "command", "do": "x", "check": "y", "no_log": True}, "windows").step
    for came in ({**RAN, "rc": 3}, {"rc": 2, "msg": "still in service"}):
        assert "still" not in str(initial_state(step, came))


@pytest.mark.parametrize("system, key", [("linux", "status"), ("windows", "status_code")])
@pytest.mark.parametrize(
    "status, found",
    [
        (503, {"initial": {"back": ""}}),
        (200, {"initial": {"back": "status 200; wanted: status 503"}}),
        (-1, {"failed": "its check got no answer: refused"}),
        (None, {"failed": "its check got no answer: refused"}),
    ],
)
def test_the_check_of_an_application(system, key, status, found):
    check = {"url": "http://a/health", "status": [503], "method": "head"}
    others = Others({"type": "http", "do": {"url": "http://a/"}, "check": check}, system)
    result = others.before({key: status, "msg": "refused", "changed": True})
    order = others.called[0]
    assert (order.options["url"], order.options["method"], order.options["timeout"]) == ("http://a/health", "HEAD", 2)
    assert order.failure_answers and result["changed"] is False
    assert initial_state(others.step, as_it_came(result)) == found


def test_what_did_not_have_to_run_says_so():
    others = Others(dict(COMMAND, creates="/mark"))
    others.look({"ansible_job_id": "j1"}, dict(ENDED, rc=0, msg="Did not run command since '/mark' exists"), begun=True)
    others = Others({"type": "command", "do": "app.exe", "creates": "C:/mark"}, "windows")
    found = others.look(
        {"ansible_job_id": "j1"}, dict(ENDED, skipped=True, msg="skipped, since C:/mark exists"), begun=True
    )
    assert found["outcome"]["state"] == "done"


def test_of_a_request_that_is_undone_next_only_its_end_is_waited_for():
    do = {"url": "http://127.0.0.1/drain", "until": {"status": [503]}}
    others = Others({"type": "http", "do": do, "delegate_to": "lb1"})
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    assert others.look(dict(ENDED, status=200), phase="recovering")["outcome"]["state"] == "done"
    assert others.used == [STATUS]


def test_a_job_of_an_earlier_attempt_says_nothing():
    others = Others(COMMAND)
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    found = others.look({"ansible_job_id": "j2"}, GOES_ON, begun=True, tries=2)
    assert others.used[0] == "ansible.builtin.command" and found["job"]["jid"] == "j2"


def test_no_words_of_a_secret_step():
    others = Others(dict(COMMAND, no_log=True))
    found = others.look({"went_wrong": {"failed": True, "rc": 3, "cmd": "x", "stderr": "geheim"}}, begun=True)
    assert "geheim" not in str(found) and "kept back" in found["outcome"]["note"]


@pytest.mark.parametrize(
    "system, module, more",
    [
        ("linux", "ansible.builtin.uri", {"body_format": "json", "headers": {"Content-Type": "application/json"}}),
        ("windows", "ansible.windows.win_uri", {"headers": {}, "content_type": "application/json"}),
    ],
)
def test_a_request_and_then_the_question_whether_the_application_says_so(system, module, more):
    url = "http://127.0.0.1/drain"
    raw = {
        "type": "http",
        "user": "u",
        "password": "p",
        "do": {"url": url, "body": {"a": 1}, "until": {"contains": "no jobs"}},
    }
    others = Others(raw if system == "windows" else dict(raw, delegate_to="lb1"), system)
    first = others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    assert others.used == [module, STATUS] and first["outcome"]["state"] == "pending"
    request = others.called[0]
    assert request.lasts == 65 and request.options == {
        "url": url,
        "method": "POST",
        "body": {"a": 1},
        "status_code": [200, 201, 202, 204],
        "timeout": 60,
        "url_username": "u",
        "url_password": "p",
        "force_basic_auth": True,
        "validate_certs": True,
        "use_proxy": False,
        "follow_redirects": "none",
        **more,
    }
    ended = dict(ENDED, status=200, status_code=200)
    second = others.look(ended, {"status": 200, "content": "3 jobs"})
    assert others.used == [STATUS, module] and others.called[1].failure_answers and others.called[1].lasts == 0
    assert second["outcome"]["state"] == "pending" and "no jobs" in second["outcome"]["note"]
    assert others.removed == ["j1"]  # there is nothing to undo
    assert others.look({"status": 200, "content": "no jobs"})["outcome"]["state"] == "done"
    assert others.used == [module] and others.removed == []  # that it has ended is known


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_a_bad_answer_between_good_ones_has_them_counted_anew(system):
    raw = {"type": "http", "do": {"url": "http://a/", "until": {"in_a_row": 2}}, "undo": {"url": "http://a/"}}
    others = Others(raw if system == "windows" else dict(raw, delegate_to="lb1"), system)
    good, bad = {"status": 200, "status_code": 200}, {"status": 503, "status_code": 503}
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    found = [others.look({**ENDED, **good}, good)] + [others.look(answer) for answer in (bad, good, good)]
    assert [one["outcome"]["state"] for one in found] == ["pending"] * 3 + ["done"]
    assert found[0]["outcome"]["note"] == "1 of 2 good answers in a row"


def test_a_request_that_is_refused_is_the_end_of_it():
    others = Others({"type": "http", "do": {"url": "http://a/", "until": {}}, "delegate_to": "lb1"})
    found = others.look(
        {"ansible_job_id": "j1"}, {"went_wrong": {"failed": True, "status": 503, "msg": "503"}}, begun=True
    )
    assert found["outcome"]["state"] == "failed"


def test_a_windows_service():
    others = Others({"type": "service", "name": "Shop"}, "windows")
    assert others.before({"services": []}) == {"services": []} and others.called[0].options == {"name": "Shop"}
    others.look({"ansible_job_id": "j1"}, GOES_ON, begun=True)
    assert others.called[0].options == {"name": "Shop", "state": "stopped"} and others.called[0].lasts == 60
    ended = others.look({"ansible_job_id": "j2"}, dict(ENDED, state="running"), direction="undo", begun=True)
    assert others.called[0].options["state"] == "started" and ended["outcome"]["state"] == "done"


def test_connections_of_windows():
    others = Others({"type": "connections", "port": 443, "exclude": ["a", "b"], "listen_again": True}, "windows")
    assert others.look({"result": {"left": 2}}, begun=True)["outcome"]["state"] == "pending"
    order = others.called[0]
    assert order.use == POWERSHELL and order.options["parameters"] == {"Port": 443, "Exclude": "a,b", "Limit": 1}
    assert "Get-NetTCPConnection" in order.options["script"]
    assert others.look({"result": {"left": 0}})["outcome"]["state"] == "done"
    assert others.look({"msg": "Timeout"}, direction="undo", begun=True)["outcome"]["state"] == "pending"
    assert others.called[0].use == "ansible.windows.win_wait_for" and others.called[0].failure_answers
    assert others.look({"elapsed": 0.1}, direction="undo")["outcome"]["state"] == "done"


def test_connections_of_windows_are_looked_for_at_least_so_long_from_the_first_look_on():
    others = Others({"type": "connections", "port": 443, "at_least": 15}, "windows")
    none = {"result": {"left": 0}}
    assert others.look(none, begun=True, left=60.0)["outcome"]["state"] == "pending"
    assert others.look(none, left=46.0)["outcome"]["state"] == "pending"
    assert others.look(none, left=45.0)["outcome"]["state"] == "done"


def test_connections_of_windows_that_have_less_time_than_at_least():
    others = Others({"type": "connections", "port": 443, "at_least": 15}, "windows")
    none = {"result": {"left": 0}}
    assert others.look(none, begun=True, left=10.0)["outcome"]["state"] == "pending"
    last = others.look(none, left=2.0)["outcome"]
    assert (last["state"], last["note"]) == ("failed", "there was time for 8 s only, not for at_least: 15 s")


def test_an_error_of_windows_is_not_no_connections():
    """The script throws whatever does not say that there are none; the step fails by it, in its words."""
    others = Others({"type": "connections", "port": 443}, "windows")
    denied = {"output": "The connections of port 443 could not be listed: Access denied", "error_details": None}
    found = others.look({"went_wrong": {"failed": True, "error": [denied], "msg": "Unhandled exception"}}, begun=True)
    assert found["outcome"]["state"] == "failed" and found["outcome"]["note"] == denied["output"]
    script = others.called[0].options["script"]
    (quietly,) = [line for line in script.splitlines() if "SilentlyContinue" in line]
    assert "ErrorVariable = 'problems'" in quietly
    assert re.search(r"foreach \(\$problem in \$problems\) \{[^}]*-ne 'ObjectNotFound'\) \{\s+throw ", script)


def test_whether_a_node_was_paused_before_is_seen_and_nothing_is_asked_of_the_cluster():
    others = Others({"type": "failover_cluster", "node": "n1", "cluster": "c1"}, "windows")
    paused = {
        "result": {"node": "n1", "state": "Paused", "drain": "Completed", "done": True, "asked": False, "problem": ""}
    }
    assert others.before(paused) == paused
    parameters = others.called[0].options["parameters"]
    assert (parameters["Begins"], parameters["Node"], parameters["Cluster"]) == (False, "n1", "c1")


def test_a_cluster_is_asked_once_and_anew_where_it_could_not_be_asked():
    others = Others({"type": "failover_cluster", "node": "n1"}, "windows")
    not_yet = {"node": "n1", "state": "", "drain": "", "done": False, "problem": "no cluster service"}
    others.look({"result": dict(not_yet, asked=False)}, begun=True)
    assert others.called[0].options["parameters"]["Begins"] is True
    others.look({"result": dict(not_yet, asked=True)})
    assert others.called[0].options["parameters"]["Begins"] is True
    found = others.look({"result": dict(not_yet, asked=False, done=True)})
    assert others.called[0].options["parameters"]["Begins"] is False and found["outcome"]["state"] == "done"


def test_sites_first_and_application_pools_when_their_requests_have_ended():
    others = Others(IIS, "windows")
    first = others.look(SITES, POOLS, {"changed": True}, {"result": {"left": 1}}, begun=True)
    assert [use.rpartition(".")[2] for use in others.used] == [
        "website_info",
        "web_app_pool_info",
        "website",
        "win_powershell",
    ]
    assert others.called[2].options == {"name": "Shop", "state": "stopped"}
    asked = {"Pools": "ShopPool", "SitePools": "Shared", "SiteIds": "3", "Limit": 1}
    assert others.called[3].options["parameters"] == asked
    assert first["outcome"]["state"] == "pending" and first["changed"] is True
    second = others.look({"result": {"left": 0}}, {"changed": True})
    assert others.used == [POWERSHELL, "microsoft.iis.web_app_pool"]
    assert others.called[0].options["parameters"] == asked and second["outcome"]["state"] == "done"


def test_application_pools_that_can_not_be_stopped():
    others = Others(IIS, "windows")
    wrong = {"went_wrong": {"unreachable": True, "msg": "the shell was closed"}}
    found = others.look(SITES, POOLS, {"changed": True}, {"result": {"left": 0}}, wrong, begun=True)
    assert found["outcome"]["state"] == "failed" and "the shell was closed" in found["outcome"]["note"]


@pytest.mark.parametrize("direction", ["do", "undo"])
def test_nothing_is_stopped_or_started_where_a_name_is_wrong(direction):
    others = Others(dict(IIS, sites=["Shp"]), "windows")
    found = others.look(SITES, POOLS, direction=direction, begun=True)
    assert found["outcome"]["state"] == "failed" and "no site named Shp" in found["outcome"]["note"]


def test_they_are_started_the_other_way_round():
    others = Others(IIS, "windows")
    changed = {"changed": True}
    assert others.look(SITES, POOLS, changed, changed, direction="undo", begun=True)["outcome"]["state"] == "done"
    assert others.used[2:] == ["microsoft.iis.web_app_pool", "microsoft.iis.website"]
    wrong = {"went_wrong": {"failed": True, "msg": "no"}}
    assert others.look(SITES, POOLS, wrong, direction="undo", begun=True)["outcome"]["state"] == "failed"


def test_iis_is_asked_where_its_module_has_changed_nothing():
    """These modules return nothing else."""
    others = Others(IIS, "windows")
    found = others.look(SITES, POOLS, NOTHING, SITES, begun=True)
    words = "microsoft.iis.website changed nothing, and IIS shows Shop as Started, not as stopped"
    assert found["outcome"] == {"state": "failed", "note": words, "direction": "do"}
    found = others.look(SITES, POOLS, NOTHING, POOLS, NOTHING, SITES, direction="undo", begun=True)
    assert found["outcome"]["state"] == "done" and others.used[3] == "microsoft.iis.web_app_pool_info"
    stopped = {"app_pools": [{"name": "ShopPool", "attributes": {"state": "Stopped"}}]}
    found = others.look(SITES, POOLS, NOTHING, stopped, direction="undo", begun=True)
    assert "IIS shows ShopPool as Stopped, not as started" in found["outcome"]["note"]


def test_the_second_list_is_not_asked_for_where_the_first_can_not_be_had():
    others = Others(IIS, "windows")
    wrong = {"went_wrong": {"unreachable": True, "msg": "gone"}}
    assert others.before(wrong) == wrong
    assert others.before(SITES, POOLS) == {**SITES, **POOLS}


def test_an_answer_that_can_not_be_read_is_the_steps_own_failure():
    others = Others({"type": "connections", "port": 443}, "windows")
    found = others.look({"result": {"gone": 2}}, begun=True)
    assert found["outcome"]["state"] == "failed" and "can't be read" in found["outcome"]["note"]


def test_load_balancers_have_changed_when_a_status_has():
    order = {"use": "community.general.haproxy", "options": {"host": "web1"}}
    states = {"state_before": [{"status": "UP", "scur": "1"}], "state_after": [{"status": "UP", "scur": "2"}]}
    assert rounds.look(order, {}, [], {}, lambda order: dict(states, changed=True))["changed"] is False
    states["state_after"][0]["status"] = "DRAIN"
    assert rounds.look(order, {}, [], {}, lambda order: states)["changed"] is True
