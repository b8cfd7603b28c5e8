# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the one program of the watcher does, by its first word: the service, the health endpoint, a job, the machine program; all else
are commands of people.

Private to this collection.

What a word does not need is not imported: a job is begun in moments.
"""

import os
import sys
from typing import Any, Dict, List

RUN = ("run", "watch")
SYSTEMD = "/run/systemd/system"


def main(version: str, program: str, arguments: List[str]) -> int:
    """Do it; returns the exit code.

    :arg version: of the collection
    :arg program: the file that this is
    """
    word, rest = arguments[0] if arguments else "", arguments[1:]
    if word in RUN:
        if os.path.isdir(SYSTEMD):  # else steps are done in this process's own children, and some of them need it
            _without_openssl()
        if sys.platform == "win32":
            from .service.windows_service import run as run_there

            return int(run_there(version, rest, program))
        from .service.service import run

        return run(version, rest, program)
    if word == "health" and sys.platform == "win32":
        from .service.windows_beside import answer_health

        return answer_health(rest)
    if word == "health":
        from .health.main import main as health

        return int(health(rest))
    if word == "job":
        if sys.platform == "win32":
            from .._machine.windows.jobs import main as job

            return int(job(arguments))
        from .._machine.systemd_jobs import main as unit

        return int(unit(rest))
    if word == "work" and sys.platform == "win32":
        from .._machine.windows.jobs import main as work

        return int(work(arguments))
    if word == "folders" and sys.platform == "win32":
        from .service.windows_system import folders_main as folders

        return int(folders(rest))
    if word == "machine":
        from .._machine.process import main as machine

        sys.argv[1:] = rest  # the word that its answer begins with
        machine()
        return 0
    from .commands.cli import main as command

    return command(version, arguments)


def _without_openssl() -> None:
    """Python loads it for digests and with http.client. It would take a fifth of the memory, and digests have another source; the
    metadata service is asked in plain text."""
    modules: Dict[str, Any] = vars(sys)["modules"]
    for name in ("_ssl", "_hashlib"):
        modules.setdefault(name, None)
