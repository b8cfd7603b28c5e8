# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance approve ID``: a person's yes to an event that is not approved by itself.

Private to this collection.
"""

import argparse

from ..ordering import give
from ..surroundings import Surroundings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("event", metavar="ID", help="the event's id, as azure-maintenance status shows it")


def run(options: argparse.Namespace, here: Surroundings) -> int:
    return give(here, "approve", "approve an event", event=options.event)
