# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The system's limit of open files: every connection is one."""

import asyncio
import errno
import resource
import sys
from typing import Any, Dict

EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def raise_limit() -> None:
    """Take as many as this process may."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):  # some systems call the hard limit endless and allow less
        pass


class Exhaustion:
    """The event loop's handler of exceptions: says once that connections can't be accepted.

    asyncio itself writes a traceback for every connection that waits, every second.
    """

    def __init__(self) -> None:
        self._reported = False

    def __call__(self, loop: asyncio.AbstractEventLoop, context: Dict[str, Any]) -> None:
        problem = context.get("exception")
        if self._reported and isinstance(problem, ValueError) and "file descriptor" in str(problem):
            return  # asyncio would accept again, on a socket that has been closed meanwhile
        if not isinstance(problem, OSError) or problem.errno not in EXHAUSTED:
            loop.default_exception_handler(context)
        elif not self._reported:
            self._reported = True
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            print(
                f"imds_emulator: a connection could not be accepted: {problem.strerror}. This process may have "
                f"{limit} files "
                "open (ulimit -Hn; of a service LimitNOFILE), each connection is one. Clients wait until others end. "
                "This is said once.",
                file=sys.stderr,
                flush=True,
            )
