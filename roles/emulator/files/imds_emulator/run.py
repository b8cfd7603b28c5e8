# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands with a private metadata service: started, given signals, waited for, and cleaned up after."""

import os
import signal
import sys
import time
from typing import List, Sequence

from .commands import Command
from .problems import Problem
from .scenario import Scenario
from .service import Options, Service, check, running

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
BY_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
PATIENCE = 3.0  # seconds that what a command left behind has between SIGTERM and SIGKILL


def run(
    scenario: Scenario, options: Options, words: Sequence[str], vms: Sequence[str], addresses: Sequence[str]
) -> int:
    """The command once for each VM, side by side. Returns the first status that is not 0, in the order of the VMs.

    :arg vms: names; none: all of the scenario
    """
    world = check(scenario, options)
    world.check_vm_names(vms, "--on")
    names = [world.vm(name).name for name in vms] or [vm.name for vm in world.vms.values()]
    if not names:
        raise Problem("there is no VM that the command could run on: give --vm, or a --scenario that has one")
    commands: List[Command] = []
    try:
        for name in names:  # before the emulator has threads, and before it takes more open files than they should have
            commands.append(Command(name, words, addresses))
        with running(scenario, options) as service:
            _wait(service, commands)
    finally:
        for command in commands:
            if not command.reap():
                command.send(signal.SIGTERM)
        _clean_up(commands)
    if len(commands) > 1:
        for command in commands:
            if command.status:
                print(f"imds_emulator: on {command.vm} the command ended with {command.status}", file=sys.stderr)
    return next((command.status for command in commands if command.status), 0)


def _wait(service: Service, commands: Sequence[Command]) -> None:
    loop = service.loop
    all_ended = loop.create_future()

    def forward(number: int) -> None:
        if number in BY_TERMINAL and _has_terminal():
            return  # the terminal has sent it to the commands, too
        for command in commands:
            command.send(number)

    def ended() -> None:
        left = [command for command in commands if not command.reap()]
        if not left and not all_ended.done():
            all_ended.set_result(None)

    loop.add_signal_handler(signal.SIGCHLD, ended)
    for number in FORWARDED:
        loop.add_signal_handler(number, forward, number)
    for command in commands:
        loop.run_until_complete(service.start_inside(command.vm, command.metadata, command.control))
    if service.urls["control"]:
        print(f"imds_emulator: control on {service.urls['control']}", file=sys.stderr, flush=True)
    for command in commands:
        command.begin()
    ended()  # one that was killed before the handler was there
    loop.run_until_complete(all_ended)


def _has_terminal() -> bool:
    """Is this the job in the foreground of a terminal?"""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _clean_up(commands: Sequence[Command]) -> None:
    """End what the commands left behind: a namespace is there as long as a process is in it."""
    deadline = time.monotonic() + PATIENCE
    number = signal.SIGTERM
    while True:
        for command in commands:
            command.reap()
        left = [pid for command in commands for pid in command.left_behind()]
        if not left:
            return
        if time.monotonic() > deadline:
            number = signal.SIGKILL
        for pid in left:
            try:
                os.kill(pid, number)
            except OSError:  # it has ended meanwhile
                pass
        if time.monotonic() > deadline + PATIENCE:
            print(f"imds_emulator: still there in its namespace: processes {left}", file=sys.stderr)
            return
        time.sleep(0.05)
