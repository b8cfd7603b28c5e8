# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends the reports of the queue: the process of the unit ``azure-maintenance-reports``, apart from the watcher, which must not fail.

Private to this collection.

Each destination has a thread of its own, so that one that hangs holds up no other. Killed at any instant, it sends each report at
least once and in order; whoever receives one twice knows it by its id.

The secret that a report is signed with is read when it is used, and nowhere else: it stands in no command line, no environment, no
log and in nothing that is kept. Where systemd hands it over as a credential (``LoadCredential=NAME:PATH``, NAME being that of the
file), that one is taken.
"""

import hashlib
import hmac
import json
import os
import shutil
import stat
import threading
from typing import Any, Callable, List, Mapping, Sequence, Tuple

from ..._clock import Clock, Deadline
from ..._machine import files, trust
from ..._machine.platform import native
from ..._text import one_line
from ..host.this_host import HOST
from ..settings.destinations import NOTIFY, Destination
from ..settings.hooks import Hooks, HooksFound
from ..settings.options import Configuration
from ..settings.settings import SettingsFile
from .notify_hooks import LIMIT, NotifyHooks
from .report_queue import AGAIN, FOLDER, GIVEN_UP, REFUSED, TAKEN, Outcome, QueueConsumer

LONGEST_SECRET = 4096
SIGNATURE_HEADER = "X-Hub-Signature-256"


class SecretError(Exception):
    """Why there is no secret to sign with, in a sentence."""


def signature(body: bytes, secret: bytes) -> str:
    """The value of :data:`SIGNATURE_HEADER`, as GitHub made it known: what Event-Driven Ansible checks."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def read_secret(path: str, environment: Mapping[str, str]) -> bytes:
    """The secret in a file, without the end of its line.

    :arg environment: where systemd says in which folder its credentials are
    :raises SecretError: when there is none, or others than its user may read it
    """
    folder = environment.get("CREDENTIALS_DIRECTORY") or ""
    credential = os.path.join(folder, os.path.basename(path))
    if folder and os.path.exists(credential):
        path = credential
    try:
        descriptor = os.open(path, os.O_RDONLY | native.AT_ONCE)
        try:
            _check_secret(path, os.fstat(descriptor))
            content = os.read(descriptor, LONGEST_SECRET + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SecretError(f"the secret file {path} can't be read: {error.strerror or error}") from error
    secret = content.rstrip(b"\r\n")
    if not secret:
        raise SecretError(f"the secret file {path} is empty")
    if len(content) > LONGEST_SECRET:
        raise SecretError(f"the secret file {path} has more than {LONGEST_SECRET} bytes")
    return secret


def _check_secret(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SecretError(f"the secret file {path} is no file")
    if os.name == "nt":
        why = trust.secret_objection(path)
        if why:
            raise SecretError(f"the secret file {why}")
    if not native.is_ours(found):
        raise SecretError(f"the secret file {path} is another user's: {HOST.private_file_advice}")
    # Systemd gives its credentials a mode that the group may read, with a list that names one user
    if native.open_to(found, 0o037):
        raise SecretError(f"others may read or change the secret file {path}: {HOST.private_file_advice}")


ID_HEADER = "Idempotency-Key"
_AGAIN = (408, 425, 429)
"""Refusals that pass by themselves."""
_OF_NO_USE = (413, 422)
"""Refusals of this very report, which would be refused for ever. All others may be about who sends it and where to (401, 403, 404, and 400 of an
event stream that is not there), and end once a person has put secret, URL or proxy right."""
_POLL_EVERY = 1.0
_ENDED_EVERY = 0.02
GRACE = 8.0
"""Seconds in which what is under way may end when the process is to; its unit gives it 10."""

Log = Callable[[int, str], None]
Post = Callable[..., Any]


class DaemonError(Exception):
    """Why nothing can be sent at all, in a sentence."""


NEEDED = ("reports", "folder", "hooks_folder", "hooks")
"""Options. Whatever else is wrong in the settings keeps no report from being sent."""


def finding(configuration: Configuration) -> Callable[[str], HooksFound]:
    """Which hooks there are, as the watcher finds its own."""
    hooks = Hooks(configuration.hooks_folder, configuration.hooks, LIMIT)
    return lambda kind: hooks.found(NOTIFY, kind)


def sending(
    one: Destination, environment: Mapping[str, str], version: str, post: Post, way: Any
) -> Callable[..., Outcome]:
    """How a report is sent to a destination once.

    :arg post: of post_transport; `way` is how to get there, as that wants it
    """

    def send(body: bytes, path: str) -> Outcome:
        try:
            unique = json.loads(body.decode("utf-8"))["id"]
            if not isinstance(unique, str) or not unique.isprintable():
                raise ValueError("its id is no text")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            return Outcome(GIVEN_UP, f"it can't be read ({one_line(error, 100)})")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"azure-maintenance/{version}",
            ID_HEADER: unique,
        }
        if one.secret_file:
            try:
                headers[SIGNATURE_HEADER] = signature(body, read_secret(one.secret_file, environment))
            except SecretError as error:
                return Outcome(AGAIN, str(error))
        return outcome_of(post(one.url, body, headers, way))

    return send


def outcome_of(posted: Any) -> Outcome:
    """What an answer means for the report."""
    status = posted.status
    if 200 <= status < 300:
        return Outcome(TAKEN, posted.words)
    if status in _OF_NO_USE:
        return Outcome(GIVEN_UP, posted.words, status=status)
    if 400 <= status < 500 and status not in _AGAIN:
        return Outcome(REFUSED, posted.words, posted.after or 0.0, status)
    return Outcome(AGAIN, posted.words, posted.after or 0.0)


class ReportDaemon:
    """All destinations.

    :arg stop: set when the process is to end
    """

    def __init__(
        self, settings: str, environment: Mapping[str, str], version: str, clock: Clock, log: Log, stop: threading.Event
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._version = version
        self._clock = clock
        self._log = log
        self._stop = stop

    def run(self) -> None:
        """Until it is stopped. Settings that change are followed; of those that can't be, the ones before.

        :raises SettingsError: when there is nothing to begin with
        :raises DaemonError: likewise
        """
        settings = SettingsFile(self._settings, NEEDED)
        folder = settings.current.folder  # another one needs another lock: a restart
        lock = _locked(os.path.join(folder, FOLDER))
        try:
            while not self._stop.is_set():
                self._send_by(settings, folder)
        finally:
            os.close(lock)

    def _send_by(self, settings: SettingsFile, folder: str) -> None:
        """Until it is stopped, or the settings are others."""
        configuration = settings.current._replace(folder=folder)
        spool, wanted = os.path.join(folder, FOLDER), _needed(settings)
        deliveries = self.deliveries(configuration)
        self._tidy(spool, [key for key, _delivery in deliveries])
        others = threading.Event()
        threads = [threading.Thread(target=self._deliver, args=(one, others), daemon=True) for _key, one in deliveries]
        for thread in threads:
            thread.start()
        while not self._stop.wait(_POLL_EVERY):
            before = settings.problem
            if settings.refresh() and _needed(settings) != wanted:
                break
            if settings.problem not in ("", before):
                self._log(4, f"{settings.problem} The settings before are kept.")
        others.set()
        self._wait_for(threads)

    def _wait_for(self, threads: Sequence[threading.Thread]) -> None:
        """Two who send to one destination would send twice, and in any order. But who is to end waits for no receiver that hangs: what
        it has not taken stays in the spool.
        """
        grace = None
        while any(thread.is_alive() for thread in threads):
            if self._stop.is_set():
                grace = grace or Deadline(self._clock, GRACE)
                if grace.passed():
                    return
            self._clock.sleep(_ENDED_EVERY)

    def _deliver(self, delivery: QueueConsumer, others: threading.Event) -> None:
        due = self._clock.now()
        while not others.is_set() and not self._stop.is_set():
            try:
                due = self._clock.now() + delivery.step()
            except Exception as error:  # one destination must not end for ever because of one report
                self._log(3, f"sending failed: {type(error).__name__}: {one_line(error, 200)}")
                due = self._clock.now() + 60.0
            while self._clock.now() < due and not others.is_set():
                if self._stop.wait(min(_POLL_EVERY, max(0.0, due - self._clock.now()))):
                    return

    def deliveries(self, configuration: Configuration) -> List[Tuple[str, QueueConsumer]]:
        from .post_transport import Way, post

        spool = os.path.join(configuration.folder, FOLDER)
        hooks = NotifyHooks(
            finding(configuration), os.path.join(spool, NOTIFY), HOST.run_folder, self._clock, self._log
        )
        ways: List[Tuple[str, str, Callable[..., Outcome]]] = [(NOTIFY, "hooks", hooks.send)]
        for one in configuration.reports:
            send = sending(one, self._environment, self._version, post, Way(one.proxy, one.ca_file))
            ways.append((one.key, one.words, send))
        return [
            (key, QueueConsumer(os.path.join(spool, key), words, send, self._clock, self._log))
            for key, words, send in ways
        ]

    def _tidy(self, spool: str, keys: List[str]) -> None:
        """What waits for a destination that the settings no longer name is for nobody any more."""
        for name in sorted(os.listdir(spool)):
            path = os.path.join(spool, name)
            if name not in keys and os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
                self._log(6, f"{path} is removed: the settings name no such destination any more")


def _needed(settings: SettingsFile) -> Tuple[Any, ...]:
    return tuple(getattr(settings.current, name) for name in NEEDED if name != "folder")


def _locked(spool: str) -> int:
    """Two who send at once would send twice, and in any order.

    :raises DaemonError: when somebody else does already
    """
    try:
        files.make_folder(spool)
        descriptor = os.open(os.path.join(spool, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise DaemonError(f"{spool} can't be used: {error.strerror}") from error
    try:
        native.lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        raise DaemonError(
            f"another process sends the reports of {spool} already; {HOST.status(HOST.reports.name)} shows which"
        ) from error
    return descriptor
