# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command ``azure-maintenance report test``: a report that nothing happened, sent to every receiver in this moment, to see that one
would arrive. It goes by itself, before what waits in the queues, and is kept nowhere.

Private to this collection.
"""

import argparse
import json

from ..._clock import Moment
from ..._machine.platform import native
from ..._text import one_line
from ..engine.actions import Say
from ..engine.facts import Identity
from ..host.this_host import HOST
from ..reports.report import Machine, Report, report_of
from .cli import FINE, WRONG, CliContext, Subcommand


def report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["test"], help="send a report that says that this is a test")


def run_report(options: argparse.Namespace, here: CliContext) -> int:
    from ..reports.post_transport import Way, post
    from ..reports.report_daemon import DaemonError, sending, wanted_in
    from ..reports.report_queue import TAKEN

    if here.must_be_root("send a report, as its secret is needed"):
        return WRONG
    try:
        destinations = wanted_in(here.settings).destinations
    except DaemonError as error:
        here.complain(f"{error}.")
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
    labels = here.setting("labels", {})
    machine = Machine(native.host_name(), here.version, HOST.name, labels)
    moment = Moment(here.clock.wall(), here.clock.now(), "")
    return report_of(Say("test", "This is a test: nothing has happened."), Identity(name, ""), moment, machine)


SUBCOMMANDS = {
    "report": Subcommand(report_arguments, run_report),
}
