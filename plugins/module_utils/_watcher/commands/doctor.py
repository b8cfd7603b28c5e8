# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance doctor``: all that the watcher needs, one line each, with what to do.

Private to this collection.
"""

import argparse
import os
import sys
from typing import List

from ..._imds.endpoint import DEFAULT_ENDPOINT
from ..._imds.http_transport import HttpTransport
from ..checks import configuration as configured
from ..checks import guards, metadata_service, receivers, route, system
from ..checks.asking import ask
from ..checks.finding import FAIL, OK, WARN, Finding
from ..findings import as_json, show
from ..reports.post_transport import Way, reach
from ..settings.settings import Configuration
from ..surroundings import ENDPOINT, FINE, WRONG, Surroundings
from ..view import view_of

COMMAND = "/usr/local/bin/azure-maintenance"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace, here: Surroundings) -> int:
    findings = look(here)
    if options.json:
        here.dump({"format": 1, "version": here.version, "findings": as_json(findings)})
    else:
        show(here, findings)
    return WRONG if any(finding.state == FAIL for finding in findings) else FINE


def look(here: Surroundings) -> List[Finding]:
    view = view_of(here)
    found = [] if here.is_root else [_not_root()]
    found += system.versions(here, ask)
    configuration, finding = configured.settings(here.settings)
    found.append(finding)
    if configuration:
        found += configured.all_named(configuration, here.environment, ask)
    wanted = configuration or Configuration(endpoint=here.environment.get(ENDPOINT) or DEFAULT_ENDPOINT)
    found += system.rights([os.path.abspath(sys.argv[0]), sys.executable])
    found += system.folders(here.folder)
    found += route.look(wanted.endpoint)
    found += metadata_service.proxies(here.environment, "this shell")
    found += metadata_service.proxies(system.environment(ask), "the service")
    service = metadata_service.look(
        wanted, HttpTransport(here.clock), here.clock, "root" if here.is_root else here.caller()
    )
    found += service
    if here.is_root and any(
        one.what == "endpoint" and one.state == OK for one in service
    ):  # else nobody can tell what keeps others off
        found += metadata_service.others(wanted.endpoint, ask)
    found += system.services(ask, bool(wanted.reports))
    found += system.mark(view)
    found += system.process(view)
    found += receivers.look(wanted, reach, Way) if configuration else []
    found += receivers.waiting(view)
    return found + guards.look(ask, [os.path.abspath(sys.argv[0]), COMMAND, *configured.hook_files(wanted)])


def _not_root() -> Finding:
    words = "you are not root: what only root may see counts as wrong below, and others may be asked than the watcher"
    return Finding(WARN, "user", words, "run it again with sudo")
