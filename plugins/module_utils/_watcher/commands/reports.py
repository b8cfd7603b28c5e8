# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands for reports: ``azure-maintenance history``, what has happened on this machine, the latest last; ``send``, what the unit of
reports runs; and ``report test``, a report that nothing happened, sent to every receiver in this moment, to see that one would arrive. That
one goes by itself, before what waits in the queues, and is kept nowhere.

Private to this collection.
"""

import argparse
import json
import signal
import sys
import threading
from typing import Any, Callable, List

from ..._clock import Moment
from ..._machine.platform import native
from ..._text import one_line
from ..engine.interface import Identity, Say
from ..host.this_host import HOST
from ..reports.report import Machine, Report, report_of
from .cli import FINE, WIDTH, WRONG, CliContext, Subcommand, no_arguments

MOST = 20


def history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n", type=int, default=MOST, metavar="NUMBER", help="number of latest reports to print (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the reports as JSON lines, as they are sent")


def run_history(options: argparse.Namespace, here: CliContext) -> int:
    from ..reports.reporter import past

    found = past(here.folder, max(0, options.n))
    if found.problem:
        here.complain(found.problem + ("" if here.is_root else f". You are not {HOST.admin}: {HOST.run_as_admin}."))
        return WRONG
    for report in found.reports:
        for line in [json.dumps(report, sort_keys=True)] if options.json else lines_of_report(report):
            here.say(line)
    if found.damaged:
        here.complain(f"{found.damaged} line{' of it' if found.damaged == 1 else 's of it'} can't be read.")
    if not found.reports and not options.json:
        here.tell(f"Nothing has been reported yet (in {here.folder}).")
    return FINE


def lines_of_report(report: Report) -> List[str]:
    """``2026-01-01 00:00:00Z  prepared   The machine is ...``, wrapped."""
    import textwrap

    at = one_line(report.get("at"), 20).replace("T", " ")
    begin = f"{at:<20}  {one_line(report.get('happened'), 20):<20} "
    event = report.get("event") or {}
    words = one_line(report.get("message"), 1000)
    if isinstance(event, dict) and event and one_line(event.get("id"), 60) not in words:
        words += f" ({one_line(event.get('type'), 40)} {one_line(event.get('id'), 60)})"
    below = " " * 22
    return textwrap.wrap(begin + words, WIDTH, subsequent_indent=below, break_on_hyphens=False)


def run_send(options: argparse.Namespace, here: CliContext) -> int:
    if sys.platform == "win32":
        from ..service.windows_beside import run as run_beside

        def serve(beside: Any) -> int:
            beside.ready()
            return _send(here, lambda priority, words: beside.log.say(words, priority), beside.stop)

        return run_beside(HOST.reports, serve)
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

    return _send(here, log, stop)


def _send(here: CliContext, log: Callable[[int, str], None], stop: threading.Event) -> int:
    from ..reports.report_daemon import DaemonError, ReportDaemon
    from ..settings.settings import SettingsError

    try:
        ReportDaemon(here.settings, here.environment, here.version, here.clock, log, stop).run()
    except (DaemonError, SettingsError) as error:
        log(3, str(error))
        return WRONG
    return FINE


def report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["test"], help="send a report that says that this is a test")


def run_report(options: argparse.Namespace, here: CliContext) -> int:
    from ..reports.post_transport import Way, post
    from ..reports.report_daemon import NEEDED, sending
    from ..reports.report_queue import TAKEN
    from ..settings.settings import SettingsError, SettingsFile

    if here.must_be_root("send a report, as its secret is needed"):
        return WRONG
    try:
        destinations = SettingsFile(here.settings, NEEDED).current.reports
    except SettingsError as error:
        here.complain(error.message)
        return WRONG
    if not destinations:
        here.complain("No receiver is named in the settings (watcher_reports): nothing was sent.")
        return WRONG
    body = json.dumps(_test_report(here), sort_keys=True).encode("ascii")
    code = FINE
    for one in destinations:
        outcome = sending(one, here.environment, here.version, post, Way(one.proxy, one.ca_file))(body, "")
        here.tell(f"{one.words}: {'accepted' if outcome.what == TAKEN else 'NOT ACCEPTED'} ({outcome.words})")
        if outcome.what != TAKEN:
            code = WRONG
    return code


def _test_report(here: CliContext) -> Report:
    """Its id differs from call to call, so that no receiver takes it for one that it had before."""
    name = one_line((here.published() or {}).get("name", ""))
    machine = Machine(native.host_name(), here.version, HOST.name, here.configuration.labels)
    moment = Moment(here.clock.wall(), here.clock.now(), "")
    return report_of(Say("test", "This is a test: nothing has happened."), Identity(name, ""), moment, machine)


SUBCOMMANDS = {
    "history": Subcommand(history_arguments, run_history),
    "send": Subcommand(no_arguments, run_send),
    "report": Subcommand(report_arguments, run_report),
}
