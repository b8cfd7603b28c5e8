# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running emulator: a world, its two HTTP servers, its clock's alarm, and its end."""

import asyncio
import contextlib
import json
import os
import signal
import socket
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional, Sequence, TextIO, Tuple

from . import open_files
from .control import ControlService
from .http_server import HttpServer
from .journal import Journal
from .metadata import SERVER, MetadataService
from .on_change import OnChange, Ran, split
from .problems import InvalidInput
from .scenario import Scenario
from .timeline import Clock, Timeline
from .world import World

LONGEST_SLEEP = 3600.0


class Options(NamedTuple):
    """How to serve."""

    listen: Tuple[Tuple[str, int], ...]
    control: Optional[Tuple[str, int]]
    speed: float = 1.0
    journal: Optional[TextIO] = None
    log_requests: bool = False
    on_change: str = ""
    addresses: str = ""
    idle: float = 0.0


def new_world(settings: Dict[str, Any], speed: float, journal: Optional[TextIO] = None) -> World:
    """An empty world whose clock runs from now on; what is loaded into it brings the other settings."""
    start = settings.get("start")
    timeline = Timeline(Clock(start, speed))
    world = World(timeline, Journal(timeline, journal))
    if start is not None:
        world.settings = world.settings._replace(not_before_clock="virtual")
    return world


DEFAULT_CONTROL = "http://127.0.0.1:8081"
"""Where other commands look for the control API."""


class Service:
    """Everything that runs on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, scenario: Scenario, options: Options) -> None:
        self.loop = loop
        self._options = options
        self._alarm: Optional[asyncio.TimerHandle] = None
        self.world = new_world(scenario.settings, options.speed, options.journal)
        if options.on_change:
            self._run_on_change(options.on_change)
        self.world.load(scenario)
        if options.log_requests:  # else a journal without requests would not say whether there were any
            self.world.journal.add("requests_logged")
        self._metadata = HttpServer(loop, MetadataService(self.world, loop, options.log_requests).answer, SERVER)
        self._control = HttpServer(loop, ControlService(self.world, loop).answer, "imds_emulator")
        self.urls: Dict[str, Any] = {"pid": os.getpid(), "metadata": [], "control": None}

    def _run_on_change(self, command: str) -> None:
        def report(ran: Ran) -> None:  # from the other thread
            self.loop.call_soon_threadsafe(self._note_run, ran)

        runner = OnChange(command, report)
        form = self.world.settings.not_before_format
        self.world.lifecycle.listeners.append(lambda change, event: runner.changed(change, event.as_json(form)))

    def _note_run(self, ran: Ran) -> None:
        self.world.journal.add(
            "command",
            change=ran.change.change,
            event_id=ran.change.event["id"],
            status=ran.status,
            seconds=ran.seconds,
            error=ran.error,
        )

    async def start(self) -> None:
        """Answer from now on."""
        for host, port in self._options.listen:
            self.urls["metadata"].append(await _listen(self._metadata, host, port))
        if self._options.control is not None:
            self.urls["control"] = await _listen(self._control, *self._options.control)
        self.world.timeline.moved = self._set_alarm
        self._set_alarm()

    async def start_inside(self, vm: str, metadata: Sequence[socket.socket], control: socket.socket) -> None:
        """Answer a VM on sockets of its own network namespace, too."""
        for listener in metadata:
            await self._metadata.listen_on(listener, vm)
        await self._control.listen_on(control)

    def _set_alarm(self) -> None:
        """Wake up when the next thing is due."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        due = self.world.timeline.next_due()
        delay = None if due is None else self.world.timeline.until(due)
        if delay is not None:
            self._alarm = self.loop.call_later(min(delay, LONGEST_SLEEP), self._wake)

    def _wake(self) -> None:
        self.world.timeline.catch_up()
        self._set_alarm()

    def end_when_idle(self, end: Callable[[], None]) -> None:
        """Call this once nobody has asked the metadata service for as long as the options say."""
        left = self._metadata.asked_at + self._options.idle - self.loop.time()
        if left > 0:
            self.loop.call_later(left, self.end_when_idle, end)
        else:
            end()

    def stop(self) -> None:
        """Drop everything."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._metadata.close()
        self._control.close()


async def _listen(server: HttpServer, host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    try:
        port = await server.listen(host, port)
    except OSError as error:
        raise InvalidInput(
            f"{shown}:{port}", f"can't listen there: {os.strerror(error.errno) if error.errno else error}"
        ) from None
    return f"http://{shown}:{port}"


def write_addresses(path: str, urls: Dict[str, Any]) -> None:
    """Write where to ask, in one step, so that a reader finds all of it or nothing."""
    beside = f"{path}.new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(urls, file)
        file.write("\n")
    os.replace(beside, path)


def notify_systemd(state: str) -> None:
    """The readiness protocol of Type=notify; nothing without it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.connect("\0" + address[1:] if address.startswith("@") else address)
        notify.sendall(state.encode())


def check(scenario: Scenario, options: Options) -> World:
    """Raise what `serve` would, short of listening. Returns the world as it would begin."""
    if options.on_change:
        split(options.on_change)
    world = new_world(scenario.settings, 0)
    world.load(scenario)
    return world


@contextlib.contextmanager
def running(scenario: Scenario, options: Options) -> Iterator[Service]:
    """A service that answers once its loop runs, and is stopped at the end."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    open_files.raise_limit()
    loop.set_exception_handler(open_files.Exhaustion())
    try:
        service = Service(loop, scenario, options)
        loop.run_until_complete(service.start())
        yield service
        service.stop()
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()


def serve(scenario: Scenario, options: Options, say: Callable[[str], None]) -> None:
    """Run until SIGTERM or SIGINT, or until nobody has asked for long."""
    with running(scenario, options) as service:
        ending = service.loop.create_future()

        def end() -> None:
            if not ending.done():
                ending.set_result(None)

        for number in (signal.SIGTERM, signal.SIGINT):
            service.loop.add_signal_handler(number, end)
        if options.idle:
            service.end_when_idle(end)
        if options.addresses:
            write_addresses(options.addresses, service.urls)
        for url in service.urls["metadata"]:
            say(f"metadata on {url}")
        if service.urls["control"]:
            say(f"control on {service.urls['control']}")
            if service.urls["control"] != DEFAULT_CONTROL:
                say(f"export AZURE_EMULATOR_CONTROL={service.urls['control']}")
        notify_systemd("READY=1")
        service.loop.run_until_complete(ending)
        notify_systemd("STOPPING=1")
