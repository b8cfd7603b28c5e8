# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way an action goes, and every call it makes to a Windows machine."""

import re
import types

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19 every text is a template
    trust_as_template = str

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._module import WITHOUT_REQUESTS
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils import _action
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.machine import (
    CONNECTIONS,
    ENDPOINT,
    TASK_VARS,
    Script,
    Stays,
    action,
    answering,
    approval,
    connection,
    failure,
    instead,
    interfaces,
    look,
    own_name,
    wait,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ScriptedClock,
    document,
    event,
)

WINDOWS = sorted(name for name, row in CONNECTIONS.items() if row[2])
POSIX = sorted(name for name, row in CONNECTIONS.items() if not row[2])
ID = "ID-1"
QUIET = document(1)
SHOWN = document(2, event(resources=["win1"]))
STARTED = document(3, event(status="Started", resources=["win1"]))


@pytest.fixture(autouse=True)
def the_script_plays_powershell(monkeypatch):
    monkeypatch.setattr(_action, "Standing", Stays)


@pytest.fixture
def clock(monkeypatch):
    clock = ScriptedClock()
    monkeypatch.setattr(_action, "Clock", lambda: clock)
    return clock


def run(clock, operation, *expected, over="winrm", **options):
    script = Script(*expected, clock=clock)
    options.setdefault("endpoint", ENDPOINT)
    result = action(operation, over, script, **options).run(None, TASK_VARS)
    script.finish()
    return result


class Started:
    """Every start of a module, none of which does anything."""

    def __init__(self, **more):
        self.calls = []
        self.removed = []
        self.more = more

    def __call__(self, **keywords):
        self.calls.append(keywords)
        return {"changed": False, "what": "ever", **self.more}


# --- which way ---


@pytest.mark.parametrize("name", CONNECTIONS)
def test_the_shell_tells_what_the_machine_is(name):
    assert getattr(connection(name)._shell, "_IS_WINDOWS", False) == CONNECTIONS[name][2]


@pytest.mark.parametrize("check_mode, async_val", [(False, 0), (True, 0), (False, 60)])
@pytest.mark.parametrize("operation", ["info", "approve"])
@pytest.mark.parametrize("over", POSIX)
def test_posix_the_module_is_started_as_it_is(over, operation, check_mode, async_val):
    start = Started()
    given = {"wait_timeout": "5", **({"event_ids": ID} if operation == "approve" else {})}
    module = action(operation, over, start, check_mode, async_val, **given)
    assert module.run(None, TASK_VARS) == {"changed": False, "what": "ever"}
    assert start.calls == [{"module_args": given, "task_vars": TASK_VARS, "wrap_async": async_val}]
    assert len(start.removed) == (0 if async_val else 1)


def test_posix_that_requests_is_missing_is_said_with_v(monkeypatch):
    said = []
    monkeypatch.setattr(
        _action, "Display", lambda: types.SimpleNamespace(v=lambda words, host: said.append((host, words)))
    )
    found = action("info", "ssh", Started(**{WITHOUT_REQUESTS: True})).run(None, TASK_VARS)
    assert found == {"changed": False, "what": "ever"}
    assert said == [("win1", "Its Python has no library requests: the standard library's HTTP is used.")]


@pytest.mark.parametrize("operation", ["info", "approve"])
@pytest.mark.parametrize("over", WINDOWS)
def test_windows_async_is_refused(over, operation, clock):
    result = run(clock, operation, over=over, async_val=60, event_ids=[ID])
    assert result["failed"] is True and result["failure"]["kind"] == "invalid"
    assert re.match("win1: async does not work .* wait_timeout .* strategy: free", result["msg"])


@pytest.mark.parametrize("operation", ["info", "approve"])
@pytest.mark.parametrize(
    "transport, become, said", [("paramiko", None, "not by paramiko"), ("psrp", "runas", "ansible_become")]
)
def test_windows_what_can_not_be_asked_is_refused(operation, transport, become, said, clock):
    script = Script(clock=clock)
    module = action(operation, "psrp", script, endpoint=ENDPOINT, event_ids=[ID])
    if operation == "info":
        del module._task.args["event_ids"]
    module._connection.transport, module._connection.become = transport, become
    result = module.run(None, TASK_VARS)
    assert result["failed"] is True and result["failure"]["kind"] == "invalid"
    assert result["msg"].startswith("win1: ") and said in result["msg"]


