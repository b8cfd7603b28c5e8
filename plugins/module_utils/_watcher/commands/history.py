# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance history``: what has happened on this machine, the latest last.

Private to this collection.
"""

import argparse
import json
from typing import List

from ..._text import one_line
from ..reports.report import Report
from ..reports.reporter import past
from ..surroundings import FINE, WIDTH, WRONG, Surroundings

MOST = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=int, default=MOST, metavar="NUMBER", help="how many, the latest ones (%(default)s)")
    parser.add_argument("--json", action="store_true", help="as JSON lines, in the form that is sent")


def run(options: argparse.Namespace, here: Surroundings) -> int:
    found = past(here.folder, max(0, options.n))
    if found.problem:
        here.complain(found.problem + ("" if here.is_root else ". You are not root: run it again with sudo."))
        return WRONG
    for report in found.reports:
        for line in [json.dumps(report, sort_keys=True)] if options.json else lines_of(report):
            here.say(line)
    if found.damaged:
        here.complain(f"{found.damaged} line{' of it' if found.damaged == 1 else 's of it'} can't be read.")
    if not found.reports and not options.json:
        here.tell(f"Nothing has been reported yet (in {here.folder}).")
    return FINE


def lines_of(report: Report) -> List[str]:
    """``2026-01-01 00:00:00Z  prepared   The machine is ...``, wrapped."""
    import textwrap

    at = one_line(report.get("at"), 20).replace("T", " ")
    begin = f"{at:<20}  {one_line(report.get('happened'), 14):<14} "
    event = report.get("event") or {}
    about = (
        f" ({one_line(event.get('type'), 40)} {one_line(event.get('id'), 60)})"
        if isinstance(event, dict) and event
        else ""
    )
    words = one_line(report.get("message"), 1000) + about
    below = " " * 22
    return textwrap.wrap(begin + words, WIDTH, subsequent_indent=below, break_on_hyphens=False)
