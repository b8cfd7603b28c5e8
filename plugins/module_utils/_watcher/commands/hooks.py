# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance hooks list PHASE``: which hooks are run, in their order, and why others are not.

Private to this collection.
"""

import argparse
from typing import Any, Dict

from ..._text import one_line
from ..surroundings import FINE, HOOKS_FOLDER, WRONG, Surroundings

HOOKS = "/etc/azure-maintenance/hooks"
PHASES = ("prepare", "recover", "notify")
USUAL = {"prepare": 300.0, "recover": 300.0, "notify": 60.0}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["list"], help="list them")
    parser.add_argument("phase", choices=PHASES, help="when they are run")
    parser.add_argument("--type", default="", metavar="TYPE", help="for an event of this type, such as Reboot")


def run(options: argparse.Namespace, here: Surroundings) -> int:
    from ..settings.hooks import Hooks

    folder = here.setting("hooks_folder", here.environment.get(HOOKS_FOLDER) or HOOKS)
    usual = (
        USUAL[options.phase] if options.phase == "notify" else float(here.setting("hook_limit", USUAL[options.phase]))
    )
    hooks = Hooks(folder, wishes_in(here), usual)
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


def wishes_in(here: Surroundings) -> Dict[str, Any]:
    """What the settings say of single hooks, as far as that can be read."""
    return {str(key): value for key, value in here.setting("hooks", {}).items() if isinstance(value, dict)}
