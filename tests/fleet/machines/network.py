# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet's network: a bridge in a namespace of its own, and one namespace for everything that is plugged into it.

Nothing of it touches the box's own interfaces or routes, and nothing has a default route: no packet can leave. The
metadata address exists only on the emulator's link.
"""

import contextlib
import ctypes
import os
import pathlib
from collections.abc import Iterator

from . import settings
from .host import FleetError, run

LINK = "host0"  # the name of the network interface inside a machine, as systemd-nspawn would call it
_BRIDGE = "bridge"
_PREFIX_LENGTH = settings.NETWORK.split("/")[1]
_CLONE_NEWNET = 0x40000000


def path(namespace: str) -> pathlib.Path:
    return pathlib.Path("/run/netns") / namespace


def of_machine(name: str) -> str:
    return settings.PREFIX + name


def inside(namespace: str) -> tuple:
    """The words to put before a command so that it runs in a namespace."""
    return ("nsenter", f"--net={path(namespace)}")


def up() -> None:
    """The bridge, the controller's place and the emulator's place."""
    _add(settings.SWITCH)
    _ip(settings.SWITCH, "link", "add", _BRIDGE, "type", "bridge")
    _ip(settings.SWITCH, "link", "set", _BRIDGE, "up")
    plug(settings.CONTROLLER, settings.CONTROLLER_ADDRESS)
    plug(settings.AZURE, settings.CONTROL_ADDRESS)
    _ip(settings.AZURE, "address", "add", f"{settings.IMDS_ADDRESS}/32", "dev", LINK)


def plug(namespace: str, address: str) -> None:
    """A new namespace with one interface on the bridge. The other end of its cable is named after the namespace."""
    _add(namespace)
    _ip(settings.SWITCH, "link", "add", namespace, "type", "veth", "peer", "name", LINK, "netns", namespace)
    _ip(settings.SWITCH, "link", "set", namespace, "master", _BRIDGE, "up")
    _ip(namespace, "address", "add", f"{address}/{_PREFIX_LENGTH}", "dev", LINK)
    _ip(namespace, "link", "set", LINK, "up")


def plug_machine(name: str, address: str) -> None:
    """A machine, which unlike the controller also has a way to the metadata address."""
    plug(of_machine(name), address)
    _ip(of_machine(name), "route", "add", f"{settings.IMDS_ADDRESS}/32", "dev", LINK)


def set_cable(name: str, connected: bool) -> None:
    """Pull a machine's cable, or put it back. Its addresses and routes stay."""
    _ip(settings.SWITCH, "link", "set", of_machine(name), "up" if connected else "down")


def down() -> None:
    """Every namespace of ours, whoever left it. Their interfaces go with them."""
    for namespace in existing():
        run("ip", "netns", "delete", namespace, check=False)


def existing() -> list:
    return sorted(entry.name for entry in pathlib.Path("/run/netns").glob(settings.PREFIX + "*"))


@contextlib.contextmanager
def entered(namespace: str) -> Iterator[str]:
    """This thread, and every thread and process it starts, is inside the namespace until the block ends.

    Gives the file by which nsenter finds the namespace it came from.
    """
    with open("/proc/thread-self/ns/net", "rb") as home, open(path(namespace), "rb") as there:
        _enter(there.fileno())
        try:
            yield f"/proc/{os.getpid()}/fd/{home.fileno()}"
        finally:
            _enter(home.fileno())


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise FleetError(f"can't enter a network namespace: {os.strerror(ctypes.get_errno())}")


def _add(namespace: str) -> None:
    run("ip", "netns", "add", namespace)
    _ip(namespace, "link", "set", "lo", "up")


def _ip(namespace: str, *words: str) -> None:
    run("ip", "-netns", namespace, *words)
