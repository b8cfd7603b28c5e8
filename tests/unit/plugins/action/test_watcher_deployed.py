# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watcher by ansible-playbook on a machine that has a watcher already: what a deployment with other settings and a removal leave alone, and
what is said of a health endpoint that sees no mark."""

import json
import os
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook

HOSTS = f"web1 ansible_connection=local ansible_python_interpreter={sys.executable}\n"
PLAY = """
- hosts: web1
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: cloudops.azure_maintenance.watcher
        tasks_from: "{{ tasks | default('main') }}"
        rolespec_validate: "{{ tasks is not defined }}"
"""
MARK = {"format": 1, "number": 7, "holder": {"kind": "watcher", "run": "w-1"}, "since": "2026-11-21T11:11:24Z"}
MARK.update(renewed=MARK["since"], events=["E"], phase="prepared", steps=[])
HOOKS = [{"name": "app", "phase": "prepare", "content": "#!/bin/sh\n"}]


class Deployed:
    """This machine, as one that has a watcher with the state folder ``former``; its files are below a home of its own."""

    def __init__(self, folder):
        self.folder, self.home = folder, folder / "home"
        self.etc = self.home / ".ansible" / "azure-maintenance" / "etc"
        self.former, self.other = folder / "former", folder / "other"
        for one in (self.etc / "hooks" / "recover.d", self.etc / "secrets", self.former):
            one.mkdir(parents=True)
        self.settings = self.etc / "watcher.json"
        self.settings.write_text(json.dumps({"folder": str(self.former), "hooks": {"recover.d/50-old": {}}}))
        self.hook = self.etc / "hooks" / "recover.d" / "50-old"
        self.secret = self.etc / "secrets" / "report-old"
        for one in (self.hook, self.secret):
            one.write_text("#!/bin/sh\n")

    def files(self):
        return {path: path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file()}

    def run(self, status=0, **variables):
        """What the role prints; it is to end with this status."""
        (self.folder / "play.yml").write_text(PLAY)
        given = {"watcher_systemd": False, "azure_maintenance_folder": str(self.other), **variables}
        printed, ended = playbook(
            self.folder, self.folder / "play.yml", HOSTS, given, HOME=str(self.home), COLUMNS="100000"
        )
        assert ended == status, printed
        return " ".join(printed.split())


@pytest.fixture(name="web1")
def _web1(tmp_path):
    return Deployed(tmp_path)


@pytest.fixture(name="endpoint", scope="module")
def _endpoint(tmp_path_factory):
    scenario = {"settings": {"rate_limit": 0}, "vms": [{"name": "web1", "scope": "web"}]}
    with emulator(tmp_path_factory.mktemp("azure"), scenario) as addresses:
        yield f"{addresses[0]}/vm/web1"


def test_a_mark_is_not_left_in_another_folder(web1, endpoint):
    (web1.former / "mark.json").write_text(json.dumps(MARK))
    printed = web1.run(status=2, azure_maintenance_endpoint=endpoint, watcher_force=True)
    assert f"web1 is marked in {web1.former}, its state folder so far" in printed
    assert "changed=0" in printed and not web1.other.exists() and not (web1.etc / "hooks" / "prepare.d").exists()


def test_it_is_removed_with_the_folder_that_its_settings_name(web1):
    web1.other.mkdir()
    mark = web1.former / "mark.json"
    mark.write_text(json.dumps(MARK))
    printed = web1.run(status=2, watcher_state="absent")
    assert "web1 is out of service by the watcher, which is to recover it" in printed and "changed=0" in printed
    mark.unlink()
    web1.run(watcher_state="absent")
    assert not web1.former.exists() and not web1.etc.exists()
    assert web1.other.exists()


def test_refused_settings_leave_all_that_the_current_ones_name(web1, endpoint):
    theirs = web1.etc / "hooks" / "prepare.d" / "10-theirs"
    theirs.parent.mkdir()
    theirs.write_text("#!/bin/sh\n")
    os.chmod(theirs, 0o777)
    web1.hook.chmod(0o777)  # it would be refused, too, and goes
    there = [web1.settings, web1.hook, web1.secret, theirs]
    before = {path: path.read_bytes() for path in there}
    given = {"azure_maintenance_folder": str(web1.former), "azure_maintenance_endpoint": endpoint}
    printed = web1.run(status=2, watcher_hooks=HOOKS, **given)
    said = printed.rpartition("Report why the settings were refused")[2]
    assert "prepare.d/10-theirs is not run" in said and "50-old" not in said
    assert {path: path.read_bytes() for path in there} == before
    assert not list(web1.etc.glob("*.new")) and not (theirs.parent / "50-app").exists()


def test_a_health_endpoint_that_does_not_see_the_mark_is_no_good_ending(web1):
    answers = [{"address": "127.0.0.1:8009", "is_in_service": True, "words": "in service, but"}]
    status = json.dumps({"health": answers, "health_problem": "its user can't enter /data"})
    given = {
        "tasks": "health_answers",
        "__watcher_files": {"commands": {"status": [sys.executable, "-c", f"print({status!r})"]}},
    }
    printed = web1.run(status=2, **given)
    assert "The health endpoint of web1 can't see whether the machine is marked" in printed
    assert "its user can't enter /data. Let everybody enter the state folder" in printed
