# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the unit tests runs on a Windows Python, and the tests of what there is for Windows alone: lane wine starts it.

A file that is not named here asks nothing of the system, so that it runs on Linux alone, or goes by what only Linux has: processes that
fork, modes of files, systemd. (What a store, hooks, jobs and the service do there is tested in this folder.) Of files that are named,
single tests are left out which go by what only Linux has.
"""

import sys

import pytest

UNIT = "tests/unit/plugins/module_utils/"
FILES = [
    "test_clock.py",
    "_imds/test_http_transport.py",
    "_imds/test_transports_real.py",
    *(
        f"_machine/test_{name}.py"
        for name in ("elsewhere", "imds_requests", "mark", "outage", "outage_hooks", "program")
    ),
    *(
        f"_watcher/test_{name}.py"
        for name in ("delivery", "destinations", "engine", "history", "looking", "machine_event")
    ),
    *(f"_watcher/test_{name}.py" for name in ("outbox", "report", "reserve", "secret", "settings", "watcher_outage")),
    *(f"_watcher/test_{name}.py" for name in ("approval_order", "clocks", "spool", "watcher_orders")),
    *(f"_watcher/test_{name}.py" for name in ("health", "health_server")),
]

MODES = "whom files are open to is said by access lists there"
PROCESSES = "its helper processes need what Linux has"
LEFT_OUT = {  # what a test's name begins with, and why
    "_machine/test_program.py::test_as_a_process_it_answers": PROCESSES,
    "_machine/test_program.py::test_what_is_printed_on_the_way": PROCESSES,
    "_imds/test_transports_real.py::test_faults_of_a_real_server[HttpTransport-reset in the body]": "Wine says that it ended",
    "_watcher/test_health.py::test_a_path_that_is_no_folder": "there it is one that is not there",
    "_watcher/test_health_server.py::test_an_application_that_can_not_be_reached": "other words of the system",
    "_watcher/test_health_server.py::test_sockets_of_ipv6_that_systemd": "no sockets are handed over there",
    "_watcher/test_history.py::test_a_report_is_a_line": MODES,
    "_watcher/test_history.py::test_a_link_is_not_followed": "links need a privilege there",
    "_watcher/test_reserve.py::test_the_room_is_really_taken": "no blocks are told there",
    "_watcher/test_reserve.py::test_where_the_file_system_has_no_word": "there is no such word there",
    "_watcher/test_reserve.py::test_what_only_shows_when_it_is_written": "there is no such word there",
    "_watcher/test_reserve.py::test_on_a_disk_that_is_really_full": PROCESSES,
    "_watcher/test_secret.py::test_one_that_others_may_touch": MODES,
    "_watcher/test_secret.py::test_nothing_is_there": "other words of the system",
    "_watcher/test_secret.py::test_a_pipe_holds_nobody_up": "no pipe is a file there",
    "_watcher/test_settings.py::test_one_that_is_put_in_its_place": "it renames over a file",
    "_watcher/test_settings.py::test_a_file_that_others_may_write": MODES,
    "_watcher/test_spool.py::test_one_file_a_report_and_destination": MODES,
    "_watcher/test_watcher_orders.py::test_the_folder_is_closed_to_others": MODES,
    "_watcher/test_watcher_orders.py::test_a_file_that_others_may_write": MODES,
    "_watcher/test_watcher_orders.py::test_what_is_no_file_is_refused": "no pipe is a file there",
}


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
