# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's settings: what is followed, and with which line, why and what instead what can't be is refused."""

import json
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.linux_host import LINUX
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.windows_host import WINDOWS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.health import HealthSettings
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import (
    RENAMED,
    Configuration,
    Settings,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.refused import named
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import (
    SettingsError,
    SettingsFile,
    configured,
    line_of,
    parse_settings,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import HookOptions
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import step

WHERE = "/etc/azure-maintenance/watcher.json"


def parsed(**keys):
    return parse_settings(json.dumps(dict({"format": 1}, **keys)), WHERE)


def refusal(text):
    with pytest.raises(SettingsError) as caught:
        parse_settings(text, WHERE)
    return caught.value.message


WINDOWS_PATHS = {
    "folder": "C:\\ProgramData\\AzureMaintenance\\",
    "hooks_folder": r"C:\ProgramData\AzureMaintenance\config\hooks",
    "reports": [{"url": "https://reports.test", "secret_file": r"C:\secrets\one", "ca_file": r"C:\ca.pem"}],
}


def test_what_is_for_another_system_is_checked_by_its_rules():
    """As the role does, which runs on Linux whatever its machines are."""
    iis = dict(step("iis sites Shop"), type="iis")
    given = {"format": 1, **WINDOWS_PATHS, "steps": [iis]}
    found, wrong = configured(given, WINDOWS)
    assert wrong == [] and (found.folder, found.hooks_folder) == (
        r"C:\ProgramData\AzureMaintenance",
        r"C:\ProgramData\AzureMaintenance\config\hooks",
    )
    assert found.reports[0].secret_file == r"C:\secrets\one" and found.steps == (iis,)
    words = {named(one.path): one.words for one in configured(given, LINUX)[1]}
    assert set(words) == {"folder", "hooks_folder", "reports[1].secret_file", "steps[1]"}
    assert words["folder"].startswith("must be a whole path, such as /var/lib/azure-maintenance")
    for_linux = {"format": 1, "folder": "/var/lib/azure-maintenance"}
    assert configured(for_linux, LINUX)[1] == [] and "such as C:" in configured(for_linux, WINDOWS)[1][0].words


def test_an_empty_file_means_all_defaults():
    found = parsed()
    policy = found.settings.policy
    assert found == Configuration()._replace(settings=found.settings)
    assert (found.settings.mode, found.settings.approve, found.settings.prepare_before) == ("manage", "own", 300.0)
    assert found.settings.cooldown == 120.0
    assert policy[-1].do == "prepare_and_approve" and not policy[-1].when


def test_everything_that_can_be_said():
    given = dict(
        format=1,
        mode="observe",
        approve="never",
        policy=[{"do": "notify"}],
        prepare_before=60,
        cooldown=0,
        hook_limit=20,
        hooks={"prepare.d/10-app": {"limit": 5, "user": "app"}, "recover.d/10-app": {}},
        hooks_folder="/srv/hooks/",
        steps=[step("a"), step("b", "service")],
        endpoint="http://127.0.0.1:8080/vm/web1/",
        api_version="2019-08-01",
        resource_name="web1",
        interval=0.01,
        reports=[{"url": "https://example.com/x", "secret_file": "/etc/secret"}],
        folder="/srv/state",
        boot_timeout=0,
        history_bytes=5000,
        spool_bytes=6000,
    )
    found, wrong = configured(given, LINUX)
    assert wrong == []
    assert (found.settings.mode, found.settings.approve, found.settings.prepare_before) == ("observe", "never", 60.0)
    assert found.settings.cooldown == 0.0
    assert [rule.do for rule in found.settings.policy] == ["notify"]
    assert found.hooks == {"prepare.d/10-app": HookOptions(5.0, "app"), "recover.d/10-app": HookOptions()}
    assert (found.hooks_folder, found.folder) == ("/srv/hooks", "/srv/state")
    assert [one["key"] for one in found.steps] == ["command a", "service b"]
    assert (found.endpoint, found.api_version) == ("http://127.0.0.1:8080/vm/web1", "2019-08-01")
    assert (found.resource_name, found.interval, found.boot_timeout) == ("web1", 0.01, 0.0)
    assert [(one.url, one.secret_file) for one in found.reports] == [("https://example.com/x", "/etc/secret")]
    assert (found.history_bytes, found.spool_bytes, found.hook_limit) == (5000, 6000, 20.0)


@pytest.mark.parametrize("former", sorted(RENAMED))
def test_a_key_that_has_another_name_now_is_refused_with_that(former):
    said = refusal(json.dumps({"format": 1, former: None}))
    assert said.startswith(f"{WHERE}, line 1: {former} is now called {RENAMED[former]}: rename it")


def test_no_former_key_is_read_and_every_new_one_is():
    keys = {*Settings._fields, *Configuration._fields}
    assert not keys.intersection(RENAMED) and keys.issuperset(RENAMED.values())


def test_what_is_null_is_as_if_left_out():
    given = dict.fromkeys(("endpoint", "api_version", "resource_name", "steps", "interval", "policy", "mode"))
    assert parsed(**given) == parsed()


@pytest.mark.parametrize(
    "text, place, words",
    [
        ("", "line 1: ", "no JSON"),
        ('{"format": 1,\n  "mode": "manage"\n  "approve": "never"}', "line 3: ", "delimiter"),
        ('{"format": 1,\n "interval": NaN}', "", "NaN is not a number"),
        ("[" * 100000, "", "nested"),
    ],
)
def test_what_is_no_json(text, place, words):
    message = refusal(text)
    assert message.startswith(f"{WHERE}: this is no JSON") and place in message and words in message


@pytest.mark.parametrize(
    "value, named, words",
    [
        ('{"mode": "manage"}', "format", "must be 1, and is missing"),
        ('{"format": 2}', "format", "must be 1, and is 2"),
        ('{"format": true}', "format", "must be 1, and is True"),
        ('{"format": 1, "aprove": "never"}', "aprove", "did you mean 'approve'?"),
        ('{"format": 1, "mode": "manag"}', "mode", "one of manage, observe, not 'manag' (did you mean 'manage'?)"),
        ('{"format": 1, "mode": ["manage"]}', "mode", "must be one of manage, observe"),
        ('{"format": 1, "mode": "observe", "mode": "manage"}', "mode", "is there twice"),
        ('{"format": 1, "prepare_before": "300"}', "prepare_before", "must be a number of seconds from 0 to 86400"),
        ('{"format": 1, "prepare_before": true}', "prepare_before", "must be a number of seconds"),
        ('{"format": 1, "prepare_before": -1}', "prepare_before", "must be a number of seconds"),
        ('{"format": 1, "prepare_before": 1e999}', "prepare_before", "must be a number of seconds"),
        ('{"format": 1, "cooldown": 86401}', "cooldown", "must be a number of seconds from 0 to 86400"),
        ('{"format": 1, "interval": 0.1}', "interval", "must be at least 0.5 s"),
        ('{"format": 1, "folder": "state"}', "folder", "must be a whole path"),
        ('{"format": 1, "endpoint": "169.254.169.254"}', "endpoint", "no address of a metadata service"),
        ('{"format": 1, "endpoint": "https://169.254.169.254"}', "endpoint", "must begin with http://"),
        ('{"format": 1, "api_version": "2020-07-02"}', "api_version", "did you mean '2020-07-01'?"),
        ('{"format": 1, "resource_name": "web1\\n"}', "resource_name", "must be a text of one line"),
        ('{"format": 1, "hooks": {"prepare.d/a": {"limits": 5}}}', "hooks.prepare.d/a.limits", "did you mean 'limit'?"),
        (
            '{"format": 1, "hooks": {"prepare.d/a": {"limit": 0}}}',
            "hooks.prepare.d/a.limit",
            "a number of seconds from 1",
        ),
        ('{"format": 1, "hooks": {"prepair.d/a": {}}}', "hooks.prepair.d/a", "of no phase (did you mean 'prepare.d'?)"),
        ('{"format": 1, "hooks": {"10-a": {}}}', "hooks.10-a", "begin with prepare.d, recover.d, notify.d"),
        ('{"format": 1, "hooks": ["prepare.d/a"]}', "hooks", "must be an object"),
        ('{"format": 1, "reports": [{"url": "https://a.b"}, {"url": "ftp://a.b"}]}', "reports[2].url", "http://"),
        ('{"format": 1, "policy": [{"do": "notify"}, {"do": "notify"}]}', "policy[2]", "can never match"),
        ('{"format": 1, "policy": "notify"}', "policy", "must be a list"),
        ('{"format": 1, "steps": [{"type": "service"}]}', "steps[1]", "is no step as filter drain_steps returns it"),
        ('{"format": 1, "history_bytes": 10}', "history_bytes", "number of bytes from 4096"),
        (
            '{"format": 1, "labels": {"scope": "web:db"}}',
            "labels.scope",
            "must have letters from A to Z, digits, _ . and - only",
        ),
        ('{"format": 1, "labels": {"capacity_group": "{{ x }}"}}', "labels.capacity_group", "not '{{ x }}'"),
        ('{"format": 1, "labels": {"inventory_hostname": "@/x"}}', "labels.inventory_hostname", "not '@/x'"),
        ("[1]", "the whole file", "must be an object"),
    ],
)
def test_what_is_wrong_is_named(value, named, words):
    message = refusal(value)
    assert f": {named} " in message and words in message, message
    assert message.startswith(f"{WHERE}, line 1: ")


def test_a_step_that_a_machine_can_not_do_alone():
    for one in (step("lb", "haproxy"), dict(step("x"), elsewhere=True)):
        message = refusal(json.dumps({"format": 1, "steps": [step("a"), one]}))
        assert "steps[2] is of type" in message and "set mode to 'observe'" in message
    assert "of a step before it" in refusal(json.dumps({"format": 1, "steps": [step("a"), step("a")]}))


def test_the_line_is_that_of_what_is_to_be_corrected():
    text = json.dumps(
        {"format": 1, "hooks": {"notify.d/a": {}, "notify.d/b": {"limit": "x"}}, "mode": "manage"}, indent=2
    )
    (line,) = [number for number, words in enumerate(text.splitlines(), 1) if "limit" in words]
    assert f"line {line}: hooks.notify.d/b.limit" in refusal(text)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("a", 0), 2),
        (("a", 1), 3),
        (("a", 1, 'b, {["\\'), 4),
        (("a", 1, "none"), 3),
        (("a", 2), 6),
        (("c",), 7),
        (("none",), 1),
    ],
)
def test_the_line_of_each_value(path, line):
    text = '{\n"a": [{},\n{\n"b, {[\\"\\\\":[ ], "d" : -1.5e3\n},\nnull],\n"c" :\n"]"}'
    assert json.loads(text)["a"][1]['b, {["\\'] == []
    assert line_of(text, path) == line


