# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance recover``: the machine is put back into service now.

Private to this collection.
"""

import argparse

from ..ordering import give
from ..surroundings import FINE, Surroundings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force",
        action="store_true",
        help="although its event is not over, or another run holds it, which may go on without knowing",
    )


def run(options: argparse.Namespace, here: Surroundings) -> int:
    mark = here.mark()
    if here.is_root and mark.value is None and not mark.problem:
        here.tell("This machine bears no mark: it is in service, as far as this program knows. Nothing was done.")
        return FINE
    return give(here, "recover", "put the machine back into service", force=options.force)
