# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run of role maintain begins, by ansible-playbook, with no other collection than ours."""

import json
import pathlib
import re
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import journal_of, scenario
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import (
    emulator,
    only_ours,
    playbook,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import RESULT, wrong

LOCAL = f"ansible_connection=local ansible_python_interpreter={sys.executable}"
HOSTS = f"""[web]
linux1 {LOCAL}
nosuch {LOCAL}
[lb]
lb1 {LOCAL}
away ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1
"""
PLAY = """
- hosts: web
  gather_facts: false
  strategy: %s
  tasks:
    - name: Go through it, and hand over what is kept of it
      block:
        - name: Go through it
          ansible.builtin.include_role:
            name: cloudops.azure_maintenance.maintain
      always:
        - name: Hand over what is kept of it
          ansible.builtin.copy:
            content: "{{ maintain_result | default({}) | to_json }}"
            dest: "{{ playbook_dir }}/kept.json"
            mode: "0600"
          run_once: true
"""
WIDE = {"COLUMNS": "100000"}  # before ansible-core 2.19 warnings are wrapped


class Began:
    """What came of a run that was played: printed, status, and what the metadata service was asked."""

    def __init__(self, folder, strategy="linear", hosts=HOSTS, **variables):
        (folder / "play.yml").write_text(PLAY % strategy)
        quiet = dict(scenario(900, 100), events=[])
        with emulator(folder, quiet) as (address, _control):
            given = {
                "azure_maintenance_endpoint": address + "/vm/{{ inventory_hostname }}",
                "azure_maintenance_folder": str(folder / "marks" / "{{ inventory_hostname }}"),
                "maintain_wait_timeout": 0,
            }
            given.update(variables)
            # Ansible looks for collections where Python looks for modules, too.
            environment = dict(WIDE, ANSIBLE_COLLECTIONS_PATH=only_ours(), PYTHONPATH=only_ours())
            printed, self.status = playbook(folder, folder / "play.yml", hosts, given, **environment)
        self.printed = " ".join(printed.split())
        self.result = json.loads((folder / "kept.json").read_text())
        self.kept = self.result.get("preflight")
        self.asked = [entry["path"] for entry in journal_of(folder) if entry["kind"] == "request"]
        self.left = folder / "marks"


@pytest.fixture(scope="module")
def began(tmp_path_factory):
    steps = [
        {"type": "command", "do": "nosuchprogram"},
        {"type": "connections", "port": 80},
        {"type": "command", "do": "true", "delegate_to": "away"},
    ]
    return Began(tmp_path_factory.mktemp("began"), drain_steps=steps, maintain_zzzz=[])


class TestItBegins:
    @pytest.mark.parametrize(
        "said",
        [
            "linux1 linux1 watches itself no event 3 steps no mark",
            "nosuch (name not known) BLIND, watched by nobody events not known 3 steps no mark",
            "linux1, nosuch: run nosuchprogram; then wait until port 80 has no established connection; then run true",
            "[WARNING]: away, which has to do step 3 (command true) of linux1, step 3 (command true) "
            "of nosuch, could not be reached: ",
            "[WARNING]: linux1, nosuch: step 1 (command nosuchprogram) would fail: this machine has no program nosuchprogram.",
            "[WARNING]: nosuch can't see its scheduled events, no machine polls for it: ",
            "[WARNING]: This collection has no variable maintain_zzzz: unless it is one of your own, correct it.",
        ],
    )
    def test_it_says_once_how(self, began, said):
        assert began.printed.count(said) == 1, began.printed

    def test_it_is_said_before_anything_else(self, began):
        said = began.printed.index("linux1 linux1 watches itself")
        assert said < began.printed.index("No event was shown.")

    def test_it_is_kept_with_the_result(self, began):
        printed = "".join(began.printed.split())  # ansible-core 2.16 breaks lines, within words as well
        assert len(began.kept) == began.printed.count("[WARNING]: ")
        assert all("".join(one.split()) in printed for one in began.kept)

    def test_the_result_is_as_the_schema_says(self, began):
        assert wrong(began.result, RESULT) == []

    def test_it_takes_no_call_of_its_own(self, began):
        assert (
            len([path for path in began.asked if path.startswith("/vm/linux1/") and "/placementGroupId" in path]) == 1
        )

    def test_a_run_of_linux_machines_needs_no_other_collection(self, began):
        assert "is not installed on the controller" not in began.printed

    def test_nothing_is_left_behind(self, began):
        assert not began.left.exists()


def test_no_task_needs_another_collection_to_be_read():
    """Ansible looks for the module of each task of a file as soon as it reads the file. What is in a folder windows it reads where there
    is a Windows machine."""
    root = pathlib.Path(__file__).parents[4]
    files = [*root.glob("roles/*/tasks/**/*.yml"), *root.glob("roles/*/handlers/*.yml"), *root.glob("playbooks/*.yml")]
    files = [path for path in files if path.parent.name != "windows"]
    others = re.compile(r"(?m)^\s+(?:- )?((?!ansible\.builtin\.|cloudops\.)[a-z_]+\.[a-z_]+\.[a-z_]+):")
    assert {str(path): found for path in files if (found := others.findall(path.read_text(encoding="utf-8")))} == {}


def test_what_would_keep_it_from_its_work_ends_it(tmp_path):
    haproxy = {"type": "haproxy", "load_balancers": ["lb"], "hosts": ["linux1"], "socket": str(tmp_path / "none")}
    ended = Began(tmp_path, drain_steps=[haproxy])
    assert ended.status == 2
    assert "The collection community.general, required by linux1, is not installed on the controller" in ended.printed
    assert "There are no steps for nosuch, and maintain_require_steps is true" in ended.printed
    assert "or set maintain_require_steps to false. Nothing was changed." in ended.printed
    assert "[WARNING]: lb1: HAProxy could not be asked: " in ended.printed
    assert "Show what happened" not in ended.printed


def test_a_misspelt_variable_of_one_host_ends_it_at_once(tmp_path):
    ended = Began(tmp_path, hosts=HOSTS.replace("nosuch ", "nosuch drain_stepps=1 "), maintain_margn=[])
    assert ended.status == 2
    assert (
        "This collection has no variable drain_stepps of nosuch (did you mean 'drain_steps'?), maintain_margn (did you mean "
        "'maintain_margin'?): correct it, or rename it where it is one of your own. Nothing was changed."
        in ended.printed
    )
    assert ended.asked == []


def test_another_strategy_ends_it_at_once(tmp_path):
    ended = Began(tmp_path, strategy="ansible.builtin.host_pinned")
    assert ended.status == 2
    assert "needs the strategy linear, and this play has ansible.builtin.host_pinned: all machines" in ended.printed
    assert ended.asked == []


def test_hosts_that_come_one_after_the_other_end_it_at_once(tmp_path):
    ended = Began(tmp_path, strategy="linear\n  serial: 1")
    assert ended.status == 2
    assert (
        "nosuch: in the play, but not running this role (any more), which handles all hosts of a play at once."
        in ended.printed
    )
    assert ended.asked == []


TAGGED = """
- hosts: web
  gather_facts: false
  strategy: free
  tasks:
    - name: Go through it
      ansible.builtin.%s
      tags: maintenance
"""
REACHED = "needs the strategy linear"
OF = "nothing of role "


@pytest.mark.parametrize(
    "task, tags, said",
    [
        (
            "include_role: {name: cloudops.azure_maintenance.maintain}",
            "maintenance",
            "Write `apply: {tags: [maintenance]}`",
        ),
        ("include_role: {name: cloudops.azure_maintenance.maintain, apply: {tags: x}}", "maintenance,x", REACHED),
        ("import_role: {name: cloudops.azure_maintenance.maintain}", "others", ""),
        (
            "include_role: {name: cloudops.azure_maintenance.maintain, tasks_from: recover}",
            "maintenance",
            OF + "maintain",
        ),
        (
            "include_role: {name: cloudops.azure_maintenance.maintain, tasks_from: restore}",
            "maintenance",
            OF + "maintain",
        ),
        ("include_role: {name: cloudops.azure_maintenance.drain}", "maintenance", OF + "drain"),
        ("include_role: {name: cloudops.azure_maintenance.drain, tasks_from: recover}", "maintenance", OF + "drain"),
        ("import_role: {name: cloudops.azure_maintenance.drain}", "others", ""),
    ],
    ids=["include", "apply", "others", "recover", "restore", "drain", "undrain", "others of drain"],
)
def test_tags_that_would_leave_out_what_was_included_end_it(tmp_path, task, tags, said):
    (tmp_path / "play.yml").write_text(TAGGED % task)
    printed, status = playbook(tmp_path, tmp_path / "play.yml", f"[web]\nlinux1 {LOCAL}\n", {}, "--tags", tags)
    assert status == (2 if said else 0), printed
    assert said in " ".join(printed.split())


def test_a_windows_machine_that_becomes_another_user_is_refused_before_anything_is_asked(tmp_path):
    hosts = f"[web]\nlinux1 {LOCAL}\nwin1 ansible_connection=psrp ansible_host=127.0.0.1 ansible_port=1 ansible_become=true\n"
    began = Began(tmp_path, hosts=hosts)
    assert began.status != 0 and began.asked == []
    assert "win1: ansible_become does not work on a Windows machine" in began.printed, began.printed
    assert "Nothing was changed." in began.printed