@pytest.mark.parametrize("over", WINDOWS)
def test_windows_the_controller_does_the_work(over, clock):
    result = run(clock, "info", look(SHOWN, first=True) + own_name(), over=over)
    assert [entry["id"] for entry in result["events"]] == [ID]
    assert result["resource_name"] == "win1"
    assert result["changed"] is False
    assert "failed" not in result and "warnings" not in result


def test_what_a_task_leaves_behind_is_removed(clock):
    script = Script(look(QUIET, first=True) + own_name(), clock=clock)
    module = action("info", "winrm", script, endpoint=ENDPOINT)
    module._connection._shell.tmpdir = "C:\\Temp\\x"
    module.run(None, TASK_VARS)
    assert script.removed == ["C:\\Temp\\x"]


# --- what the inventory says ---

HERE = {
    "azure_maintenance_endpoint": "http://{{ where }}.test/{{ inventory_hostname }}",
    "azure_maintenance_api_version": "2019-08-01",
    "azure_maintenance_resource_name": "{{ nothing | default('') }}",
    "where": "imds",
}
THERE = dict(HERE, azure_maintenance_resource_name="vm2", where="elsewhere", inventory_hostname="win1")
"""Of the host win2 that a task is delegated to: Ansible leaves in them the name of the host that delegates."""


def variables(host):
    return {name: trust_as_template(value) for name, value in host.items()}


def given(operation, host, delegate_to=None, check_mode=False, async_val=0, **options):
    """What the module on a Linux machine gets by these variables and options."""
    start, required = Started(), {"event_ids": [ID]} if operation == "approve" else {}
    task_vars = dict(TASK_VARS, **variables(host), ansible_delegated_vars={"win2": variables(THERE)})
    action(operation, "ssh", start, check_mode, async_val, delegate_to, **required, **options).run(None, task_vars)
    return {name: value for name, value in start.calls[0]["module_args"].items() if name not in required}


@pytest.mark.parametrize("check_mode, async_val", [(False, 0), (True, 0), (False, 60)])
@pytest.mark.parametrize("operation", ["info", "approve"])
def test_posix_the_inventory_has_the_defaults(operation, check_mode, async_val):
    found = given(operation, HERE, None, check_mode, async_val, timeout=3, endpoint=None)
    assert found == {"timeout": 3, "endpoint": "http://imds.test/win1", "api_version": "2019-08-01"}


@pytest.mark.parametrize("operation", ["info", "approve"])
def test_the_variables_of_a_delegate_are_its_own(operation):
    assert given(operation, HERE, "win2") == {
        "endpoint": "http://elsewhere.test/win2",
        "api_version": "2019-08-01",
        "resource_name": "vm2",
    }
    assert given(operation, HERE, "win3") == {}


def test_an_option_that_is_given_wins():
    options = {"endpoint": "http://mine.test", "api_version": "2020-07-01", "resource_name": "mine"}
    assert given("info", dict(THERE, azure_maintenance_endpoint="{{ undefined }}"), **options) == options


def test_a_variable_that_can_not_be_evaluated_asks_nobody():
    with pytest.raises(AnsibleError, match="undefined"):
        given("approve", dict(HERE, azure_maintenance_endpoint="{{ nowhere }}"))


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("operation", ["info", "approve"])
def test_windows_the_inventory_has_the_defaults(operation, check_mode, clock):
    """So that no request leaves for Azure's own address."""
    script = Script(look(STARTED, first=True) + own_name(), clock=clock)
    host = {"azure_maintenance_endpoint": ENDPOINT, "azure_maintenance_resource_name": "win1"}
    options = {"event_ids": [ID]} if operation == "approve" else {}
    result = action(operation, "winrm", script, check_mode, **options).run(None, dict(TASK_VARS, **variables(host)))
    script.finish()
    assert (result["endpoint"], result["resource_name"]) == (ENDPOINT, "win1")


# --- a wait that holds up other hosts ---


