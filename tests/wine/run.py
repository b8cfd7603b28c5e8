# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the unit tests runs on a Windows Python, and the tests of what there is for Windows alone: lane wine starts it.

A file that is not named here has nothing of Windows' in it: roles' and Ansible's own, or how Linux's system is used. Of files
that are named, single tests are left out which go by what only Linux has.
"""

import sys

import pytest

UNIT = "tests/unit/plugins/module_utils/"
FILES = [
    "_events",
    "_steps",
    "test_text.py",
    "test_clock.py",
]
LEFT_OUT = {}


class Selection:
    """A plugin of pytest."""

    def __init__(self):
        self.unused = set(LEFT_OUT)

    def pytest_collection_modifyitems(self, config, items):
        left_out = [item for item in items if self._is_left_out(item.nodeid)]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)

    def _is_left_out(self, name):
        found = {start for start in LEFT_OUT if name.replace("\\", "/").startswith(UNIT + start)}
        self.unused -= found
        return bool(found)


def main(arguments):
    # importlib: some files of different folders have one name
    options = ["-rfEs", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--basetemp", r"C:\wine-tests"]
    selection = Selection()
    names = [] if any(".py" in word for word in arguments) else ["tests/wine", *(UNIT + name for name in FILES)]
    code = pytest.main([*options, *arguments, *names], [selection])
    if names and not arguments and selection.unused:
        print(f"Left out, but not there: {', '.join(sorted(selection.unused))}")
        return 1
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
