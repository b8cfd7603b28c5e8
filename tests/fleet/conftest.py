# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the fleet tests. Machines start once a session; after each test everything it broke is put right."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from machines import client, controller, emulator, fleet, host, network, settings

_SPEED = 20.0  # Azure's 15 minutes of notice are 45 s


def pytest_collection_modifyitems(items: list) -> None:
    reason = host.why_not()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", name="session_fleet")
def _session_fleet() -> Iterator[fleet.Fleet]:
    """All machines up. This process, and all it starts, is in the controller's namespace from here on."""

    def interrupted(number: int, _frame: Any) -> None:
        for again in (signal.SIGINT, signal.SIGTERM):  # once is enough: the machines are being ended
            signal.signal(again, signal.SIG_IGN)
        raise KeyboardInterrupt(f"signal {number}")

    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    machines = fleet.Fleet()
    with fleet.locked():
        try:
            machines.up()
            with network.entered(settings.CONTROLLER) as machines.outside:
                yield machines
        finally:
            for number in before:
                signal.signal(number, signal.SIG_IGN)
            if os.environ.get("AZM_FLEET_KEEP"):
                print("\nAZM_FLEET_KEEP is set: the machines stay on; tests/fleet/README.md says how to look at them")
            else:
                machines.down()
            for number, handler in before.items():
                signal.signal(number, handler)


@pytest.fixture(scope="session", name="session_emulator")
def _session_emulator(session_fleet: fleet.Fleet) -> Iterator[emulator.Emulator]:
    azure = emulator.Emulator()
    azure.start()
    yield azure
    if not os.environ.get("AZM_FLEET_KEEP"):
        azure.stop()


@pytest.fixture(scope="session", name="session_controller")
def _session_controller(session_fleet: fleet.Fleet) -> controller.Controller:
    ansible = controller.Controller(session_fleet)
    ansible.prepare()
    return ansible


@pytest.fixture(name="azure")
def _azure(session_emulator: emulator.Emulator) -> emulator.Emulator:
    """The emulator: no events, no faults, an empty journal, 20 times as fast as a watch."""
    session_emulator.reset(_SPEED)
    return session_emulator


@pytest.fixture(name="machines")
def _machines(session_fleet: fleet.Fleet, azure: emulator.Emulator) -> Iterator[fleet.Fleet]:
    """The machines: machines["web1"].reset() and so on. All on and serving again after the test.

    No machine that is on may be marked then: one that is gone with its event has taken it along.
    """
    yield session_fleet
    left = session_fleet.left_behind()
    azure.reset(_SPEED)  # first, so that no event reaches a machine that is being put right
    session_fleet.restore()
    assert left == {}, "marks, or what belongs to them, are left on machines"


@pytest.fixture(name="ansible")
def _ansible(session_controller: controller.Controller, machines: fleet.Fleet) -> Iterator[controller.Controller]:
    """ansible.run("cloudops.azure_maintenance.maintain", ...), or .start(...) to do something meanwhile."""
    yield session_controller
    session_controller.stop_all()


@pytest.fixture(name="maintain")
def _maintain(ansible: controller.Controller, azure: emulator.Emulator) -> Callable[..., controller.Playbook]:
    """maintain() starts the playbook on the web machines; when it returns, web1 is waiting for an event."""

    def start(hosts: str = "web", waits: Sequence[str] = ("web1",), **options: Any) -> controller.Playbook:
        run = ansible.start("cloudops.azure_maintenance.maintain", azure_maintenance_hosts=hosts, **options)
        for name in waits:
            azure.wait_until_waiting(name, alive=run.check_alive)
        return run

    return start


@pytest.fixture(name="user")
def _user(machines: fleet.Fleet) -> Iterator[client.Client]:
    """Somebody who requests through the load balancer during the whole test."""
    with client.of_fleet() as somebody:
        yield somebody


@pytest.fixture(name="on")
def _on(session_fleet: fleet.Fleet) -> Callable[[str], Any]:
    """on("web1").service("nginx").is_running: a machine through pytest-testinfra, as root."""
    import testinfra  # here, so that a box without it can still say why the tests are skipped

    def host_named(name: str) -> Any:
        return testinfra.get_host(f"ssh://{name}", ssh_config=str(session_fleet.ssh_config), sudo=True)

    return host_named
