# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real emulator on loopback ports, in a thread, with its clock standing still unless a test moves it."""

import asyncio
import signal
import threading

import pytest
from emulator_harness import START, WEB, Emulator  # before the emulator itself: it knows where that is
from emulator_program import Running
from imds_emulator.scenario import together
from imds_emulator.scenario_reader import read_scenario
from imds_emulator.service import Options, Service


@pytest.fixture(scope="module")
def loop():
    """One event loop in one thread for all emulators of a file."""
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever, daemon=True)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join(60)


@pytest.fixture
def start(loop):
    """Start emulators: scenario keys, and Options by name."""
    started = []

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(60)

    async def stop(service):
        service.stop()

    def start_one(speed=0, options=None, settings=None, **scenario):
        settings = dict({"start": START, "rate_limit": 0}, **settings or {})
        whole = together(
            [
                read_scenario(
                    dict(WEB, settings=settings, **scenario)
                    if "vms" not in scenario
                    else dict(scenario, settings=settings)
                )
            ]
        )
        how = dict({"listen": (("127.0.0.1", 0),), "control": ("127.0.0.1", 0), "speed": speed}, **options or {})

        async def begin():
            service = Service(loop, whole, Options(**how))
            await service.start()
            return service

        started.append(run(begin()))
        return Emulator(started[-1])

    yield start_one
    for service in started:
        run(stop(service))


@pytest.fixture
def emulator(start):
    """Two web servers in one scope and a lone machine; no event yet."""
    return start()


@pytest.fixture
def run(tmp_path):
    running = []

    def start(*words, **how):
        running.append(Running(tmp_path, *words, **how))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.stop(signal.SIGKILL)
