# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Windows says of the machine."""

import subprocess
import sys
import time
import uuid
import winreg

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import (
    KEY,
    WindowsSystem,
    start_of,
)

ASKS = """
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import WindowsSystem
print(WindowsSystem().boot_id())
"""


def test_how_long_it_runs():
    system = WindowsSystem()
    before = system.uptime()
    time.sleep(0.2)
    assert 0.1 < system.uptime() - before < 300


def test_all_processes_of_one_start_say_the_same():
    several = [subprocess.Popen([sys.executable, "-c", ASKS], stdout=subprocess.PIPE) for _which in range(3)]
    found = {process.communicate()[0].decode("ascii").strip() for process in several}
    assert found == {WindowsSystem().boot_id()}
    assert uuid.UUID(found.pop())


def test_after_the_next_start_it_is_another_one():
    """Windows drops the key itself then; that it is one of those is all that can be seen here."""
    before = WindowsSystem().boot_id()
    winreg.DeleteKey(winreg.HKEY_LOCAL_MACHINE, KEY)
    assert WindowsSystem().boot_id() != before


def test_a_process_that_has_ended_has_no_start():
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    started = start_of(process.pid)
    assert started and start_of(process.pid) == started
    process.communicate()
    assert start_of(process.pid) is None
