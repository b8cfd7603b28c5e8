# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the machine: who runs this, folders and disk, the services, the health endpoint by asking it; and what may keep the program or hooks
from being run without a word in their own logs, fapolicyd and labels of SELinux.

Private to this collection.
"""

import hashlib
import os
import platform
import shlex
import stat
import sys
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from ..._machine import trust
from ..._machine.platform import native
from ..._text import listed, one_line
from ..health.client import closed_folders
from ..health.machine_state import UNCHECKED
from ..host.this_host import HOST
from ..service.disk_reserve import DiskReserve
from .check_report import DEPLOY, FAIL, OK, WARN, Finding, Said
from .cli import CliContext
from .status import SILENT, MetricsView, StatusView

Ask = Callable[..., Said]
SERVICE, REPORTS = HOST.watcher.name, HOST.reports.name
ADDRESSES = "azure-maintenance-health.socket"
OLDEST_SYSTEMD = 239
_RIGHTS = "any user who can write it can become root: make root its owner, then check who may have changed it"


def versions(here: CliContext, ask: Ask) -> List[Finding]:
    words = f"watcher {here.version}, Python {platform.python_version()} ({sys.executable})"
    said = ask(["systemctl", "--version"]).text.split()
    number = int(said[1]) if len(said) > 1 and said[1].isdigit() else 0
    if not number:
        return [Finding(WARN, "versions", f"{words}, no systemd", "the watcher is a service of systemd's")]
    if number < OLDEST_SYSTEMD:
        advice = f"it is tested with systemd {OLDEST_SYSTEMD} and later"
        return [Finding(WARN, "versions", f"{words}, systemd {number}", advice)]
    return [Finding(OK, "versions", f"{words}, systemd {number}")]


def folders(folder: str) -> List[Finding]:
    """The state: nobody else may write it, and there is room."""
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        return [Finding(WARN, "state", f"there is no {folder} yet", "the service creates it when it starts")]
    except OSError as error:
        words = f"{folder} can't be read: {error.strerror}"
        return [Finding(FAIL, "state", words, f"see what is wrong there: {HOST.look(folder)}")]
    if not stat.S_ISDIR(found.st_mode):
        return [Finding(FAIL, "state", f"{folder} is no folder", "remove it")]
    if not native.is_ours(found) or native.open_to(found, 0o022):
        advice = HOST.close_folder(folder)
        return [Finding(FAIL, "state", f"users other than {HOST.admin} can write into {folder}", advice)]
    problem = DiskReserve(folder).problem()
    if problem:
        return [Finding(FAIL, "state", problem, f"{HOST.room(folder)}; until then nothing is started")]
    return [Finding(OK, "state", f"{folder} belongs to {HOST.admin}, and has free space")]


def rights(paths: Sequence[str]) -> List[Finding]:
    """Of the program and what runs it: whoever may write these is root here."""
    found = [Finding(FAIL, "rights", why, _RIGHTS) for why in map(trust.objection, paths) if why]
    return found or [Finding(OK, "rights", f"only {HOST.admin} may write {listed(map(one_line, paths))}")]


def services(ask: Ask, needs_reports: bool, needs_health: bool = False) -> List[Finding]:
    wanted = ((SERVICE, "watcher", True), (REPORTS, "reports", needs_reports), (ADDRESSES, "health", needs_health))
    return [finding for unit, what, is_needed in wanted if is_needed for finding in _service(ask, unit, what)]


def environment(ask: Ask) -> Dict[str, str]:
    """What the unit of the watcher sets for it, by hand or by a file beside it."""
    said = ask(["systemctl", "show", "--property=Environment", "--value", f"{SERVICE}.service"])
    try:
        words = shlex.split(said.text) if said.code == 0 else []
    except ValueError:
        words = []
    return dict(word.split("=", 1) for word in words if "=" in word)


def _service(ask: Ask, unit: str, what: str) -> List[Finding]:
    name = unit if "." in unit else f"{unit}.service"
    said = ask(["systemctl", "show", "--property=LoadState,ActiveState,SubState,UnitFileState,NRestarts", name])
    if said.code != 0:
        return [Finding(WARN, what, f"systemctl could not show the state of {unit}", HOST.status(unit))]
    state: Dict[str, str] = dict(line.split("=", 1) for line in said.text.splitlines() if "=" in line)
    if state.get("LoadState") == "not-found":
        return [Finding(FAIL, what, f"there is no service {unit}", DEPLOY)]
    active, enabled, restarts = state.get("ActiveState"), state.get("UnitFileState"), state.get("NRestarts", "0")
    if (active, enabled) == ("inactive", "disabled"):
        words = f"{unit} does not run, and does not start with the machine: its deployment did not end, or somebody has disabled it"
        return [Finding(FAIL, what, words, DEPLOY)]
    found = []
    if active != "active":
        more = f" ({state['SubState']})" if state.get("SubState") else ""
        advice = f"{HOST.start(unit)}; why it ended: {HOST.log_end(unit)}"
        found.append(Finding(FAIL, what, f"{unit} is {active or 'in an unknown state'}{more}", advice))
    if enabled not in ("enabled", "enabled-runtime", "static"):
        words = f"{unit} is {enabled or 'not enabled'}: it does not start after a reboot"
        found.append(Finding(FAIL, what, words, HOST.enable(unit)))
    if restarts.isdigit() and int(restarts) > 3:
        words = f"{unit} was restarted {restarts} times since it was started by hand or by the boot"
        found.append(Finding(WARN, what, words, HOST.log(unit)))
    return found or [Finding(OK, what, f"{unit} runs, and starts after a reboot")]


def mark(view: StatusView) -> List[Finding]:
    """Whether anybody can tell what was done to the machine."""
    if not view.mark.problem:
        return []
    advice = (
        "see what is still stopped; then undo all steps and run all recovery hooks: azure-maintenance recover --force"
    )
    return [Finding(FAIL, "mark", view.mark.problem, advice)]


def process(view: StatusView) -> List[Finding]:
    """The watcher, by its own words."""
    if not view.is_running:
        return []
    if view.silent is not None and view.silent > SILENT:
        return [Finding(FAIL, "watcher", f"it last reported {view.silent:.0f} s ago", HOST.restart())]
    found = []
    if view.is_looking:
        found.append(Finding(OK, "watcher", "it polls its events"))
    else:
        found.append(Finding(FAIL, "watcher", "it runs, but can't poll its events", "see the endpoint in this list"))
    problems = (view.published or {}).get("problems")
    for words in problems if isinstance(problems, list) else ():
        found.append(Finding(FAIL, "watcher", str(words), f"see the rest of this list, and {HOST.log()}"))
    return found


ENFORCE = "/sys/fs/selinux/enforce"
DUMP_WITHIN = 20.0
"""Seconds: a database of trust has a line for each file of each package."""


def check_guards(ask: Ask, files: Sequence[str], enforce: str = ENFORCE) -> List[Finding]:
    """:arg files: the program, its command, the hooks; those that are not there don't count"""
    there = [path for path in files if os.path.isfile(path)]
    return [*fapolicyd(ask, there), *labels(ask, there, enforce)]


