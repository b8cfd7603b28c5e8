# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job as AWX runs it: the same files, arguments and environment, by the real ansible-runner; without a container and its isolation.

Source: BaseTask and RunJob in awx/main/tasks/jobs.py of AWX at commit ad25cb743b31a5bbb9789e585d3c732f147cd138, Job.awx_meta_vars, and
CredentialType.inject_credential.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from typing import Any, NamedTuple

import ansible_runner
import yaml

from ansible_collections.cloudops.azure_maintenance.tests.awx.example import DATA, EXAMPLE, TEMPLATES, questions_of
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.launching import accepted, with_defaults

LIMIT = 300  # seconds, for a template that has none: a test must end


class Job(NamedTuple):
    status: str  # successful or failed
    printed: str
    artifacts: dict[str, Any]  # what set_stats gave
    hosts: set[str]  # that some task ran on
    events: list[str]  # that AWX would keep


class Unsafe(yaml.SafeDumper):
    """AWX writes each text of extra variables as one that is no template, names as well (safe_dump in awx/main/utils/safe_yaml.py)."""


Unsafe.add_representer(str, lambda dumper, text: dumper.represent_scalar("!unsafe", text, style="'"))


def launched(playbook: str, answers: dict[str, Any], limit: str) -> dict[str, Any]:
    """The extra variables of a launch with these answers to the survey; refused as AWX would refuse it."""
    template = {**DATA["azure_maintenance_controller_job_template_defaults"], **TEMPLATES[playbook]}
    questions = questions_of(template)
    found = accepted(template, questions, {"limit": limit, "extra_vars": with_defaults(questions, answers)})
    assert (found.problems, found.ignored) == ([], {})
    return found.fields["extra_vars"]


def run(
    folder: pathlib.Path,
    number: int,
    playbook: str,
    answers: dict[str, Any],
    *,
    inventory: dict[str, Any],
    limit: str = "",
    check: bool = False,
    variables: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
) -> Job:
    """Launch the example's template that has this playbook.

    :arg answers: of the survey; every other question keeps its default
    :arg inventory: as AWX has it, in the form of ansible-inventory --list
    :arg variables: what a job has that no launch gives: of its workflow and the jobs before it (WorkflowJobNode.get_job_kwargs in
        awx/main/models/workflow.py), which need no question
    """
    private = folder / f"awx_{number}"
    for name in ("env", "inventory", "artifacts", "cp"):
        (private / name).mkdir(parents=True)
    shutil.copytree(EXAMPLE, private / "project")
    extra = {**meta_variables(number), **launched(playbook, answers, limit), **(variables or {})}
    (private / "env" / "extravars").write_text(yaml.dump(extra, Dumper=Unsafe))
    secrets = private / "env" / "tmp_credential"
    secrets.write_text(
        yaml.dump(
            {"windows_user": "admin", "windows_password": "{{ no template }}", "report_secret": "s"}, Dumper=Unsafe
        )
    )
    script = private / "inventory" / "hosts"
    script.write_text(f"#! /usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint({json.dumps(inventory)!r})\n")
    script.chmod(0o700)
    template = {**DATA["azure_maintenance_controller_job_template_defaults"], **TEMPLATES[playbook]}
    arguments = [
        *(["--check"] if check else []),
        "-u",
        "ops",
        f"--forks={template['forks']}",
        *(["-l", limit] if limit else []),
        "-e",
        f"@{secrets}",
    ]
    (private / "env" / "cmdline").write_text(ansible_runner.utils.args2cmdline(*arguments))
    key(private / "env" / "ssh_key")
    hosts: set[str] = set()
    artifacts: dict[str, Any] = {}
    events: list[str] = []

    def keep(event: dict[str, Any]) -> None:
        events.append(f"{event['event']} {event['stdout'][:90]}")
        data = event.get("event_data", {})
        if event["event"].startswith("runner_on_") and event["event"] != "runner_on_start":
            hosts.add(data["host"])
        if event["event"] == "playbook_on_stats":
            artifacts.update(data.get("artifact_data", {}))

    ran = ansible_runner.run(
        ident=str(number),
        private_data_dir=str(private),
        playbook=playbook,
        inventory=str(script),
        passwords={r"SSH password:\s*?$": "", r"BECOME password.*:\s*?$": ""},
        envvars={
            "ANSIBLE_FORCE_COLOR": "False",
            "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
            "ANSIBLE_PARAMIKO_RECORD_HOST_KEYS": "False",
            "ANSIBLE_RETRY_FILES_ENABLED": "False",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(private / "cp"),
            "AWX_PRIVATE_DATA_DIR": str(private),
            "JOB_ID": str(number),
            "INVENTORY_ID": "1",
            "MAX_EVENT_RES": "700000",
            "ANSIBLE_HOME": str(folder / "ansible"),
            "ANSIBLE_REMOTE_TMP": str(folder / "remote"),
            **(environment or {}),
        },
        settings={
            "job_timeout": template["timeout"] or LIMIT,
            "suppress_ansible_output": True,
            "suppress_output_file": False,
        },
        fact_cache_type="",
        event_handler=keep,
        quiet=True,
    )
    with ran.stdout as printed:
        return Job(ran.status, printed.read(), artifacts, hosts, events)


def meta_variables(number: int) -> dict[str, Any]:
    template = {
        "job_template_id": 7,
        "job_template_name": "Azure maintenance",
        "project_revision": "0" * 40,
        "project_scm_branch": "main",
    }
    found = {
        "job_id": number,
        "job_launch_type": "manual",
        "user_id": 1,
        "user_name": "admin",
        "inventory_id": 1,
        "inventory_name": "Azure",
        **template,
    }
    return {f"{prefix}_{name}": value for prefix in ("awx", "tower") for name, value in found.items()}


def key(path: pathlib.Path) -> None:
    """The credential's key, which runner gives to an ssh-agent, where there is one."""
    if shutil.which("ssh-agent") and shutil.which("ssh-keygen"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
        path.with_suffix(".pub").unlink()
