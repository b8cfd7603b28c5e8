# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outbox: whoever says something goes on at once, whatever the disk does."""

import threading

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import ReportWriter


def test_all_are_told_in_order():
    told = []
    outbox = ReportWriter(
        [lambda report: told.append(("one", report["n"])), lambda report: told.append(("two", report["n"]))]
    )
    for number in range(3):
        outbox.put({"n": number})
    assert outbox.flush(10)
    assert told == [(name, number) for number in range(3) for name in ("one", "two")]


def test_who_hangs_holds_up_nobody():
    go_on, told = threading.Event(), []

    def hangs(report):
        assert go_on.wait(120)
        told.append(report["n"])

    outbox = ReportWriter([hangs], most=5)
    outbox.put({"n": 0})
    while not outbox._queue.empty():  # until it hangs with the first one
        pass
    for number in range(1, 11):
        outbox.put({"n": number})
    assert told == [], "nobody has waited for it"
    assert (outbox.missed(), outbox.missed()) == (5, 0)
    assert not outbox.flush(0.05)
    go_on.set()
    assert outbox.flush(60)
    assert told == [0, 1, 2, 3, 4, 5]


def test_what_one_raises_is_kept_from_the_others():
    told = []

    def fails(report):
        raise KeyError("x")

    outbox = ReportWriter([fails, told.append])
    outbox.put({"n": 1})
    outbox.put({"n": 2})
    assert outbox.flush(10)
    assert told == [{"n": 1}, {"n": 2}]
    assert outbox.problem == "KeyError: 'x'"
