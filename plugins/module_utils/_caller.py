# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether whoever started this process still waits for what it does.

A run of Ansible that is interrupted leaves what it started to itself, at times: a shell, in it Python, in it a module
that goes on. Nobody knows any more what that does, so it must not do anything that can't be undone.

Private to this collection.
"""

import os
import select
from typing import List, Optional


class Caller:
    """The processes that lead to this one, as they were when this object was made.

    Whoever is cut off has no parent any more, or one of those that led to him has none: the shell that a module runs in
    may outlive the run. Where the run is on another machine, it is the pipe to it that breaks.

    :arg output: the file descriptor that the result goes to; None where that tells nothing
    """

    def __init__(self, output: Optional[int] = None) -> None:
        self._output = output
        self._ancestors = _ancestors()

    def is_gone(self) -> bool:
        return _ancestors() != self._ancestors or (self._output is not None and _is_broken(self._output))


def _ancestors() -> List[int]:
    """The parent, its parent, and so on, as far as they belong to the run; elsewhere than on Linux only the parent.

    Those further up come and go without it: sshd is restarted under its open connections, and whoever began a run in
    the background may log out. So the last one is a job of an interactive shell, or whoever opened this session: the
    connection's sshd, or Ansible for its worker.
    """
    found: List[int] = []
    pid = os.getpid()
    while pid > 1:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                # "PID (NAME) STATE PARENT GROUP SESSION ...", and a name may have anything in it
                parent, group, session = map(int, stat.read().rpartition(b")")[2].split()[1:4])
        except (OSError, ValueError):
            break
        is_job = pid == group != session
        if found and is_job:
            break
        found.append(parent)
        if pid == session:
            break
        pid = parent
    return found or [os.getppid()]


def _is_broken(output: int) -> bool:
    """Whether nobody holds the other end of a pipe any more."""
    pipe = select.poll()
    pipe.register(output, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _descriptor, event in pipe.poll(0))
