# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on Windows: each is kept by a process of its own, which reads in the job's folder what it is to do.

Private to this collection.

::

    FOLDER/order      what is to be done
    FOLDER/started    which process keeps it; can be made only once
    FOLDER/stop       somebody wants it ended
    FOLDER/answer     what the work says of itself, where it did not run another program
    FOLDER/result     what came of it
"""

import os
import subprocess
from typing import Any, Dict, Optional, Sequence

from ..._clock import Clock, Deadline
from ..._text import one_line
from .. import files
from ..hand import Piece
from ..job import ORDER, order_of
from ..job_failed import JobFailed
from ..jobs import ABSENT, LONGEST_BEGINNING, Jobs
from ..keeper import GRACE, Work
from ..own_processes import account_of
from .keeper import WindowsKeeper

ANSWER, RESULT, STARTED, STOP = "answer", "result", "started", "stop"

_LOOK_EVERY = 0.02
_DETACHED, _NEW_GROUP = 0x8, 0x200


class WindowsJobs(Jobs):
    """Jobs as processes with job objects.

    :arg program: the command that, with ``job`` or ``work`` and a folder behind it, keeps the job of that folder, or does its work
    """

    def __init__(self, folder: str, boot_id: str, program: Sequence[str], grace: float = GRACE) -> None:
        super().__init__(folder, boot_id, grace)
        self._program = list(program)

    def begin(
        self,
        name: str,
        work: Work,
        limit: float,
        user: str = "",
        quiet: bool = False,
        piece: Optional[Piece] = None,
    ) -> bool:
        """As :meth:`..jobs.Jobs.begin`. What is to be done is made anew in the job's process, out of the piece."""
        if piece is None:
            raise JobFailed("what it is to do can't be handed to another process")
        account_of(user)
        self._make_folder(name)
        if self.look(name).state != ABSENT:
            return False
        order = order_of(piece, limit, user, quiet, self._boot_id, self._grace)
        try:
            files.replace(self._path(name, ORDER), dict(order, program=self._program))
            process = self._launched(name)
        except OSError as error:
            raise JobFailed(f"the job could not be begun: {one_line(error)}") from error
        self._wait_for_begin(name, process)
        return True

    def _launched(self, name: str) -> "subprocess.Popen[bytes]":
        # There is no AnsibleModule here whose run_command could be called.
        return subprocess.Popen(  # pylint: disable=ansible-bad-function,consider-using-with
            [*self._program, "job", self._path(name)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=_DETACHED | _NEW_GROUP,  # a word that only Windows has
        )

    def _wait_for_begin(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        """On a machine that is very slow it may be some more time: to begin it again is safe."""
        clock = Clock()
        deadline = Deadline(clock, LONGEST_BEGINNING)
        while not os.path.exists(self._path(name, STARTED)) and not deadline.passed():
            if process.poll() is not None and not os.path.exists(self._path(name, STARTED)):
                raise JobFailed(f"the job could not be begun: its keeper ended with exit code {process.returncode}")
            clock.sleep(_LOOK_EVERY)
        # It goes on by itself, and nobody asks how it has ended.
        vars(process)["returncode"] = 0

    def _ask_to_end(self, name: str, keeper: int) -> None:
        files.replace(self._path(name, STOP), {})

    def keep_ordered(self, name: str, order: Dict[str, Any]) -> bool:
        """Be the keeper of a job: in a process of its own, until nobody is left who could write; whether it was begun."""
        if not files.write_first(self._path(name, STARTED), dict(self._this_process(), limit=order["limit"])):
            return False
        keeper = WindowsKeeper(lambda: os.path.exists(self._path(name, STOP)))
        argv = [*self._program, "work", self._path(name)]
        result = keeper.keep(argv, lambda: self._answered(name), order["limit"], order["quiet"])
        files.replace(self._path(name, RESULT), result)
        keeper.listen()
        return True

    def _answered(self, name: str) -> Dict[str, Any]:
        try:
            return files.read(self._path(name, ANSWER)) or {}
        except ValueError:
            return {"problem": "what it said of itself can't be read"}
