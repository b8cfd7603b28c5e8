# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A notify hook as a process on Linux: in a session of its own, ended with its whole group.

Private to this collection.
"""

import os
import select
import signal
import subprocess
import tempfile
from typing import Any, Dict, Optional, Sequence, Tuple

from ..._clock import Clock, Deadline
from ..._machine.platform import native
from ..host.this_host import HOST

MOST = 4096  # bytes that are kept of what a hook writes
_LOOK_EVERY = 0.1


def own_variables(account: Optional[Any]) -> Dict[str, str]:
    """The environment beside what the report says: nothing of this process's gets to a hook."""
    who = account or native.this_account()
    return {"PATH": HOST.path, "LANG": "C.UTF-8", "HOME": who.pw_dir, "USER": who.pw_name, "LOGNAME": who.pw_name}


def folder_of_files(run_folder: str) -> str:
    """Where the file with the report is put for the hook."""
    return run_folder if os.access(run_folder, os.W_OK) else tempfile.gettempdir()


def give(descriptor: int, account: Optional[Any]) -> None:
    """Make the hook's user the owner of a file."""
    if account:
        os.fchown(descriptor, account.pw_uid, account.pw_gid)


def run_hook(
    command: Sequence[str], environment: Dict[str, str], account: Optional[Any], limit: float, clock: Clock
) -> Tuple[Optional[int], bytes]:
    """Run it to its end, or to its limit. A daemon that it leaves is left alone.

    :returns: its exit code, below 0 the signal that has ended it, None when it was ended at its limit; and the end of what it wrote
    """

    def become() -> None:
        if account:
            os.initgroups(account.pw_name, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)

    deadline = Deadline(clock, limit)
    # There is no AnsibleModule here whose run_command could be called.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function,subprocess-popen-preexec-fn
        list(command),
        cwd="/",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=become,
    )
    said = b""
    try:
        is_open = True
        while process.poll() is None and not deadline.passed():
            piece = _read(process, _LOOK_EVERY) if is_open else None
            if piece is None and not is_open:
                clock.sleep(_LOOK_EVERY)
            elif piece == b"":
                is_open = False
            said = (said + (piece or b""))[-MOST:]
        ended = process.poll() is not None
        if ended and is_open:
            said = (said + (_read(process, 0) or b""))[-MOST:]
    finally:
        if process.poll() is None:
            _end(process)
        if process.stdout:
            process.stdout.close()
    return process.returncode if ended else None, said


def _read(process: Any, seconds: float) -> Optional[bytes]:
    """What it writes next; None when that is nothing, b"" when it has closed its end."""
    if not select.select([process.stdout], [], [], seconds)[0]:
        return None
    return os.read(process.stdout.fileno(), 65536)


def _end(process: Any) -> None:
    """The whole group of it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
