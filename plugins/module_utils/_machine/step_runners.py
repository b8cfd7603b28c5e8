# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How this machine does each type of step: ``command``, ``service`` by systemctl, ``http``, and ``connections`` by what the kernel lists.

Private to this collection.
"""

import glob
import ipaddress
import json
import os
import re
import sys
from typing import Any, Dict, Iterator, Mapping, Set, Tuple, Type, Union

from .._clock import Clock, Deadline
from .._steps.commands import checked
from .._steps.connections import TYPE as CONNECTIONS
from .._steps.http import TYPE as HTTP
from .._steps.http import counted
from .._steps.step_type import MOST, Step, StepError, Verdict, exit_words, kept_back
from .._steps.types import HOOKS
from .._text import one_line
from . import systemd_services
from .hook_runner import HookRunner
from .job_runner import LAST_WORDS, JobRunner, answer, answer_to, encoded, poll_until_done
from .jobs import Jobs
from .mark import MARK
from .platform import native
from .step_runner import DONE, FAILED, InitialState, JobFailed, Progress, RunnerFailed, StepRun, StepRunner
from .supervisor import Work

_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^}]*)\})", re.ASCII)

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
ESTABLISHED = "01"

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


class CommandRunner(JobRunner):
    """Runs a command, and another one to take it back."""

    def work(self, step_run: StepRun) -> Work:
        step = step_run.step

        def run() -> Dict[str, Any]:
            native.set_environment(step["environment"])
            if step.get("chdir"):
                os.chdir(encoded(_path(step["chdir"], os.environ)))
            if step.get("creates"):
                there = bool(glob.glob(encoded(_path(step["creates"], os.environ))))
                if there == (step_run.direction == "do"):
                    said = "exists" if there else "does not exist"
                    return answer(DONE, "" if step["no_log"] else f"skipped, since {step['creates']} {said}")
            # As ansible.builtin.command has it: no shell, but ~ and variables
            program, *arguments = step[step_run.direction]["argv"]
            inherited = _inherited(step, os.environ)
            return native.become([_path(program, os.environ), *(_path(argument, inherited) for argument in arguments)])

        return run

    def state(self, step: Step, within: float) -> Dict[str, Any]:
        return checked(step, self.checked(step, within))

    def lacks(self, step: Step) -> str:
        return lacking(step, os.environ.get("PATH", "")) or super().lacks(step)

    def judged(self, step_run: StepRun, result: Dict[str, Any]) -> Progress:
        if result["rc"] in step_run.step["ok_codes"]:
            return Progress(DONE)
        if step_run.step["no_log"]:
            return Progress(FAILED, kept_back(f" with {result['rc']}"))
        return Progress(FAILED, exit_words(result))


def lacking(step: Step, path: str) -> str:
    """The folder or the program of a command that is not on this machine, as a clause; "" when all is there.

    :arg path: where programs are looked for, where the step does not say
    """
    import shutil  # takes time to import, and few calls need it

    environment = {**os.environ, "PATH": path, **(step.get("environment") or {})}  # as it is run
    folder = _path(step["chdir"], environment) if step.get("chdir") else ""
    if folder and not os.path.isdir(folder):
        return f"this machine has no folder {folder}"
    for direction in ("do", "undo", "check"):
        program = _path(step[direction]["argv"][0], environment) if (step.get(direction) or {}).get("argv") else ""
        where = os.path.join(folder, program) if os.path.basename(program) != program else program
        if program and not shutil.which(where, path=environment["PATH"] or path):
            return f"this machine has no program {program}"
    return ""


def _inherited(step: Step, environment: Mapping[str, str]) -> Dict[str, str]:
    """An environment without the variables of the step itself: they may be secrets, and everybody on the machine sees a command line."""
    return {name: value for name, value in environment.items() if name not in (step.get("environment") or {})}


def _path(text: str, environment: Mapping[str, str]) -> str:
    """A text with the variables of an environment, and ~, in their places."""

    def value(found: Any) -> str:
        return str(environment.get(found.group(1) or found.group(2), found.group()))

    expanded = _VARIABLE.sub(value, text)
    home = environment.get("HOME")
    if home and (expanded == "~" or expanded.startswith("~/")):
        return home.rstrip("/") + expanded[1:] or "/"
    return os.path.expanduser(expanded)  # that of another user, or where the environment names no home


NOT_KEPT = "stopped, but a boot starts it before it is recovered: only root can keep it from that"


class ServiceRunner(JobRunner):
    """Stops a service and keeps it from starting at a boot, and starts it again."""

    def before(self, step: Step) -> InitialState:
        service = step["service"]
        said = systemd_services.shown(service)
        if said.get("LoadState") == "not-found":
            raise RunnerFailed(f"this machine has no service {service}")
        ran = said.get("ActiveState") in ("active", "activating", "reloading", "refreshing")
        is_kept = ran and step.get("stay_stopped") and systemd_services.starts_at_boot(said)
        return {"ran": ran, "at_boot": True} if is_kept else {"ran": ran}

    def lacks(self, step: Step) -> str:
        try:
            self.as_user(step)
            at_boot = self.before(step).get("at_boot")
        except (JobFailed, RunnerFailed) as error:
            return str(error)
        refusal = systemd_services.refusal() if at_boot and _is_by_root(step) else None
        return _not_kept(step["service"], refusal) if refusal else ""

    def work(self, step_run: StepRun) -> Work:
        is_done, service = step_run.direction == "do", step_run.step["service"]
        mark = os.path.join(os.path.dirname(self._jobs.folder), MARK)

        def run() -> Dict[str, Any]:
            if native.is_root():
                if not is_done:
                    systemd_services.let_start(service)
                elif _is_to_be_kept(step_run):
                    try:
                        systemd_services.keep_stopped(service, mark)
                    except OSError as error:
                        raise RunnerFailed(_not_kept(service, error)) from error
            try:
                native.become(["systemctl", "stop" if is_done else "start", "--", service])
            except FileNotFoundError as error:
                raise RunnerFailed(systemd_services.NO_SYSTEMCTL) from error

        return run

    def judged(self, step_run: StepRun, result: Dict[str, Any]) -> Progress:
        if result["rc"] == 0:
            is_kept = not _is_to_be_kept(step_run) or _is_by_root(step_run.step)
            return Progress(DONE, "" if is_kept else NOT_KEPT)
        # All of its lines: the last one only says where to read more.
        words = one_line(result["stderr"] or result["stdout"], MOST)
        return Progress(FAILED, exit_words({"rc": result["rc"], "msg": words}))


def _not_kept(service: str, error: OSError) -> str:
    return (
        f"service {service} can't be kept from starting at boot: {systemd_services.UNITS} can't be written ({error.strerror}). "
        "Set stay_stopped to false in the step to do without that"
    )


def _is_to_be_kept(step_run: StepRun) -> bool:
    """Whether a boot would start it before it is recovered."""
    return step_run.direction == "do" and bool(step_run.step.get("stay_stopped") and step_run.initial.get("at_boot"))


def _is_by_root(step: Step) -> bool:
    return native.is_root() and step.get("become") is not False


class HttpRunner(JobRunner):
    """Sends a request, and another one to take it back; waits until the application says that it is done."""

    beyond = LAST_WORDS

    def state(self, step: Step, within: float) -> Dict[str, Any]:
        answered = self.checked(step, within)["answer"]
        if answered["state"] == FAILED:
            raise RunnerFailed(answered["note"])
        return {"back": answered["note"]}

    def work(self, step_run: StepRun) -> Work:
        if step_run.direction == "check":
            return lambda: _check(step_run.step)
        return lambda: _run(step_run)


def _check(step: Step) -> Dict[str, Any]:
    try:
        found = HTTP.initial_state(step, _asked(step, step["check"], step["check"]["request_timeout"]))
    except StepError as error:
        return answer(FAILED, str(error))
    return answer(DONE, found["back"])


def _run(step_run: StepRun) -> Dict[str, Any]:
    step, part = step_run.step, step_run.step[step_run.direction]
    deadline = Deadline(Clock(), step_run.limit)
    sent = _asked(step, part, step_run.limit)
    if sent["status"] not in part["status"]:
        if step["no_log"]:
            return answer(FAILED, kept_back(f" with {sent['status']}"))
        return answer(FAILED, f"Status code was {sent['status']} and not {part['status']}: {sent['msg']}")
    until = part.get("until")
    if not until:
        return answer_to(Verdict(True))

    good = 0

    def poll(left: float) -> Verdict:
        nonlocal good
        answered = _asked(step, until, min(until["request_timeout"], max(left, LAST_WORDS)))
        seen = counted(step, step_run.direction, answered, good)
        good = seen["good"]
        return HTTP.judges["until"](step, step_run.direction, seen)

    return answer_to(poll_until_done(until["interval"], deadline.remaining(), poll), secret=step["no_log"])


def _asked(step: Step, part: Mapping[str, Any], seconds: float) -> Dict[str, Any]:
    # Here and not at the top: only the process of the job needs it.
    from .step_transport import Wire, ask

    wire = Wire(step.get("user"), step.get("password"), step["validate_certs"], step["use_proxy"])
    return ask(wire, part["method"], part["url"], part["headers"], _body(part), seconds)


def _body(part: Mapping[str, Any]) -> Any:
    if "body" not in part:
        return None
    body = part["body"]
    text = json.dumps(body) if part["body_format"] == "json" and not isinstance(body, str) else str(body)
    return text.encode("utf-8")


class ConnectionsRunner(JobRunner):
    """Waits until a port has no connections, and afterwards until it listens again."""

    beyond = LAST_WORDS

    def work(self, step_run: StepRun) -> Work:
        poll = _gone if step_run.direction == "do" else _listens
        interval = step_run.step["interval"]
        return lambda: answer_to(poll_until_done(interval, step_run.limit, poll(step_run.step, step_run.limit)))


def _gone(step: Step, limit: float) -> Any:
    from .step_transport import addresses_of

    excluded = {_plain(ipaddress.ip_address(address)) for host in step["exclude"] for address in addresses_of(host)}

    def poll(left: float) -> Verdict:
        seen = {"result": {"left": established(step["port"], excluded)}, "looked": limit - left}
        return CONNECTIONS.judges["gone"](step, "do", seen)

    return poll


def _listens(step: Step, limit: float) -> Any:
    from .step_transport import accepts

    address, port = step["listen_address"], step["port"]

    def poll(left: float) -> Verdict:
        if accepts(address, port, min(5.0, max(left, LAST_WORDS))):
            return Verdict(True)
        return Verdict(False, f"nothing listens on {address}:{port}")

    return poll


def established(port: int, excluded: Set[Address]) -> int:
    """How many connections of a local port are established, those with the excluded addresses left out."""
    return sum(
        state == ESTABLISHED and local == port and remote not in excluded for local, remote, state in _connections()
    )


def _connections() -> Iterator[Tuple[int, Address, str]]:
    """Local port, remote address and state of every TCP connection of this machine."""
    if os.name == "nt":
        from .windows.kernel import connections

        yield from ((port, _plain(remote), ESTABLISHED if is_open else "") for port, remote, is_open in connections())
        return
    for table in TABLES:
        try:
            with open(table, encoding="ascii") as file:
                lines = file.readlines()[1:]
        except FileNotFoundError:  # a kernel without IPv6
            continue
        for line in lines:
            _number, local, remote, state = line.split()[:4]
            yield int(local.rpartition(":")[2], 16), _address(remote.rpartition(":")[0]), state


def _address(text: str) -> Address:
    """An address as the kernel writes it: words of four bytes, each in the machine's own order."""
    words = [bytes.fromhex(text[place : place + 8]) for place in range(0, len(text), 8)]
    raw = b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)
    return _plain(ipaddress.ip_address(raw))


def _plain(address: Address) -> Address:
    """IPv4 that comes over a socket of IPv6 is IPv4."""
    return getattr(address, "ipv4_mapped", None) or address


def make_runners(jobs: Jobs, user: str = "") -> Dict[str, StepRunner]:
    """What each step that this machine does itself is done with.

    :arg user: as whom Ansible connects to this machine; steps with ``become: false`` run as this user
    """
    kinds: Dict[str, Type[JobRunner]] = {
        "service": ServiceRunner,
        "command": CommandRunner,
        "http": HttpRunner,
        "connections": ConnectionsRunner,
    }
    if os.name == "nt":
        from .windows.step_runners import KINDS

        kinds.update(KINDS)
    hook = HookRunner(jobs, Clock())
    runners: Dict[str, StepRunner] = {name: kind(jobs, user) for name, kind in kinds.items()}
    return dict(runners, **{kind.name: hook for kind in HOOKS})