def test_the_line_of_a_name_that_is_there_twice():
    assert refusal('{"format": 1,\n"mode": "manage",\n"mode": "manage"}').startswith(
        f"{WHERE}, line 3: mode is there twice"
    )


# --- the file ---


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "watcher.json"
    path.write_text('{"format": 1}')
    path.chmod(0o600)
    return path


def test_a_file_that_changes_is_read_again_and_only_then(file):
    found = SettingsFile(str(file))
    assert not found.refresh() and not found.refresh(anyway=True)
    file.write_text('{"format": 1, "approve": "never"}')
    assert found.refresh() and found.current.settings.approve == "never"
    assert not found.refresh()


def test_one_that_is_put_in_its_place_is_seen_too(file):
    found = SettingsFile(str(file))
    other = file.with_name("other")
    other.write_text('{"format": 1, "mode": "observe"}')
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.rename(file)
    assert found.refresh() and found.current.settings.mode == "observe"


@pytest.mark.parametrize("broken", ["{", '{"format": 1, "mode": "x"}', "\udcff", None])
def test_the_last_good_ones_stay_in_force(file, broken):
    file.write_text('{"format": 1, "approve": "never"}')
    found = SettingsFile(str(file))
    if broken is None:
        file.unlink()
    else:
        file.write_bytes(broken.encode("utf-8", "surrogateescape"))
    assert not found.refresh()
    assert str(file) in found.problem and found.current.settings.approve == "never"
    file.write_text('{"format": 1}')
    assert found.refresh() and not found.problem and found.current.settings.approve == "own"


