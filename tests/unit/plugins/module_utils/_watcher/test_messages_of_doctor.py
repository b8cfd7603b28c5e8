# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every finding of `azure-maintenance doctor` and `check-config`, with extreme answers of whom they ask."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import KINDS, ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._text import clause, one_line
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import (
    check_imds,
    check_settings,
    check_system,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_report import Said
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import Read
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.status import (
    DestinationView,
    StatusView,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.last_try import LastTry
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import Configuration
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import HookOptions
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import (
    SECONDS,
    WORDS,
    assert_well_said,
)


def assert_all_well_said(findings):
    for finding in findings:
        for words in (finding.words, finding.advice)[: 2 if finding.advice else 1]:
            assert_well_said(one_line(words, 2000))  # as they are printed


def answering(words, code):
    return lambda command, seconds=5.0: Said(code, words)


@pytest.mark.parametrize("code", [-1, 0, 1])
@pytest.mark.parametrize("words", [*WORDS, "LoadState=loaded\nActiveState=\nSubState=\nUnitFileState=", "not-found"])
def test_what_it_says_of_programs_that_it_asks(words, code, tmp_path):
    ask = answering(words, code)
    enforce = tmp_path / "enforce"
    enforce.write_text("1", encoding="ascii")
    (tmp_path / "hook").write_text("", encoding="ascii")
    files = [str(tmp_path / "hook")]
    found = [
        *check_system.services(ask, True),
        *check_system.check_guards(ask, files, str(enforce)),
        *check_system.fapolicyd(ask, files),
    ]
    found += check_imds.others("http://169.254.169.254", ask)
    found.append(check_imds.proxies(check_system.environment(ask), "the service"))
    steps = [{"key": words or "app", "type": "service", "service": words or "app"}]
    found += check_settings.steps(Configuration(steps=tuple(steps)), ask)
    assert_all_well_said(found)


@pytest.mark.parametrize("words", WORDS)
def test_what_it_says_of_what_the_settings_name(words, tmp_path):
    name = words.strip() or "none"
    settings = tmp_path / "watcher.json"
    for content in (
        "",
        words,
        "{}",
        json.dumps({"format": 1, "folder": words, words: 1}),
        json.dumps({"format": words}),
    ):
        settings.write_text(content, encoding="utf-8")
        found = check_settings.settings(str(settings))[1]
        assert_all_well_said(
            [found._replace(words=found.words.split(": there are api_version, ")[0])]
        )  # the keys of the file
    command = {"key": name, "type": "command", "do": {"argv": [name]}, "undo": None, "chdir": None}
    wanted = Configuration(
        hooks_folder=str(tmp_path),
        hooks={"prepare.d/10-app": HookOptions(None, name)},
        steps=(command, dict(command, chdir=name)),
        reports=(Destination("https://eda.test", str(tmp_path / "no"), ca_file=str(tmp_path / "no")),),
    )
    assert_all_well_said(check_settings.all_named(wanted, {}, answering(words, 0)))
    assert_all_well_said(check_settings.check_receivers(wanted, lambda url, way: words, lambda proxy, ca_file: None))


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("seconds", SECONDS)
def test_what_it_says_of_the_watcher(words, seconds):
    published = {"looking": seconds > 0, "problems": [words] if words else []}
    waits = [
        DestinationView("eda.test", 3, None if words else seconds, LastTry("", words)),
        DestinationView("eda.test", 1000, 0.0, LastTry("", words)),
    ]
    view = StatusView(seconds, published, True, seconds, Read(None, words), Read(None, ""), waits, 0)
    assert_all_well_said([*check_system.mark(view), *check_system.process(view), *check_settings.waiting(view)])


class Answering(ScriptedTransport):
    """A service that answers always the same, or fails."""

    def __init__(self, answer=None, error=None):
        super().__init__()
        self.answer, self.error = answer, error

    def get(self, url, headers, timeout):
        if self.error:
            raise self.error
        return self.answer


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_it_says_of_the_metadata_service(words, kind):
    transport = Answering(error=ScheduledEventsError("{}.".format(clause(words) or "It failed"), kind))
    assert_all_well_said(check_imds.check_service(Configuration(), transport, transport.clock, "root"))


@pytest.mark.parametrize("words", WORDS)
def test_what_it_says_of_the_way(words, tmp_path):
    found = [
        one
        for code in (-1, 0, 1)
        for host in ("169.254.169.254", "x")
        for one in check_imds.check_route(f"http://{host}", answering(words, code))
    ]
    assert_all_well_said([*found, *check_system.folders(str(tmp_path / "no"))])
