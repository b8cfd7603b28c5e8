# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the hooks in notify.d: each once for a report, ended at its limit. What comes of one is said in the log, and nothing else.

Private to this collection.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence

from ..._clock import Clock
from ..._machine.files import StateFile, Unreadable
from ..._machine.platform import native
from ..._machine.step_runner import JobFailed
from ..._steps.hook import PREFIX, variables
from ..._steps.step_type import Step
from ..._text import last_line, one_line
from .report import Report, line_of
from .report_queue import GIVEN_UP, REFUSED, TAKEN, Outcome, tidy

if TYPE_CHECKING:  # maintain sends with this, too, and needs no settings for that
    from ..settings.hooks import HooksFound
if sys.platform == "win32":
    from . import windows_hook as here
else:
    from . import linux_hook as here

LIMIT = 60.0
PHASE = "notify"
RAN = "ran"
"""A file beside the reports, which says which hooks were begun for which report."""


class NotifyHooks:
    """The hooks as a destination of reports.

    :arg find: the hooks for a type of event, and by key why others must not be run
    :arg spool: the folder in which reports for hooks wait
    :arg run_folder: for what must not last
    """

    def __init__(
        self,
        find: "Callable[[str], HooksFound]",
        spool: str,
        run_folder: str,
        clock: Clock,
        log: Callable[[int, str], None],
    ) -> None:
        self._find = find
        self._ran = StateFile(os.path.join(spool, RAN), None)
        self._folder = here.folder_of_files(run_folder)
        self._prefix = f"azure-maintenance-{hashlib.sha256(spool.encode('utf-8')).hexdigest()[:16]}-"
        tidy(self._folder, f"{self._prefix}*")
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
        found = self._find(kind)
        hooks, refused = found.steps, found.refused
        if refused and not hooks:  # none gets it: it waits until somebody has put that right
            return Outcome(REFUSED, "; ".join(f"hook {key} is not run: {why}" for key, why in refused.items()))
        for key, why in refused.items():
            if self._refused.get(key) != why:
                self._log(4, f"hook {key} is not run: {why}")
        self._refused.update(refused)
        for hook in hooks:
            if hook["key"] in begun:
                continue
            begun.append(hook["key"])
            try:
                self._ran.replace({"report": report["id"], "hooks": begun})
            except OSError as error:  # what can't be noted is not started: it might be begun again and again
                return Outcome(GIVEN_UP, f"{self._ran.path} can't be written: {error.strerror}")
            problem = self._run(hook, report)
            if problem:
                self._log(4, f"hook {hook['key']} ({report['happened']}): {problem}")
        return Outcome(TAKEN, f"{len(hooks)} hook{'' if len(hooks) == 1 else 's'} run")

    def _begun(self, report: str) -> List[str]:
        try:
            ran = self._ran.read() or {}
            return list(ran["hooks"]) if ran.get("report") == report else []
        except (Unreadable, KeyError, TypeError):
            return []

    def _run(self, hook: Step, report: Report) -> str:
        """What went wrong; "" when nothing did."""
        file = ""
        try:
            account = native.account_of(hook["user"])
            file = self._file(report, account)
            return run_hook(
                native.argv_of(hook["path"]),
                environment(report, file, account, hook["timeout"]),
                account,
                hook["timeout"],
                self._clock,
            )
        except JobFailed as error:
            return str(error)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return f"it can't be run: {one_line(getattr(error, 'strerror', '') or error, 200)}"
        finally:
            if file:
                self._remove(file, hook)

    def _remove(self, file: str, hook: Step) -> None:
        """Neither what the hook did with its file nor who has it open may hold up a report."""
        try:
            native.patiently(lambda: os.unlink(file))
        except FileNotFoundError:  # the hook has removed it
            pass
        except OSError as error:
            self._log(4, f"hook {hook['key']}: its file {file} can't be removed: {error.strerror}")

    def _file(self, report: Report, account: Optional[Any]) -> str:
        """The report where the hook's user may read it; a copy, as what waits must stay what it is."""
        descriptor, path = tempfile.mkstemp(prefix=self._prefix, suffix=".json", dir=self._folder)
        with open(descriptor, "wb") as file:
            file.write(line_of(report))
            here.give(file.fileno(), account)
        return path


def environment(report: Report, file: str, account: Optional[Any], limit: float) -> Dict[str, str]:
    """All of it."""
    found = here.own_variables(account)
    found.update(variables(PHASE, report))
    more = {"FILE": file, "ATTEMPT": "1", "BUDGET": str(int(limit)), "NOTES": ""}
    found.update((PREFIX + name, value) for name, value in more.items())
    return found


def run_hook(
    command: Sequence[str], variables_of_it: Dict[str, str], account: Optional[Any], limit: float, clock: Clock
) -> str:
    """Run it to its end, or to its limit; what went wrong, or ""."""
    code, said = here.run_hook(command, variables_of_it, account, limit, clock)
    words = last_line(said.decode("utf-8", "replace"), 200)
    more = f": {words}" if words else ""
    if code is None:
        return f"it did not end within its {limit:g} s, and was ended{more}"
    if code < 0:
        return f"it was ended by signal {-code}{more}"
    return f"it ended with exit code {code}{more}" if code else ""
