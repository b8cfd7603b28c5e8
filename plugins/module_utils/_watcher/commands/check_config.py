# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance check-config``: whether settings can be followed, and what they name is there.

Private to this collection.
"""

import argparse

from ..._imds.http_transport import HttpTransport
from ..checks import metadata_service
from ..checks.asking import ask
from ..checks.configuration import all_named, settings
from ..checks.finding import FAIL
from ..findings import lines_of
from ..settings.settings_file import place_of
from ..surroundings import FINE, WRONG, Surroundings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--offline", action="store_true", help="don't ask the metadata service, as where an image is made"
    )
    parser.add_argument("file", nargs="?", default="", metavar="FILE", help="other settings than those of the watcher")


def run(options: argparse.Namespace, here: Surroundings) -> int:
    path = options.file or here.settings
    configuration, finding = settings(path)
    if configuration is None:
        here.complain(finding.words)
        return WRONG
    found = all_named(configuration, here.environment, ask)
    if not options.offline:
        found += metadata_service.look(configuration, HttpTransport(here.clock), here.clock, here.caller())
    wrong = [one for one in found if one.state == FAIL]
    for one in wrong:
        words = f"{place_of(path, one.path)}: {one.words}" if one.path else one.words
        for line in lines_of(one._replace(words=words)):
            here.err.write(line + "\n")
    if wrong:
        return WRONG
    here.tell(f"{path} is fine.")
    return FINE
