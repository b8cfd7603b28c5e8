# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A notify hook as a process on Windows: in a job object, with which all of its processes end.

Private to this collection.
"""

import os
import tempfile
from typing import Any, Dict, Optional, Sequence, Tuple

from ..._clock import Clock, Deadline
from ..._machine.windows.jobs import JobObject, Stream, suspended

_LOOK_EVERY = 0.05


def own_variables(account: Optional[Any]) -> Dict[str, str]:
    """The environment beside what the report says: that of the service, without which hardly any program runs here."""
    return dict(os.environ)


def folder_of_files(run_folder: str) -> str:
    """Where the file with the report is put for the hook: what belongs to the service's own account."""
    return tempfile.gettempdir()


def give(descriptor: int, account: Optional[Any]) -> None:
    """All hooks run as the service's own account."""


def run_hook(
    command: Sequence[str], environment: Dict[str, str], account: Optional[Any], limit: float, clock: Clock
) -> Tuple[Optional[int], bytes]:
    """Run it to its end, or to its limit. What it leaves running is ended, too: whatever is to last belongs into a service.

    :returns: its exit code, None when it was ended at its limit; and the end of what it wrote
    """
    deadline = Deadline(clock, limit)
    job = JobObject()
    try:
        process = suspended(command, environment)
        with process:
            streams = [Stream(process.stdout), Stream(process.stderr)]
            job.run(process)
            while process.poll() is None and not deadline.passed():
                clock.sleep(_LOOK_EVERY)
            code = process.poll()
            job.end()
            process.wait()
            said = "".join(stream.end() for stream in streams)
    finally:
        job.close()
    return code, said.encode("utf-8")