def test_at_the_start_there_must_be_good_ones(file):
    file.unlink()
    with pytest.raises(SettingsError, match="can't be read: No such file"):
        SettingsFile(str(file))


@pytest.mark.parametrize("mode, who", [(0o602, "everybody"), (0o620, "a group")])
def test_a_file_that_others_may_write_is_not_followed(file, mode, who):
    file.chmod(mode)
    with pytest.raises(SettingsError, match=f"{who} may write it"):
        SettingsFile(str(file))
    file.chmod(0o600)
    file.parent.chmod(0o777)
    with pytest.raises(SettingsError, match="everybody may write it, or its folder"):
        SettingsFile(str(file))


# --- the health endpoint ---


def test_the_health_endpoint():
    assert parsed().health == HealthSettings() and not parsed(health={}).health.is_wanted
    given = {"http": ["127.0.0.1:8009", "0.0.0.0:8009"], "agent": ["[::1]:8010"], "sources": ["168.63.129.16"]}
    found = parsed(health=dict(given, app="http://localhost:8080/ready", app_timeout=2)).health
    assert found.is_wanted and found._asdict() == dict(
        {key: tuple(value) for key, value in given.items()},
        metrics_sources=(),
        app="http://localhost:8080/ready",
        app_timeout=2.0,
    )


