# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the guide's page on Event-Driven Ansible, which the tests use as they stand there."""

import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "docsite" / "rst" / "eda.rst").read_text(encoding="utf-8")


def example(first_line):
    """The code block of the page that begins with this line."""
    (found,) = re.findall(rf"^( +){re.escape(first_line)}\n((?:\1.*\n|\n)*)", PAGE, re.M)
    return textwrap.dedent(f"{found[0]}{first_line}\n{found[1]}")
