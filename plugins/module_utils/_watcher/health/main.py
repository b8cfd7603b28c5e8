# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health endpoint as a process: its options, and its sockets. On Linux systemd holds them, so that its ports outlive it; on Windows they
are its own.

Private to this collection.

    azure-maintenance health --http ADDRESS ... --agent ADDRESS ... --source NETWORK ... --metrics-source NETWORK ...
                             [--app URL] [--app-timeout SECONDS] [--folder FOLDER] [--run-folder FOLDER]

It is small on purpose: it imports nothing that it does not need, neither argparse nor http.
"""

import os
import socket
import sys
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from ..._clock import Clock, Deadline
from ..host.this_host import HOST
from .addresses import Address, AppUrl, Sources, app_url, listen_address
from .app_check import AppCheck
from .machine_state import Answer, StateFiles, answer_of
from .server import Audience, Listener, Poller, Server

WRONG_USAGE = 2
_FIRST = 3  # of the descriptors that systemd hands over
_BACKLOG = 128
LONGEST_TURN = 1.0
TRY_AGAIN_AFTER = 60.0
"""Seconds after which the process ends where systemd lacks an address: it tries that again when it starts the process again."""
_NOTHING = "there is no socket: name one with --http or --agent"


class Options(NamedTuple):
    """What the process was called with."""

    http: Tuple[Address, ...] = ()
    agent: Tuple[Address, ...] = ()
    sources: Tuple[str, ...] = ()
    metrics_sources: Tuple[str, ...] = ()
    app: Optional[AppUrl] = None
    app_timeout: float = 1.0
    folder: str = HOST.state
    run_folder: str = HOST.run_folder


def main(arguments: List[str]) -> int:
    """Answer until somebody ends it, or an address is to be tried again; returns the exit code."""
    try:
        options = options_of(arguments)
        listeners, clock = listeners_of(options, os.environ), Clock()
        poller = serve(options, listeners, clock)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"azure-maintenance health: {error}\n")
        return WRONG_USAGE
    deadline = Deadline(clock, TRY_AGAIN_AFTER if len(listeners) < len(_wanted(options)) else None)
    while not deadline.passed():
        poller.turn(deadline.remaining())
    return 0


def options_of(arguments: List[str]) -> Options:
    """:raises ValueError: naming the option that is wrong"""
    given: Dict[str, List[str]] = {}
    for name, value in zip(arguments[::2], arguments[1::2]):
        given.setdefault(name, []).append(value)
    unknown = [name for name in given if name not in _OPTIONS]
    if unknown or len(arguments) % 2:
        raise ValueError(
            f"{(unknown or arguments[-1:])[0]} is no option, or lacks its value; there are {', '.join(_OPTIONS)}"
        )
    found = {}
    for name, values in given.items():
        field, parse = _OPTIONS[name]
        try:
            found[field] = parse(values)
        except ValueError as error:
            raise ValueError(f"{name} {values[-1]}: {error}") from error
    return Options(**found)  # type: ignore[arg-type]


_OPTIONS: Dict[str, Tuple[str, Callable[[List[str]], object]]] = {
    "--http": ("http", lambda values: tuple(map(listen_address, values))),
    "--agent": ("agent", lambda values: tuple(map(listen_address, values))),
    "--source": ("sources", tuple),
    "--metrics-source": ("metrics_sources", tuple),
    "--app": ("app", lambda values: app_url(values[-1])),
    "--app-timeout": ("app_timeout", lambda values: float(values[-1])),
    "--folder": ("folder", lambda values: values[-1]),
    "--run-folder": ("run_folder", lambda values: values[-1]),
}


def listeners_of(options: Options, environment: Mapping[str, str]) -> List[Listener]:
    """The sockets that systemd has handed over, else sockets of its own, for trials.

    :raises OSError: when an address can't be had
    """
    if environment.get("LISTEN_PID") == str(os.getpid()):
        agents = {address.port for address in options.agent}
        numbers = range(_FIRST, _FIRST + int(environment.get("LISTEN_FDS") or 0))
        return [Listener(one, one.getsockname()[1] in agents) for one in map(_handed_over, numbers)]
    return [Listener(_bound(address), is_agent) for address, is_agent in _wanted(options)]


def _handed_over(number: int) -> socket.socket:
    """Python 3.6 takes every descriptor for one of IPv4, and reads addresses of another family wrongly."""
    one = socket.socket(fileno=number)
    family = one.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN)
    return socket.socket(family, socket.SOCK_STREAM, fileno=one.detach())


def _wanted(options: Options) -> List[Tuple[Address, bool]]:
    """The addresses, and whether each speaks agent-check."""
    return [(one, False) for one in options.http] + [(one, True) for one in options.agent]


def _bound(address: Address) -> socket.socket:
    one = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there the other option would let any user's process have the port as well
            one.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((address.host, address.port))
        one.listen(_BACKLOG)
    except OSError:
        one.close()
        raise
    return one


class OwnSockets:
    """The endpoint on sockets of its own. An address that can't be had, as it comes later at a boot, or somebody else has it, is tried
    again and again; the others are answered meanwhile.

    :arg log: gets a sentence
    :raises ValueError: when there is nothing to listen on, or a source can't be read
    """

    def __init__(self, options: Options, clock: Clock, log: Callable[[str], None]) -> None:
        self._lacking = _wanted(options)
        if not self._lacking:
            raise ValueError(_NOTHING)
        self._server = _server(options, [], clock)
        self._log = log
        self._said: Set[Address] = set()

    def turn(self) -> None:
        """One, of at most a second: whoever ends it waits no longer."""
        self._lacking = [one for one in self._lacking if not self._has(*one)]
        self._server.poller.turn(LONGEST_TURN)

    def _has(self, address: Address, is_agent: bool) -> bool:
        try:
            self._server.listen(Listener(_bound(address), is_agent))
        except OSError as error:
            if address not in self._said:
                self._log(
                    f"port {address.port} of {address.host} can't be had: {error.strerror or error}. It is tried every second"
                )
            self._said.add(address)
            return False
        if address in self._said:
            self._log(f"port {address.port} of {address.host} is answered now")
        return True


def serve(options: Options, listeners: List[Listener], clock: Clock) -> Poller:
    """Begin to answer: each turn of what is returned goes on with it.

    :raises AddressError: when a source can't be read
    :raises ValueError: when there is nothing to listen on
    """
    if not listeners:
        raise ValueError(_NOTHING)
    return _server(options, listeners, clock).poller


def _server(options: Options, listeners: List[Listener], clock: Clock) -> Server:
    poller = Poller(clock)
    files = StateFiles(options.folder, options.run_folder, clock)
    app = AppCheck(options.app, options.app_timeout, poller) if options.app else None

    def ask(then: Callable[[Answer], None]) -> None:
        state = files.read()
        if app is None or state.is_marked:
            then(answer_of(state))
        else:
            app.ask(lambda problem: then(answer_of(files.read(), problem)))

    patience = options.app_timeout if app else 0.0
    audience = Audience(Sources(options.sources), Sources(options.metrics_sources))
    return Server(listeners, poller, audience, ask, patience, files.metrics)
