# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher is asked for becomes settings, hooks and secrets of one machine."""

from __future__ import annotations

import copy
import json
import os
import pathlib

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runners import lacking
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._text import shown
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import (
    check_settings as configured,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_report import OK
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import (
    OPTIONS as TABLE,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import (
    parse_settings,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._variables import Unknown
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import place_of
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.plan import (
    files_of,
    variables,
)

ROLE = pathlib.Path(__file__).resolve().parents[5] / "roles" / "watcher"
DEFAULTS = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8"))
HOOK = {"name": "app", "phase": "prepare", "content": "#!/bin/sh\n"}
OPTIONS = {
    **{name: DEFAULTS.get(variable, "") for name, variable in variables().items()},
    # As templates make them
    "prepare_before": "300",
    # As the inventory may say it
    "endpoint": "http://169.254.169.254",
    "resource_name": "vm1",
    "api_version": "2020-07-01",
    # What the role knows
    "inventory_hostname": "web1",
    "scope": "",
    "capacity_group": "",
    "python": "",
    "python_zip": "",
    "python_zip_sha256": "",
}


def steps(*given, verify=()):
    groups = {"all": ["web1", "lb1"]}
    host = Host("web1", "linux", groups, lambda name: "linux", lambda path: "/there/" + path)
    plan = make_plan(list(given), host, list(verify))
    assert plan["errors"] == []
    return plan


def files(*given, verify=(), folder="", **options):
    place = place_of("linux", {}, folder, python="/usr/bin/python3", version="1.0.0")
    return files_of(dict(copy.deepcopy(OPTIONS), **options), place, steps(*given, verify=verify), lambda path: None)


def errors(*given, **options):
    made = files(*given, **options)
    assert set(made) == {"errors", "warnings"}
    return made["errors"]


def test_the_settings_have_each_key_as_the_program_takes_it():
    settings = files()["settings"]
    assert settings["format"] == 1
    assert settings["prepare_before"] == 300.0 and settings["cooldown"] == 120.0
    assert settings["policy"] == DEFAULT_POLICY
    assert set(settings) == {"format", *TABLE} - {"interval", "boot_timeout", "history_bytes", "spool_bytes"}


def test_what_the_inventory_does_not_say_is_left_to_the_program():
    unsaid = dict.fromkeys(("endpoint", "resource_name", "api_version"), "")
    assert not set(unsaid).intersection(files(**unsaid)["settings"])


def test_labels_are_what_the_inventory_says_and_what_the_user_adds():
    def labels(**options):
        return files(**options)["settings"]["labels"]

    assert labels() == {"inventory_hostname": "web1"}
    assert labels(scope="web", labels={"ring": 7, "owner": "payments"}) == {
        "inventory_hostname": "web1",
        "scope": "web",
        "capacity_group": "web",
        "ring": "7",
        "owner": "payments",
    }
    assert labels(scope="web", capacity_group="all")["capacity_group"] == "all"
    assert labels(scope="s" * 200)["capacity_group"] == "s" * 200
    assert labels(labels={"owner": "{{ any }} text"})["owner"] == "{{ any }} text"  # nobody chooses machines by it


NAME = (
    "must have letters from A to Z, digits, _ . and - only, none of the last two at its beginning, and at most 200, as receivers of reports "
    "choose machines by it, not "
)
NO_NAMES = [
    "web app",
    "{{ x }}",
    "@/etc/hostname",
    "!web",
    "-web",
    ".web",
    "web:db",
    "web,db",
    "wéb",
    "web\n",
    "x" * 201,
]


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_by_which_nobody_can_choose_machines_are_refused(name):
    words = f"{NAME}{shown(name)}"
    renamed = "Name it otherwise on all of its machines"
    assert errors(scope=name) == [f"azure_maintenance_scope {words}. {renamed}"]
    assert errors(capacity_group=name, scope="web") == [f"azure_maintenance_capacity_group {words}. {renamed}"]
    found = files(inventory_hostname=name, scope="web")
    assert found["settings"]["labels"] == {"scope": "web", "capacity_group": "web"}
    assert found["warnings"] == [
        f"Reports have no label inventory_hostname, and rulebooks start no run for this machine alone: the host's name {words}."
    ]


@pytest.mark.parametrize(
    "labels, words",
    [
        (["ring"], "watcher_labels is ['ring'], not a dictionary, such as {ring: canary}"),
        ({"scope": "x"}, "watcher_labels.scope: the role sets this one, choose another name"),
        ({"ring": True}, "watcher_labels.ring must be a text of one line, not True"),
        ({"ring": ""}, "watcher_labels.ring must be a text of one line, not ''"),
        ({"ring": "x" * 101}, "watcher_labels.ring is 101 characters long, and may have 100"),
        (
            {"a-ring": "x"},
            "watcher_labels.a-ring is no name of a label: it needs letters, digits and underscores, no digit first, at most 60",
        ),
        ({f"l{n}": "x" for n in range(20)}, "watcher_labels are 21, and there may be 20 at most"),
    ],
)
def test_labels_that_no_receiver_could_use_are_refused(labels, words):
    assert errors(labels=labels) == [words]


def test_the_health_endpoint_is_off_unless_it_has_an_address():
    assert files()["settings"]["health"] == {
        "http": [],
        "agent": [],
        "sources": [],
        "metrics_sources": [],
        "app": "",
        "app_timeout": 1.0,
    }
    assert files(health={"http": ["127.0.0.1:8009"]})["settings"]["health"]["http"] == ["127.0.0.1:8009"]
    assert errors(health={"http": ["localhost:8009"]}) == [
        "watcher_health.http[1] is 'localhost:8009', no IP address with a port, such as 127.0.0.1:8009 or [::1]:8009"
    ]


def test_hooks_stand_in_the_settings_with_limit_and_user():
    made = files(hooks=[HOOK, dict(HOOK, name="b", limit=5, user="app")])
    assert made["settings"]["hooks"] == {
        "prepare.d/50-app": {"limit": 300.0, "user": ""},
        "prepare.d/50-b": {"limit": 5.0, "user": "app"},
    }
    assert made["users"] == ["app"]


def test_the_steps_are_those_of_the_machine():
    made = files({"type": "service", "name": "nginx"}, {"type": "connections", "port": 443})
    assert [step["key"] for step in made["settings"]["steps"]] == ["service nginx", "connections of port 443"]


def test_a_watcher_that_only_reports_has_no_steps_and_refuses_none():
    made = files({"type": "haproxy", "load_balancers": ["lb1"]}, mode="observe")
    assert made["errors"] == [] and made["settings"]["steps"] == []


@pytest.mark.parametrize(
    "step, said",
    [
        ({"type": "haproxy", "load_balancers": ["lb1"]}, "with a step of type http or command, or with a hook"),
        ({"type": "tasks", "do": "mine.yml"}, "write it as a step of type command, or as a hook"),
        ({"type": "command", "do": "x", "delegate_to": "lb1"}, "lb1 is to do it (delegate_to)"),
        ({"type": "http", "do": {"url": "http://x/"}, "delegate_to": "localhost"}, "localhost is to do it"),
        ({"type": "command", "do": "x", "become": False}, "it has become: false"),
    ],
)
def test_a_step_that_a_machine_can_not_do_alone_is_refused_with_the_way_out(step, said):
    (only,) = errors({"type": "service", "name": "nginx"}, step)
    assert only.startswith("drain_steps, step 2 (") and said in only


def test_a_verification_is_refused():
    (only,) = errors(verify=["check.yml"])
    assert only.startswith("drain_verify_tasks, file 1") and "a hook of phase recover" in only


@pytest.mark.parametrize(
    "options, said",
    [
        ({"mode": "manag"}, "watcher_mode must be one of manage, observe, not 'manag' (did you mean 'manage'?)"),
        (
            {"policy": [{"do": "approve", "when": {"types": ["Freeze"]}}]},
            "azure_maintenance_policy can't be followed: The policy has no final rule",
        ),
        (
            {"endpoint": "169.254.169.254"},
            "azure_maintenance_endpoint is no address of a metadata service: The endpoint '169.254.169.254' can't be used",
        ),
        (
            {"prepare_before": -1},
            "azure_maintenance_prepare_before must be a number of seconds from 0 to 86400, not -1",
        ),
        ({"cooldown": "long"}, "watcher_cooldown must be a number of seconds from 0 to 86400, not 'long'"),
        ({"cooldown": True}, "watcher_cooldown must be a number of seconds from 0 to 86400, not True"),
        ({"hooks": [dict(HOOK, phase="x")]}, "watcher_hooks, hook 1 ('app'): phase is 'x'"),
        (
            {"reports": [{"url": "ftp://x"}]},
            "watcher_reports[1].url can't be used: it does not begin with http:// or https://",
        ),
        (
            {"reports": [{"uri": "https://x"}]},
            "watcher_reports[1].uri is no key that is known here (did you mean 'url'?): there are ca_file, proxy, secret, url",
        ),
        ({"reports": [{"url": "https://x/t"}] * 2}, "watcher_reports[2].url stands further up already"),
        ({"reports": ["https://x"]}, "watcher_reports[1] must be a dictionary with url"),
        ({"reports": "https://x"}, "watcher_reports must be a list"),
        ({"reports": [{"url": "https://x", "secret": ""}]}, "watcher_reports[1].secret is empty"),
        ({"reports": [{"url": "https://x", "secret": None}]}, "watcher_reports[1].secret is empty"),
    ],
)
def test_what_is_wrong_with_an_option_is_said(options, said):
    (only,) = errors(**options)
    assert said in only


def test_all_that_is_wrong_is_said_at_once():
    assert len(errors(mode="x", hook_limit=-1, hooks=[{}], reports=[{}], policy=[])) == 5


def test_what_is_said_of_a_report_has_no_secret_in_it():
    (only,) = errors(reports=[{"url": "https://x/token-of-a-webhook", "sekret": "hush"}])
    assert "token" not in only and "hush" not in only


def test_what_only_the_watcher_itself_checks_is_refused_as_well():
    assert errors(resource_name="a\nb")[0].startswith("azure_maintenance_resource_name must be a text of one line")
    assert "folder must be a whole path" in errors(folder="state")[0]


def test_a_secret_is_a_file_of_its_own():
    made = files(reports=[{"url": "https://x/t", "secret": "hush"}, {"url": "https://y/", "ca_file": "/ca.pem"}])
    ((name, path, content),) = [tuple(secret.values()) for secret in made["secrets"]]
    signed, unsigned = made["settings"]["reports"]
    assert signed == {"url": "https://x/t", "secret_file": path}
    assert path == f"/etc/azure-maintenance/secrets/{name}"
    assert unsigned == {"url": "https://y/", "ca_file": "/ca.pem"}
    assert content == "hush" and "hush" not in str(made["settings"]) and "x/t" not in name


def test_limits_that_add_up_to_more_than_ten_minutes_are_warned_of():
    service = {"type": "service", "name": "nginx", "timeout": 60}
    assert files(service, hooks=[HOOK], hook_limit=540)["warnings"] == []
    (only,) = files(service, hooks=[HOOK], hook_limit=541)["warnings"]
    assert only.startswith("To prepare this machine may take 601 s") and "Azure announces a redeploy" in only
    (only,) = files(hooks=[dict(HOOK, phase="recover")], hook_limit=601)["warnings"]
    assert only.startswith("To recover this machine may take 601 s") and "Azure announces" not in only
    # undoing counts apart; a step that undoes nothing costs nothing
    assert files({"type": "command", "do": "x", "timeout": 600, "undo_timeout": 9000})["warnings"] == []


def test_a_policy_that_matches_nothing_is_warned_of():
    rules = [{"when": {"types": ["Hibernate"]}, "do": "ignore"}, {"do": "notify"}]
    assert "did you mean 'Terminate'" in files(policy=rules)["warnings"][0]


def test_a_variable_that_was_misspelt_is_refused_and_one_that_is_like_none_is_warned_of():
    slip = Unknown("watcher_aprove", " (did you mean 'watcher_approve'?)")
    another = Unknown("drain_stepz", " (did you mean 'drain_steps'?)")
    own = Unknown("watcher_zzzz", "")
    made = files_of(OPTIONS, place_of("linux", {}), steps(), lambda path: None, [slip, own, another])
    assert made["errors"] == [
        "This collection has no variable watcher_aprove (did you mean 'watcher_approve'?), drain_stepz (did you mean 'drain_steps'?): "
        "correct it, or rename it where it is one of your own"
    ]
    assert "settings" not in made
    made = files_of(OPTIONS, place_of("linux", {}), steps(), lambda path: None, [own])
    assert made["errors"] == []
    assert made["warnings"] == [
        "This collection has no variable watcher_zzzz: unless it is one of your own, correct it."
    ]


@pytest.mark.parametrize(
    "step",
    [
        {"do": "./ctl drain", "undo": "./ctl undrain", "chdir": "{folder}"},
        {"do": ["$APP/ctl", "drain"], "environment": {"APP": "{folder}"}},
        {"do": "${APP}/ctl drain", "environment": {"APP": "{folder}"}},
        {"do": "./ctl drain", "chdir": "$APP", "environment": {"APP": "{folder}"}},
        {"do": "~/ctl drain", "environment": {"HOME": "{folder}"}},
        {"do": "ctl drain", "environment": {"PATH": "{folder}"}},
    ],
)
def test_a_command_that_maintain_finds_is_found_by_the_watcher(tmp_path, step):
    """One step, five ways to look at it: the role, its settings, a look of `maintain`, and check-config and doctor, which share theirs."""
    given = json.loads(json.dumps(dict(step, type="command")).replace("{folder}", str(tmp_path)))
    made = files(given)
    assert made["errors"] == []
    configuration = parse_settings(json.dumps(made["settings"]), "the settings")
    (own,) = configuration.steps
    there = tmp_path / "ctl"
    for mode, is_there in ((0o644, False), (0o755, True)):
        there.write_text("#!/bin/sh\n", encoding="ascii")
        there.chmod(mode)
        assert (lacking(own, os.environ["PATH"]) == "") is is_there
        (found,) = configured.steps(configuration, lambda command: None)
        assert (found.state == OK) is is_there, found.words


# ---- Windows ----

ON_WINDOWS = place_of(
    "windows", {"ProgramFiles": r"C:\Program Files", "ProgramData": r"C:\ProgramData"}, version="1.0.0"
)
PYTHON = r"C:\Program Files\Python311\python.exe"


def on_windows(*given, folder=ON_WINDOWS.state, **options):
    host = Host("web1", "windows", {"all": ["web1", "lb1"]}, lambda name: "windows", lambda path: path)
    whole = {**copy.deepcopy(OPTIONS), "python": PYTHON, **options}
    return files_of(whole, ON_WINDOWS._replace(state=folder), make_plan(list(given), host, []), lambda path: None)


def test_the_settings_of_a_windows_machine_are_checked_as_such():
    command = {"type": "command", "do": [r"C:\app.exe", "/drain"]}
    made = on_windows({"type": "iis", "sites": ["Shop"]}, {"type": "service", "name": "Shop"}, command)
    assert made["errors"] == []
    assert made["settings"]["folder"] == ON_WINDOWS.state and made["settings"]["steps"][2]["do"]["argv"]
    assert [step["elsewhere"] for step in made["settings"]["steps"]] == [False] * 3, "it is alone"
    assert made["python"]["executable"] == made["interpreter"] == PYTHON
    assert "watcher_python" not in str(files()["errors"]), "of no interest to Linux machines"


def test_reports_and_health_of_a_windows_machine():
    reports = [{"url": "https://reports.test", "secret": "x", "ca_file": r"C:\ca.pem"}]
    hook = {"name": "tell.ps1", "phase": "notify", "content": "exit 0"}
    made = on_windows(reports=reports, hooks=[hook], health={"http": ["127.0.0.1:8009"]})
    assert made["errors"] == []
    (secret,) = made["secrets"]
    assert made["settings"]["reports"][0]["secret_file"] == rf"{ON_WINDOWS.secrets}\{secret['name']}"
    assert made["settings"]["health"]["http"] == ["127.0.0.1:8009"]


def test_steps_that_a_windows_machine_can_not_do_alone_are_refused():
    (words,) = on_windows({"type": "command", "do": r"C:\app.exe /drain"})["errors"]
    assert "step 1 (command" in words and "give the program and its arguments as a list" in words
    balancer = {"type": "command", "do": ["drain", "web1"], "delegate_to": "lb1"}
    (words,) = on_windows(balancer)["errors"]
    assert "lb1 is to do it (delegate_to)" in words
    assert on_windows(dict(balancer, delegate_to="web1"))["errors"] == []


@pytest.mark.parametrize(
    "options, words",
    [
        ({"hooks": [HOOK]}, "Windows runs what ends in one of"),
        ({"folder": "/etc/hooks"}, "must be a whole path, such as C:"),
    ],
)
def test_what_is_wrong_on_windows_is_refused(options, words):
    made = on_windows(**options)
    assert "settings" not in made and any(words in error for error in made["errors"]), made["errors"]