def fapolicyd(ask: Ask, files: Sequence[str]) -> List[Finding]:
    """Whether it trusts the files as they are: it knows them by size and content, so a new version is another file to it."""
    if ask(["systemctl", "is-active", "fapolicyd.service"]).text.strip() != "active":
        return []
    said = ask(["fapolicyd-cli", "--dump-db"], DUMP_WITHIN)
    if said.code != 0:
        words = "it runs only trusted programs, and the list of these could not be read (fapolicyd-cli --dump-db)"
        return [Finding(WARN, "fapolicyd", words, _trust(files))]
    # Lines end in path, size and SHA-256; some versions have the kind of trust before that
    known = [tuple(line.split()[-3:]) for line in said.text.splitlines()]
    lacking = [path for path in files if _as_it_is(path) not in known]
    if lacking:
        words = f"it does not trust these files, and may prevent them from running: {_named(lacking)}"
        return [Finding(WARN, "fapolicyd", words, _trust(lacking))]
    return [Finding(OK, "fapolicyd", f"it trusts {listed(map(one_line, files), 3)}")]


def _as_it_is(path: str) -> Tuple[str, ...]:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return (path,)
    return path, str(len(content)), hashlib.sha256(content).hexdigest()


def _trust(files: Sequence[str]) -> str:
    adds = " && ".join(
        f"fapolicyd-cli --file add {one_line(path)} --trust-file azure-maintenance" for path in files[:3]
    )
    more = "; the same for the others" if len(files) > 3 else ""
    return (
        f"{adds} && fapolicyd-cli --update{more}. A file that is trusted already and has changed: --file update. "
        "What was refused: ausearch --start today -m fanotify -i"
    )


