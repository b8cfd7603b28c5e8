# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check that a user runs on a Windows machine, here: what it asks for holds in PowerShell 7, and it sees what is broken."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(windows, root):
    command = ["pwsh", "-NoProfile", "-File", str(ROOT / "tests" / "windows" / "on_windows.ps1"), "-Root", str(root)]
    environment = {**os.environ, **windows.environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    return done.returncode, [line for line in done.stdout.splitlines() if not line.startswith("ok ")]


def test_all_of_it_holds(windows):
    status, others = check(windows, ROOT)
    assert status == 0 and [line.split()[0] for line in others] == ["PowerShell"]


def test_what_is_broken_is_seen(windows, tmp_path):
    for folder in ("plugins", "roles"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.py", "*.pyc"))
    look = tmp_path / "plugins" / "plugin_utils" / "_windows" / "look.ps1"
    text = look.read_text()
    assert "if (Test-Late $Request)" in text
    look.write_text(text.replace("if (Test-Late $Request)", "if ($false)"))
    status, others = check(windows, tmp_path)
    assert status == len(others) - 1 and others[1] == "FAILED  nor too late"
