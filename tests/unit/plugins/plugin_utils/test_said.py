# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run's news goes."""

from __future__ import annotations

import pytest
from ansible import constants

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ansible import say


@pytest.mark.parametrize(
    "callback, is_json",
    [
        ("default", False),
        ("ansible.builtin.default", False),
        ("yaml", False),
        ("json", True),
        ("ansible.posix.json", True),
        ("ansible.posix.jsonl", True),
    ],
)
def test_what_reads_standard_output_as_json_finds_no_other_line_there(monkeypatch, capsys, callback, is_json):
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", callback)
    say(["web1 is drained", "web2 is drained"])
    printed = capsys.readouterr()
    news, nothing = (printed.err, printed.out) if is_json else (printed.out, printed.err)
    assert news == "web1 is drained\nweb2 is drained\n" and nothing == ""
