# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance hold``: nothing is approved by choice until it is released, or its time is over.

Private to this collection.
"""

import argparse
import re

from ..._text import one_line
from ..ordering import give
from ..surroundings import Surroundings

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 366 * 86400.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, help="why, for whoever finds it held")
    parser.add_argument("--for", dest="seconds", type=seconds, metavar="TIME", help="30m, 8h, 2d; for ever without it")


def run(options: argparse.Namespace, here: Surroundings) -> int:
    until = None if options.seconds is None else here.clock.wall() + options.seconds
    return give(here, "hold", "hold approvals", stays=True, reason=one_line(options.reason, 500), until=until)


def seconds(text: str) -> float:
    """``90``, ``90s``, ``30m``, ``8h`` or ``2d`` as seconds."""
    match = re.match(r"(\d{1,9}(?:\.\d+)?)\s*([smhd]?)\Z", text.strip())
    found = float(match.group(1)) * _UNITS[match.group(2)] if match else 0.0
    if not 0 < found <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{one_line(text, 40)!r} is no time such as 30m, 8h or 2d, up to a year")
    return found