def labels(ask: Ask, files: Sequence[str], enforce: str = ENFORCE) -> List[Finding]:
    """Whether files have the labels that the policy has for their places; those that somebody has moved there bear others."""
    try:
        with open(enforce, encoding="ascii") as file:
            is_enforcing = file.read().strip() == "1"
    except (OSError, ValueError):
        is_enforcing = False
    if not is_enforcing:
        return []
    refused = "what was refused: ausearch -m avc -ts recent"
    said = ask(["restorecon", "-n", "-v", "--", *files])  # changes nothing, and names those that it would change
    if said.code != 0:
        return [Finding(OK, "SELinux", "enforcing; restorecon could not check the labels", refused)]
    wrong = [path for path in files if any(path in line.split() for line in said.text.splitlines())]
    if wrong:
        words = f"enforcing, and the policy has other labels for {_named(wrong)}"
        advice = f"restorecon -v {' '.join(one_line(path) for path in wrong[:3])}; {refused}"
        return [Finding(WARN, "SELinux", words, advice)]
    return [Finding(OK, "SELinux", "enforcing; the files have the policy's labels", refused)]


def _named(files: Sequence[str]) -> str:
    return listed((one_line(path) for path in files), 5)


def health(view: StatusView, folder: str) -> List[Finding]:
    """:arg folder: of the mark"""
    found: List[Finding] = []
    marked = bool(view.mark.value or view.mark.problem)
    for one in view.health:
        words = f"{one.address}: {one_line(one.words) or 'no answer'}"
        if one.is_in_service is None:
            advice = f"{HOST.status(HOST.health_units)}; load balancers get no answer, either"
            found.append(Finding(FAIL, "health", words, advice))
        elif UNCHECKED in one.words:
            found.append(Finding(FAIL, "health", words, f"see who may enter it: {HOST.look(folder)}"))
        elif one.is_in_service and marked:
            words = f"{one.address} answers that the machine is in service, and it is marked"
            found.append(Finding(FAIL, "health", words, HOST.restart(HOST.health.name)))
        else:
            found.append(Finding(OK, "health", words))
    closed = closed_folders(folder) if view.health else []
    if closed:
        words = f"its user can't read {closed[0]}, so it does not see the mark, and always answers that the machine is in service"
        advice = f"chmod o+x {closed[0]}, or set azure_maintenance_folder to another folder"
        found.append(Finding(FAIL, "health", words, advice))
    return found


def metrics(
    view: Optional[MetricsView], is_running: bool, addresses: List[str], problem_of: Callable[[str], str]
) -> List[Finding]:
    """The file, and what the health endpoint gives to Prometheus.

    :arg is_running: whether the watcher is there
    :arg addresses: of the health endpoint
    :arg problem_of: asks one of them for metrics
    """
    if view is None:
        return []
    found = [_metrics_file(view, is_running)]
    for address in addresses:
        problem = problem_of(address)
        words = f"http://{address}/metrics"
        if problem and not view.problem:
            found.append(Finding(FAIL, "metrics", f"{words}: {problem}", HOST.restart(HOST.health.name)))
        elif not problem:
            found.append(Finding(OK, "metrics", f"{words} answers"))
    return found


def _metrics_file(view: MetricsView, is_running: bool) -> Finding:
    if view.problem:
        words = f"{view.path} can't be seen: {view.problem}. Prometheus gets nothing of this machine"
        return Finding(FAIL if is_running else WARN, "metrics", words, HOST.log_end() if is_running else HOST.start())
    seconds = max(0.0, view.age or 0.0)
    words = f"{view.path}, written {seconds:.0f} s ago"
    if not view.is_stale:
        return Finding(OK, "metrics", words)
    if not is_running:
        return Finding(WARN, "metrics", f"{words}: the watcher does not run", HOST.start())
    return Finding(FAIL, "metrics", f"{words}, and it should be every half minute", HOST.log_end())
