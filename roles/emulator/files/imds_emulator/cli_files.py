# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that need no emulator: what comes with it, and lease files."""

import json
import sys
from typing import Any

from . import leases, scenario_files


def add(commands: Any) -> None:
    """Add the commands."""
    parts = commands.add_parser("scenario", help="the scenarios that come with it").add_subparsers(
        dest="part", metavar="COMMAND"
    )
    parts.required = True
    parts.add_parser("list", help="their names").set_defaults(run=_list_scenarios)
    show = parts.add_parser("show", help="one of them, as JSON")
    show.add_argument("name", metavar="NAME_OR_FILE")
    show.set_defaults(run=_show_scenario)

    lease = commands.add_parser("lease", help="a DHCP lease whose option 245 names an address, on stdout")
    lease.add_argument("form", choices=sorted(leases.FORMS), help="whose file it is")
    lease.add_argument("address", metavar="ADDRESS")
    lease.set_defaults(run=_lease)


def _list_scenarios(options: Any) -> None:
    for name in scenario_files.names():
        print(f"{name:28} {scenario_files.shipped(name).get('description', '')}")


def _show_scenario(options: Any) -> None:
    print(json.dumps(scenario_files.find(options.name), indent=2, ensure_ascii=False))


def _lease(options: Any) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(leases.lease(options.form, options.address))
    sys.stdout.buffer.flush()
