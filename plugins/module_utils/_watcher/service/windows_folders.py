# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher has the program do before it writes files and before it starts the service: make the folders, so that no moment passes in
which others could put something there, let the accounts of the services do there what they need, and say which files and folders others
could change.

Private to this collection.

It goes by the rules of the service, which is SYSTEM's: what belongs to the user who asks is not trusted for that.
"""

import argparse
import contextlib
import json
import os
import sys
from typing import List

from ..._machine import files
from ..._machine.windows.access_list import READING, WRITING
from ..._machine.windows.trust import Objection, first_objection
from ..._text import one_line
from ..host.windows_host import folders
from .windows_system import let_in

NOBODY = ""
"""In place of the user who asks."""


def main(arguments: List[str]) -> int:
    """Do it, and print what came of it as a line of JSON; returns the exit code.

    ``made`` has the folders that were made; ``open`` what others could change: ``path`` and ``why``, a sentence.
    """
    parser = argparse.ArgumentParser(prog="folders")
    for kind, words in (
        ("folder", "to be made, if it is not there"),
        ("file", "that others must not change"),
        ("secret", "a file that others must not even read"),
    ):
        parser.add_argument(f"--{kind}", action="append", default=[], help=words)
    parser.add_argument("--state", required=True, help="the folder of the mark")
    options = parser.parse_args(arguments)
    made: List[str] = []
    found: List[Objection] = []
    for folder in options.folder:
        try:
            if not os.path.isdir(folder):
                files.make_folder(folder)
                made.append(folder)
        except OSError as error:
            words = f"{one_line(folder)} can't be made: {one_line(error.strerror or error)}"
            found.append(Objection(folder, words))
        else:
            found.extend(_open_to_others(folder, ""))
    for paths, what in ((options.file, WRITING), (options.secret, READING)):
        for path in paths:
            found.extend(_open_to_others(path, what))
    for folder, wanted in folders(options.state).items():
        if folder in options.folder:
            # The watcher tries it once more, and the doctor says what an account can't do
            with contextlib.suppress(OSError):
                let_in(folder, wanted)
    first = {one.path: one for one in reversed(found)}
    is_open = [{"path": path, "why": one.words} for path, one in sorted(first.items())]
    sys.stdout.write(json.dumps({"made": made, "open": is_open}) + "\n")
    return 0


def _open_to_others(path: str, what: str) -> List[Objection]:
    objection = first_objection(path, what, NOBODY)
    return [objection] if objection else []
