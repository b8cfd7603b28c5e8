# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What supervises a job: the parent of its process, which ends the whole group at the limit and says what came of it.

Private to this collection.
"""

import contextlib
import json
import os
import selectors
import signal
from typing import Any, Callable, Dict, NoReturn, Optional

from .._clock import Clock
from .._text import one_line
from .platform import native

Work = Callable[[], Dict[str, Any]]

GRACE = 3.0
"""Seconds between the request to end and the end."""

AT_LAST = 1.0
"""Seconds in which a process that was killed is gone; one that hangs in the kernel is not waited for."""

MOST = 4096
"""Bytes that are kept of the end of what a job writes."""

_STREAMS = ("stdout", "stderr", "answer")


class Supervisor:
    """Keeps one job. To be made first of all in a process of its own, for it changes what signals do.

    :arg grace: seconds between the request to end and the end
    """

    def __init__(self, grace: float) -> None:
        self._clock = Clock()
        self._grace = grace
        self._must_stop = False
        self._streams: Optional[_Streams] = None
        self._wake, wake_writer = os.pipe()
        for descriptor in (self._wake, wake_writer):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(wake_writer)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def _stop(self, number: int, frame: Any) -> None:
        self._must_stop = True

    def keep(
        self, first: Callable[[], None], work: Work, limit: float, account: Optional[native.Account], quiet: bool
    ) -> Dict[str, Any]:
        """Run it to its end, or to the limit.

        :arg first: called in the process of the job, the leader of its group, before the work
        :return: ``rc`` (below 0: the signal that ended it; None: it has not ended), ``seconds``, ``ended`` (when, by the clock
            of this start of the machine), ``stdout`` and ``stderr`` (the end of them), ``answer`` (what `work` returned; None
            where it became another program), ``problem`` (why it could not even run), and whether it was ended because it
            ``timed_out`` or was ``stopped``
        """
        began = self._clock.now()
        pipes = {name: os.pipe() for name in _STREAMS}
        pid = os.fork()
        if not pid:
            _work(first, work, account, {name: writer for name, (_reader, writer) in pipes.items()})
        for _reader, writer in pipes.values():
            os.close(writer)
        streams = self._streams = _Streams({name: reader for name, (reader, _writer) in pipes.items()}, self._wake)
        why = self._waited(pid, began + limit, streams)
        if why:
            # Whatever is left of the group; its leader was not waited for yet, so nobody else can have its number.
            _signal(pid, signal.SIGKILL)
        rc = self._code(pid, self._clock.now() + AT_LAST, streams)
        streams.read(0)
        answer = json.loads(streams.texts["answer"].decode("utf-8")) if streams.texts["answer"] else {}
        return {
            "rc": rc,
            "seconds": round(self._clock.now() - began, 3),
            "ended": self._clock.now(),
            "stdout": "" if quiet else streams.end_of("stdout"),
            "stderr": "" if quiet else streams.end_of("stderr"),
            "answer": answer.get("answer"),
            "problem": answer.get("problem", ""),
            "timed_out": why == "timed_out",
            "stopped": why == "stopped",
        }

    def listen(self, at_last: Any = signal.SIG_DFL) -> None:
        """Take what is still written, until nobody is left who could: a service that the work has started would end with
        SIGPIPE at its next line.

        :arg at_last: what SIGTERM does from now on
        """
        signal.signal(signal.SIGTERM, at_last)
        os.chdir("/")
        while self._streams and not self._streams.closed():
            self._streams.read(None)

    def _waited(self, pid: int, ends: float, streams: "_Streams") -> str:
        """Wait for the end, bring it about where needed, and say why that was: ``timed_out``, ``stopped`` or ""."""
        why = ""
        while True:
            now = self._clock.now()
            over = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
            if over and (not why or streams.closed()) or why and now >= ends:
                return why
            if not why and (self._must_stop or now >= ends):
                why = "stopped" if self._must_stop else "timed_out"
                ends = now + self._grace
                _signal(pid, signal.SIGTERM)
            streams.read(max(0.0, ends - self._clock.now()))

    def _code(self, pid: int, at_last: float, streams: "_Streams") -> Optional[int]:
        """How the process ended; None when it hangs."""
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            left = at_last - self._clock.now()
            if left <= 0:
                return None
            streams.read(left)


class _Streams:
    """What a job writes: as much as comes, of which the end is kept."""

    def __init__(self, readers: Dict[str, int], wake: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._selector.register(wake, selectors.EVENT_READ, "")
        self.texts = dict.fromkeys(readers, b"")
        for name, reader in readers.items():
            self._selector.register(reader, selectors.EVENT_READ, name)

    def read(self, seconds: Optional[float]) -> None:
        """Read what is there, or wait until something comes, a signal among others; None for as long as it takes."""
        for key, _mask in self._selector.select(seconds):
            # A pipe holds no more than this, and one that is written to without end must not hold up the others.
            chunk = os.read(key.fd, 65536)
            if not chunk:
                self._selector.unregister(key.fd)
                os.close(key.fd)
            elif key.data:
                text = self.texts[key.data] + chunk
                self.texts[key.data] = text if key.data == "answer" else text[-MOST:]

    def closed(self) -> bool:
        """Whether nobody is there any more who could write."""
        return len(self._selector.get_map()) == 1

    def end_of(self, name: str) -> str:
        return self.texts[name].decode("utf-8", "replace")


def _signal(pid: int, number: int) -> None:
    """To the group that a process leads, or is about to lead."""
    with contextlib.suppress(ProcessLookupError):
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            os.kill(pid, number)


def _work(
    first: Callable[[], None], work: Work, account: Optional[native.Account], writers: Dict[str, int]
) -> NoReturn:
    """The process of the job itself."""
    said: Dict[str, Any] = {}
    try:
        signal.set_wakeup_fd(-1)
        # Python ignores some, and so may whoever began all this in the background; a program would inherit that.
        for number in range(1, signal.NSIG):
            with contextlib.suppress(OSError, ValueError):  # some can't be set
                signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.dup2(writers["stdout"], 1)
        os.dup2(writers["stderr"], 2)
        first()
        if account:
            _become(account)
        said = {"answer": work()}
    except Exception as error:
        said = {"problem": _words(error)}
    finally:
        with open(writers["answer"], "wb") as file:
            file.write(json.dumps(said).encode("utf-8"))
        os._exit(0)


def _become(account: native.Account) -> None:
    os.initgroups(account.pw_name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.environ.update(HOME=account.pw_dir, USER=account.pw_name, LOGNAME=account.pw_name)


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = error.filename.decode("utf-8", "replace") if isinstance(error.filename, bytes) else error.filename
        return one_line(f"{name}: {error.strerror}" if name else error.strerror)
    return one_line(error) or type(error).__name__
