# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `report`."""

import json
from typing import Any

from .cli_control import command
from .client import Client, path, query
from .journal import KEPT, read_journal
from .report import last_start, make_report
from .report_limits import Limits, broken
from .report_text import text

BROKEN = 3  # exit status

MOST = (
    ("posts", "POSTs for one event"),
    ("repeated", "POSTs for one event after an earlier one was answered"),
    ("late", "POSTs for one event after it had started"),
    ("foreign", "POSTs for events of others, or that don't exist"),
    ("malformed", "POSTs that can't be read"),
    ("rate", "requests of one VM within a second"),
)


def add(commands: Any) -> None:
    """Add the command."""
    added = command(commands, "report", "what handlers did, and whether that is within limits", _report)
    added.description = f"The exit status is {BROKEN} when a limit was broken, or could not be checked."
    added.add_argument(
        "file", nargs="?", metavar="FILE", help="a journal's file; without one, a running emulator is asked"
    )
    added.add_argument("--json", action="store_true", help="print JSON")
    for name, what in MOST:
        added.add_argument(f"--max-{name}", dest=name, type=int, metavar="N", help=f"limit: {what}")
    added.add_argument(
        "--approved-within",
        type=float,
        metavar="SECONDS",
        help="limit: from when an event is shown to its approval, by the watch; every event must be approved",
    )


def _report(options: Any) -> int:
    if options.file:
        entries = last_start(read_journal(options.file))
    else:
        entries = Client(options.control).ask("GET", path("journal") + query({"limit": KEPT}))["entries"]
    report = make_report(entries)
    found = broken(report, Limits(**{name: getattr(options, name) for name in Limits._fields}))
    if options.json:
        print(json.dumps(dict(report.as_json(), broken=found), indent=2, ensure_ascii=False))
    else:
        print(text(report, found))
    return BROKEN if found else 0
