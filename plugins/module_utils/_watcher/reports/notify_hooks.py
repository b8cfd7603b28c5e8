# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the hooks in notify.d: each once for a report, ended at its limit. What comes of one is said in the log, and nothing else.

Private to this collection.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..._clock import Clock, Deadline
from ..._machine.files import StateFile, Unreadable
from ..._machine.platform import native
from ..._steps.hook import PREFIX, variables
from ..._text import last_line, one_line
from ..host.this_host import HOST
from .report import Report, line_of
from .report_queue import GIVEN_UP, TAKEN, Outcome

LIMIT = 60.0
PHASE = "notify"
RAN = "ran"
"""A file beside the reports, which says which hooks were begun for which report."""

_MOST = 4096  # bytes that are kept of what a hook writes
_LOOK_EVERY = 0.1


class NotifyHook(NamedTuple):
    """One hook."""

    key: str  # notify.d/10-chat
    path: str
    limit: float = LIMIT
    user: str = ""  # "" for the one that this process has


class NotifyHooks:
    """The hooks as a destination of reports.

    :arg find: the hooks for a type of event, in their order, and by key why others must not be run
    :arg spool: the folder in which reports for hooks wait
    :arg run_folder: for what must not last
    """

    def __init__(
        self,
        find: Callable[[str], Tuple[Sequence[NotifyHook], Dict[str, str]]],
        spool: str,
        run_folder: str,
        clock: Clock,
        log: Callable[[int, str], None],
    ) -> None:
        self._find = find
        self._ran = StateFile(os.path.join(spool, RAN), None)
        self._run_folder = run_folder
        self._clock = clock
        self._log = log
        self._refused: Dict[str, str] = {}

    def send(self, body: bytes, path: str) -> Outcome:
        """Run all hooks for a report that have not been begun for it yet."""
        try:
            report: Report = json.loads(body.decode("utf-8"))
            kind = (report["event"] or {}).get("type", "")
            begun = self._begun(report["id"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return Outcome(GIVEN_UP, f"it can't be read ({one_line(error, 100)})")
        hooks, refused = self._find(kind)
        for key, why in refused.items():
            if self._refused.get(key) != why:
                self._log(4, f"hook {key} is not run: {why}")
        self._refused.update(refused)
        for hook in hooks:
            if hook.key in begun:
                continue
            begun.append(hook.key)
            try:
                self._ran.replace({"report": report["id"], "hooks": begun})
            except OSError as error:  # what can't be noted is not started: it might be begun again and again
                return Outcome(GIVEN_UP, f"{self._ran.path} can't be written: {error.strerror}")
            problem = self._run(hook, report)
            if problem:
                self._log(4, f"hook {hook.key} ({report['happened']}): {problem}")
        return Outcome(TAKEN, f"{len(hooks)} hook{'' if len(hooks) == 1 else 's'} run")

    def _begun(self, report: str) -> List[str]:
        try:
            ran = self._ran.read() or {}
            return list(ran["hooks"]) if ran.get("report") == report else []
        except (Unreadable, KeyError, TypeError):
            return []

    def _run(self, hook: NotifyHook, report: Report) -> str:
        """What went wrong; "" when nothing did."""
        file = ""
        try:
            account = native.account_named(hook.user) if hook.user else None
            file = self._file(report, account)
            return run_hook(
                [hook.path], environment(report, file, account, hook.limit), account, hook.limit, self._clock
            )
        except KeyError:
            return f"this machine has no user {hook.user}"
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return f"it can't be run: {one_line(getattr(error, 'strerror', '') or error, 200)}"
        finally:
            if file:
                os.unlink(file)

    def _file(self, report: Report, account: Optional[Any]) -> str:
        """The report where the hook's user may read it; a copy, as what waits must stay what it is."""
        folder = self._run_folder if os.access(self._run_folder, os.W_OK) else tempfile.gettempdir()
        descriptor, path = tempfile.mkstemp(prefix="azure-maintenance-", suffix=".json", dir=folder)
        with open(descriptor, "wb") as file:
            file.write(line_of(report))
            if account and account.pw_uid != os.geteuid():
                os.fchown(file.fileno(), account.pw_uid, account.pw_gid)
        return path


def environment(report: Report, file: str, account: Optional[Any], limit: float) -> Dict[str, str]:
    """All of it: nothing of our own environment gets to a hook."""
    who = account or native.this_account()
    found = {"PATH": HOST.path, "LANG": "C.UTF-8", "HOME": who.pw_dir, "USER": who.pw_name, "LOGNAME": who.pw_name}
    found.update(variables(PHASE, report))
    more = {"FILE": file, "ATTEMPT": "1", "BUDGET": str(int(limit)), "NOTES": ""}
    found.update((PREFIX + name, value) for name, value in more.items())
    return found


def run_hook(
    command: Sequence[str], variables_of_it: Dict[str, str], account: Optional[Any], limit: float, clock: Clock
) -> str:
    """Run it to its end, or to its limit; what went wrong, or "". A daemon that it leaves is left alone."""

    def become() -> None:
        if account and account.pw_uid != os.geteuid():
            os.initgroups(account.pw_name, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)

    deadline = Deadline(clock, limit)
    # There is no AnsibleModule here whose run_command could be called.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function,subprocess-popen-preexec-fn
        list(command),
        cwd="/",
        env=variables_of_it,
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
            said = (said + (piece or b""))[-_MOST:]
        ended = process.poll() is not None
        if ended and is_open:
            said = (said + (_read(process, 0) or b""))[-_MOST:]
    finally:
        if process.poll() is None:
            _end(process)
        if process.stdout:
            process.stdout.close()
    words = last_line(said.decode("utf-8", "replace"), 200)
    more = f": {words}" if words else ""
    if not ended:
        return f"it did not end within its {limit:g} s, and was ended{more}"
    if process.returncode < 0:
        return f"it was ended by signal {-process.returncode}{more}"
    return f"it ended with exit code {process.returncode}{more}" if process.returncode else ""


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
