# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that look for what is wrong: ``azure-maintenance doctor``, all that the watcher needs, one line each, with what to do;
``check-config``, whether settings can be followed, and what they name is there; and ``hooks list``, which hooks are run, in their order, and
why others are not.

Private to this collection.
"""

import argparse
import os
import sys
from typing import Any, List

from ..._imds.endpoint import DEFAULT_ENDPOINT
from ..._imds.http_transport import HttpTransport
from ..._text import one_line
from ..health.client import metrics_problem
from ..host.this_host import HOST
from ..reports.notify_hooks import LIMIT as NOTIFY_LIMIT
from ..reports.post_transport import Way, reach
from ..settings.hooks import NOTIFY, PHASES, Hooks
from ..settings.options import Configuration
from ..settings.settings import place_of
from . import check_imds, check_settings, check_system
from .check_report import DEPLOY, FAIL, OK, WARN, Finding, as_json, ask, lines_of, show
from .cli import ENDPOINT, FINE, WRONG, CliContext, Subcommand
from .status import HEALTH_WITHIN, view_of

system: Any = check_system
if sys.platform == "win32":
    from . import check_windows

    system = check_windows


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_doctor(options: argparse.Namespace, here: CliContext) -> int:
    findings = check_all(here)
    if options.json:
        here.dump({"format": 1, "version": here.version, "findings": as_json(findings)})
    else:
        show(here, findings)
    return WRONG if any(finding.state == FAIL for finding in findings) else FINE


def check_all(here: CliContext) -> List[Finding]:
    view = view_of(here)
    found = [] if here.is_root else [_not_root()]
    found += system.versions(here, ask)
    configuration, finding = check_settings.settings(here.settings)
    found.append(finding)
    if configuration:
        found += check_settings.all_named(configuration, here.environment, ask)
    # Those that others may have written name no endpoint to be asked
    wanted = configuration or Configuration(endpoint=here.environment.get(ENDPOINT) or DEFAULT_ENDPOINT)
    found += check_system.rights([os.path.abspath(sys.argv[0]), sys.executable])
    found += check_system.folders(here.folder)
    if sys.platform == "win32":
        found += check_windows.state_folder(here.folder)
    else:
        found += check_imds.check_route(wanted.endpoint, ask)
    found.append(check_imds.proxies(here.environment, "this shell"))
    user = HOST.admin if here.is_root else here.caller()
    service = check_imds.check_service(wanted, HttpTransport(here.clock), here.clock, user)
    found += service
    if sys.platform == "win32":
        found += check_windows.machine(ask, wanted)
    else:
        found.append(check_imds.proxies(check_system.environment(ask), "the service"))
        answers = any(one.what == "endpoint" and one.state == OK for one in service)
        if here.is_root and answers:  # else nobody can tell what keeps others off
            found += check_imds.others(wanted.endpoint, ask)
    services = system.services(ask, bool(wanted.reports), wanted.health.is_wanted)
    found += services
    found += check_system.mark(view)
    found += check_system.process(view)
    if not any(one.what == "health" and one.advice == DEPLOY for one in services):  # else nobody is there to answer
        found += check_system.health(view, here.folder)
    if sys.platform == "win32":
        found += check_windows.health_account(here.folder) if wanted.health.is_wanted else []
        found += check_windows.sender_account(here.settings, wanted) if wanted.reports else []
    found += check_system.metrics(
        view.metrics,
        view.is_running,
        list(wanted.health.http),
        lambda address: metrics_problem(address, HEALTH_WITHIN),
    )
    found += check_settings.check_receivers(wanted, reach, Way) if configuration else []
    found += check_settings.waiting(view)
    found += system.check_guards(ask, [os.path.abspath(sys.argv[0]), HOST.command, *check_settings.hook_files(wanted)])
    return found


def _not_root() -> Finding:
    words = f"you are not {HOST.admin}: checks that need these rights fail below, and services are contacted as this user, not as the watcher"
    return Finding(WARN, "user", words, HOST.run_as_admin)


def check_config_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--offline", action="store_true", help="don't contact the metadata service (to build an image, for example)"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="HOOK",
        help="leave out a hook that is to be removed, such as prepare.d/50-app",
    )
    parser.add_argument(
        "file", nargs="?", default="", metavar="FILE", help="the settings to check (default: the watcher's)"
    )


def run_check_config(options: argparse.Namespace, here: CliContext) -> int:
    path = options.file or here.settings
    configuration, finding = check_settings.settings(path)
    if configuration is None:
        here.complain(finding.words)
        return WRONG
    found = check_settings.all_named(configuration, here.environment, ask, options.without)
    if not options.offline:
        found += check_imds.check_service(configuration, HttpTransport(here.clock), here.clock, here.caller())
    wrong = [one for one in found if one.state == FAIL]
    for one in wrong:
        words = f"{place_of(path, one.path)}: {one.words}" if one.path else one.words
        for line in lines_of(one._replace(words=words)):
            here.err.write(line + "\n")
    if wrong:
        return WRONG
    here.tell(f"{path} is fine.")
    return FINE


def hooks_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["list"], help="list the hooks")
    parser.add_argument("phase", choices=PHASES, help="the phase of the hooks")
    parser.add_argument(
        "--type", default="", metavar="TYPE", help="list the hooks for this type of event, such as Reboot"
    )


def run_hooks(options: argparse.Namespace, here: CliContext) -> int:
    wanted = here.configuration
    folder = wanted.hooks_folder
    hooks = Hooks(folder, wanted.hooks, NOTIFY_LIMIT if options.phase == NOTIFY else wanted.hook_limit)
    found = hooks.found(options.phase, options.type)
    not_run = dict(found.refused, **hooks.missing(options.phase, options.type))
    for step in found.steps:
        user = f", as {step['user']}" if step["user"] else ""
        here.say(f"{one_line(step['key'])}  (up to {step['timeout']:g} s{user})")
    for key, why in sorted(not_run.items()):
        here.say(f"{one_line(key)}  IS NOT RUN")
        here.entry("", why)
    others = sorted(hooks.kinds())
    if not found.steps and not not_run:
        here.tell(
            f"There is no hook in {folder}/{options.phase}.d" + (f" for {options.type}." if options.type else ".")
        )
    if others and not options.type:
        here.tell(f"Types with hooks of their own (--type): {', '.join(others)}")
    return WRONG if not_run else FINE


SUBCOMMANDS = {
    "doctor": Subcommand(doctor_arguments, run_doctor),
    "check-config": Subcommand(check_config_arguments, run_check_config),
    "hooks": Subcommand(hooks_arguments, run_hooks),
}