def test_metrics_alone():
    """Who gives metrics to Prometheus need not give health to anybody."""
    found = parsed(health={"http": ["0.0.0.0:8009"], "metrics_sources": ["10.0.9.5", "fd00::/8"]}).health
    assert (found.sources, found.metrics_sources) == ((), ("10.0.9.5", "fd00::/8"))


@pytest.mark.parametrize(
    ("health", "words"),
    [
        ([], "health must be an object"),
        ({"htp": []}, "health.htp is no key that is known here (did you mean 'http'?)"),
        ({"http": "127.0.0.1:8009"}, "health.http must be a list"),
        ({"http": ["localhost:8009"]}, "health.http[1] is 'localhost:8009', no IP address with a port"),
        ({"http": [8009]}, "health.http[1] is 8009, no IP address with a port"),
        ({"http": ["127.0.0.1:1", "127.0.0.1:1"]}, "health.http[2] is '127.0.0.1:1', which stands further up already"),
        ({"http": ["127.0.0.1:1"], "agent": ["[::1]:1"]}, "health.agent[1] has the port 1 of an address in http"),
        (
            {"http": ["10.0.0.4:8009"]},
            "health.http[1] is '10.0.0.4:8009', where others can reach it, and sources names nobody",
        ),
        ({"http": ["127.0.0.1:1"], "sources": ["web1"]}, "health.sources[1] is 'web1', no IP address or network"),
        (
            {"http": ["127.0.0.1:1"], "metrics_sources": ["prom"]},
            "health.metrics_sources[1] is 'prom', no IP address or network",
        ),
        (
            {"agent": ["10.0.0.4:8009"], "metrics_sources": ["10.0.9.5"]},
            "health.agent[1] is '10.0.0.4:8009', where others can reach it, and sources names nobody",
        ),
        (
            {"agent": ["127.0.0.1:8009"], "metrics_sources": ["10.0.9.5"]},
            "health.metrics_sources names who gets metrics, and http no address where they are to be had",
        ),
        ({"http": ["127.0.0.1:1"], "app": "http://web1/"}, "health.app is 'http://web1/', no URL of this machine"),
        (
            {"http": ["127.0.0.1:80"], "app": "http://127.0.0.1/"},
            "health.app is the port of the health endpoint itself",
        ),
        ({"http": ["127.0.0.1:1"], "app_timeout": 60}, "health.app_timeout must be a number of seconds from 0.1 to 30"),
        ({"app": "http://127.0.0.1/"}, "health names no address"),
    ],
)
def test_what_the_health_endpoint_can_not_be(health, words):
    assert words in refusal(json.dumps({"format": 1, "health": health}))