@pytest.mark.parametrize("over", ["ssh", "winrm"])
@pytest.mark.parametrize(
    "is_trap, hosts, strategy, options, keywords",
    [
        (True, 3, "linear", {"wait": "yes"}, {}),
        (True, 3, "debug", {"wait": True}, {}),
        (False, 1, "linear", {"wait": True}, {}),
        (False, 3, "linear", {}, {}),
        (False, 3, "free", {"wait": True}, {}),
        (False, 3, "host_pinned", {"wait": True}, {}),
        (False, 3, "linear", {"wait": True}, {"run_once": True}),
    ],
)
def test_a_wait_that_holds_up_other_hosts_is_a_warning(over, is_trap, hosts, strategy, options, keywords, clock):
    start = Started() if over == "ssh" else Script(look(SHOWN, first=True) + own_name(), clock=clock)
    module = action("info", over, start, endpoint=ENDPOINT, **options)
    play = types.SimpleNamespace(strategy=strategy)
    vars(module._task).update(keywords, _parent=types.SimpleNamespace(_play=play))
    result = module.run(None, dict(TASK_VARS, ansible_play_batch=["win1", "win2", "win3"][:hosts]))
    found = result.get("warnings", [])
    assert len(found) == int(is_trap)
    assert all(
        way in warning for warning in found for way in ("waits on 3 hosts", "strategy: free", "run_once", "maintain")
    )


@pytest.mark.parametrize("poll, warnings", [(0, 0), (5, 1)])
def test_a_wait_in_the_background_holds_up_nobody(poll, warnings):
    module = action("info", "ssh", Started(), async_val=60, wait=True)
    module._task.poll = poll
    result = module.run(None, dict(TASK_VARS, ansible_play_batch=["win1", "win2"]))
    assert len(result.get("warnings", [])) == warnings


# --- the sequences ---


def test_a_wait_is_asked_for_a_minute_at_a_time(clock):
    result = run(
        clock,
        "info",
        look(QUIET, first=True, etag='"1"') + own_name(),
        wait(QUIET, 60000, etag='"1"', polls=60, takes=60),
        wait(QUIET, 60000, etag='"1"', polls=60, takes=60),
        wait(QUIET, 27000, etag='"1"', polls=27, takes=27),
        wait=True,
        wait_timeout=150,
    )
    assert result["failed"] is True
    assert result["failure"]["kind"] == "timeout"
    assert result["polls"] == 148
    assert result["events"] == [] and result["incarnation"] == 1
    assert result["msg"].startswith("No event came within 150 s")


def test_approve_and_confirm(clock):
    result = run(
        clock,
        "approve",
        look(SHOWN, first=True) + own_name(),
        approval(ID) + wait(SHOWN, 59000, STARTED),
        event_ids=[ID],
        prepared_resources=["other", "win1"],
    )
    assert (result["changed"], result["approved"], result["confirmed"]) == (True, [ID], [ID])
    assert result["diff"]["before"] == {"events": [{"id": ID, "status": "Scheduled"}]}


def test_approve_in_check_mode_sends_nothing(clock):
    result = run(clock, "approve", look(SHOWN, first=True) + own_name(), check_mode=True, event_ids=[ID])
    assert (result["changed"], result["approved"], result["confirmed"]) == (True, [ID], [])
    assert result["diff"]["after"] == {"events": [{"id": ID, "status": "approved"}]}


def test_what_is_not_approved_is_a_warning_or_a_failure(clock):
    script = look(document(2, event(resources=["win1", "win2"])), first=True) + own_name()
    warned = run(clock, "approve", script, event_ids=[ID])
    assert warned["warnings"] == [warned["not_approved"][0]["message"]]
    assert "failed" not in warned
    failing = run(clock, "approve", script, event_ids=[ID], fail_on_not_approved=True)
    assert failing["failed"] is True and failing["failure"]["kind"] == "not_approved"
    assert warned["warnings"][0] in failing["msg"] and "warnings" not in failing


def test_nothing_is_approved_when_the_run_is_gone(clock, monkeypatch):
    monkeypatch.setattr(_action.Caller, "is_gone", lambda caller: True)
    result = run(clock, "approve", look(SHOWN, first=True) + own_name(), event_ids=[ID])
    assert result["failure"]["kind"] == "interrupted" and result["approved"] == []


def test_discovery(clock):
    value = bytes.fromhex("f5000000000000000400000000000000ffffff7fa83f8110")
    found = look(QUIET, first=True) + own_name()
    for request in found.arguments:
        request["Url"] = request["Url"].replace(ENDPOINT, "http://168.63.129.16")
    result = run(
        clock,
        "info",
        failure(look(QUIET, first=True) + own_name(), "HostUnreachable"),
        interfaces(value),
        found,
        discover=True,
    )
    assert result["endpoint"] == "http://168.63.129.16"
    assert "DHCP option 245 led to" in result["warnings"][0]


