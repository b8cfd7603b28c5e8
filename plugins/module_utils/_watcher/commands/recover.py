# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance recover``: the machine is put back into service now.

Private to this collection.

The service does it. Where none runs, only a person can say that the event is over, by force; then it is done here.
"""

import argparse

from ..ordering import give
from ..service.state_files import AlreadyRunning
from ..settings.settings import SettingsError
from ..settings.settings_file import SettingsFile
from ..surroundings import FINE, NO_ANSWER, NOT_ROOT, WRONG, Surroundings

_START = "systemctl start azure-maintenance"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force",
        action="store_true",
        help="although its event is not over, or another run holds it, which may go on without knowing, or no service runs",
    )


def run(options: argparse.Namespace, here: Surroundings) -> int:
    mark = here.mark()
    if here.is_root and mark.value is None and not mark.problem:
        here.tell("This machine bears no mark: it is in service, as far as this program knows. Nothing was done.")
        return FINE
    what = "put the machine back into service"
    if here.must_be_root(what):
        return NOT_ROOT
    from .. import without_service  # loads all that the service consists of

    try:
        if without_service.runs(here.folder):
            return give(here, "recover", what, force=options.force)
        return _without_service(options, here)
    except AlreadyRunning:
        here.complain("The watcher was started in this moment. Nothing was done: run it again.")
        return NO_ANSWER
    except OSError as error:
        here.complain(f"Whether the watcher runs can't be seen in {here.folder}: {error.strerror or error}.")
        return WRONG


def _without_service(options: argparse.Namespace, here: Surroundings) -> int:
    from .. import without_service

    force = "azure-maintenance recover --force"
    try:
        settings = SettingsFile(here.settings)
    except SettingsError as error:
        here.complain(
            f"The watcher does not run, and how the machine is put back stands in its settings, which can't be followed. {error.message} "
            f"Correct that, or run role watcher again; then run: {_START}. It brings the machine back when its event is over. To bring it "
            f"back at once: {force}. What was done to the machine: azure-maintenance status. Nothing was done."
        )
        return NO_ANSWER
    if not options.force:
        here.complain(
            f"The watcher does not run, so nobody sees whether the machine's event is over. Nothing was done. Run: {_START}. It brings the "
            "machine back when the event is over (why it ended: journalctl -u azure-maintenance -n 50). To bring the machine back now, "
            f"without it, whatever its event says: {force}"
        )
        return NO_ANSWER
    return without_service.recover(here, settings)
