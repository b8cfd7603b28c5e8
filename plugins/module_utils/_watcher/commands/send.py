# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance send``: what the unit of reports runs.

Private to this collection.
"""

import argparse
import signal
import threading

from ..._text import one_line
from ..reports.report_daemon import DaemonError, ReportDaemon
from ..surroundings import FINE, WRONG, Surroundings


def arguments(parser: argparse.ArgumentParser) -> None:
    """None: all of it stands in the settings."""


def run(options: argparse.Namespace, here: Surroundings) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    # systemd takes the number in front for how urgent a line is.
    mark = bool(here.environment.get("JOURNAL_STREAM"))
    write = threading.Lock()

    def log(priority: int, words: str) -> None:
        with write:
            here.err.write(f"{f'<{priority}>' if mark else ''}{one_line(words, 2000)}\n")
            here.err.flush()

    try:
        ReportDaemon(here.settings, here.environment, here.version, here.clock, log, stop).run()
    except DaemonError as error:
        log(3, str(error))
        return WRONG
    return FINE