# --- what can go wrong ---

BROKEN = [
    (AnsibleError("running scripts is disabled on this system"), "Get-ExecutionPolicy"),
    ({"result": {}}, "did not say why"),
    ({"result": {"answers": []}}, "got 0 answers"),
    ({"status": 200, "headers": {}, "polls": 1}, "it has no body"),
    ({"status": 200, "headers": {}, "polls": 1, "body": "*"}, "not base64"),
    ({"result": {"failure": "PowerShell", "message": "PowerShell 4.0, FullLanguage"}}, "5.1 or newer"),
    ({"result": {"failure": "PowerShell", "message": "PowerShell 5.1, ConstrainedLanguage"}}, "FullLanguage"),
]


def broken(call, result):
    """The call gets this result, or its first request this answer."""
    return answering(call, result) if isinstance(result, dict) and "status" in result else instead(call, result)


@pytest.mark.parametrize("result, said", BROKEN)
def test_a_machine_that_can_not_look(result, said, clock):
    """One call, one clear error, and no approval."""
    outcome = run(clock, "approve", broken(look(SHOWN, first=True) + own_name(), result), event_ids=[ID])
    assert outcome["failed"] is True
    assert outcome["msg"].startswith("win1: ")
    assert said in outcome["msg"]
    assert outcome["failure"] == {"kind": "invalid", "status": None, "url": None}
    assert (outcome["changed"], outcome["approved"]) == (False, [])


@pytest.mark.parametrize("result, said", BROKEN)
def test_a_machine_that_can_not_look_any_more(result, said, clock):
    """It is not asked again and again for the rest of a wait."""
    outcome = run(clock, "info", look(QUIET, first=True) + own_name(), broken(wait(QUIET, 60000), result), wait=True)
    assert said in outcome["msg"]
    assert outcome["incarnation"] == 1


def test_an_approval_without_a_usable_result_says_so(clock):
    outcome = run(
        clock,
        "approve",
        look(SHOWN, first=True) + own_name(),
        answering(approval(ID), {"status": 200}),
        event_ids=[ID],
    )
    assert "Approving ID-1 failed: win1: " in outcome["msg"]
    assert "Whether the approval was sent is not known" in outcome["msg"]


def test_a_lost_connection_is_ansibles_unreachable(clock):
    with pytest.raises(AnsibleConnectionFailure):
        run(clock, "info", instead(look(QUIET, first=True) + own_name(), AnsibleConnectionFailure("timed out")))


@pytest.mark.parametrize(
    "operation, options, said",
    [
        (
            "info",
            {"wait_tmeout": 5},
            "win1: Unsupported parameters for (cloudops.azure_maintenance.scheduled_events_info) "
            "module: wait_tmeout. Supported parameters include: affecting, api_version",
        ),
        (
            "info",
            {"wait_for": "godot"},
            "win1: value of wait_for must be one of: event, started, gone, change, got: godot",
        ),
        ("info", {"timeout": "soon"}, "win1: argument 'timeout' is of type"),
        ("approve", {}, "win1: missing required arguments: event_ids"),
    ],
)
@pytest.mark.parametrize("over", ["winrm", "ssh"])
def test_arguments_are_those_of_the_module(over, operation, options, said, clock):
    result = run(clock, operation, over=over, **options)
    assert result["failed"] is True and result["failure"]["kind"] == "invalid"
    assert said in result["msg"]


@pytest.mark.parametrize(
    "operation, options, said",
    [
        ("info", {"endpoint": "169.254.169.254"}, "does not begin with http"),
        ("approve", {"event_ids": []}, "must name at least one event"),
    ],
)
def test_options_out_of_range_send_nothing(operation, options, said, clock):
    result = run(clock, operation, **options)
    assert result["failed"] is True
    assert result["failure"]["kind"] == "invalid"
    assert said in result["msg"]


def test_options_have_the_types_of_the_module(clock):
    result = run(
        clock,
        "approve",
        look(SHOWN, first=True) + own_name(),
        approval(ID),
        event_ids=ID,
        wait="no",
    )
    assert result["approved"] == [ID]


def test_the_delegate_is_named(clock):
    result = run(
        clock,
        "info",
        instead(look(QUIET, first=True) + own_name(), AnsibleError("boom")),
        delegate_to="win2",
    )
    assert result["msg"].startswith("win2: ")
