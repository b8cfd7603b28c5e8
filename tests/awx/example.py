# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The production example, as files and as data."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import yaml

COLLECTION = pathlib.Path(__file__).parents[2]
EXAMPLE = COLLECTION / "examples" / "production"
SETTINGS = {  # what the example takes from the environment
    "MAINTENANCE_WINDOWS_USER": "admin",
    "MAINTENANCE_WINDOWS_PASSWORD": "of windows",
    "MAINTENANCE_REPORT_SECRET": "of reports",
    "MAINTENANCE_CHAT_URL": "https://chat.example.com/hooks/azure-maintenance",
    "AZURE_SUBSCRIPTION_ID": "00000000-0000-0000-0000-000000000000",
    "AZURE_TENANT": "a-tenant",
    "AZURE_CLIENT_ID": "a-client",
    "AZURE_SECRET": "of azure",
}


class Loader(yaml.SafeLoader):
    """Ansible's own tag is there, and means the text."""


Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))


def load(name: str | pathlib.Path) -> Any:
    return yaml.load((EXAMPLE / name).read_text(encoding="utf-8"), Loader)


DATA: dict[str, Any] = load("awx.yml")
TEMPLATES: dict[str, dict[str, Any]] = {
    template["playbook"]: template for template in DATA["azure_maintenance_controller_job_templates"]
}


def questions_of(template: dict[str, Any]) -> list[dict[str, Any]]:
    return template["survey_spec"]["spec"]


def ansible(
    program: str, *arguments: str, folder: pathlib.Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """One of Ansible's programs, with a home of its own."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("CONTROLLER_", "TOWER_"))}
    settings.update(
        ANSIBLE_HOME=str(folder / "ansible"),
        ANSIBLE_LOCAL_TEMP=str(folder / "local"),
        ANSIBLE_REMOTE_TMP=str(folder / "remote"),
        ANSIBLE_DEPRECATION_WARNINGS="0",
        ANSIBLE_LOCALHOST_WARNING="0",
        ANSIBLE_INVENTORY_UNPARSED_WARNING="0",
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_PIPELINING="1",
        PYTHONDONTWRITEBYTECODE="1",
        **environment,
    )
    command = [str(pathlib.Path(sys.executable).with_name(program)), *arguments]
    return subprocess.run(command, cwd=folder, env=settings, text=True, capture_output=True, timeout=600, check=False)
