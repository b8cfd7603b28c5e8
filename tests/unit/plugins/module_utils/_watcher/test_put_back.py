# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of events despite which a person has recovered the machine: what it keeps, and for how long."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.beside_mark import KEPT
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.beside_mark import SUPPRESSED as NAME
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    SuppressedEvents,
)


def test_it_is_kept_for_another_process(tmp_path):
    one = SuppressedEvents(str(tmp_path))
    assert one.read() == frozenset()
    one.add(["aB-1"], 1000.0)
    assert one.read() == SuppressedEvents(str(tmp_path)).read() == {"AB-1"}
    SuppressedEvents(str(tmp_path)).add(["C-2"], 2000.0)
    assert one.read() == {"AB-1", "C-2"}
    (tmp_path / NAME).unlink()
    assert one.read() == frozenset()


def test_what_is_long_over_goes_when_another_one_comes(tmp_path):
    one = SuppressedEvents(str(tmp_path))
    one.add(["E1"], 1000.0)
    one.add(["E2"], 1000.0 + KEPT - 1)
    one.add(["E3"], 1000.0 + KEPT)
    assert one.read() == {"E2", "E3"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"format": 2, "events": {"E1": 1}}',
        b'{"format": 1}',
        b'{"format": 1, "events": {"E1": "x"}}',
    ],
)
def test_one_that_can_not_be_read_keeps_nothing_off(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    one = SuppressedEvents(str(tmp_path))
    assert one.read() == frozenset()
    one.add(["E1"], 1000.0)
    assert one.read() == {"E1"}
