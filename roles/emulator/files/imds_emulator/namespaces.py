# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A network namespace for this process, with nothing in it but a loopback interface that has Azure's address.

What is asked there can't leave it. Linux only; by the C library and ioctl, as the ip command may be missing.
"""

import ctypes
import fcntl
import ipaddress
import os
import socket
import struct
from typing import List, Sequence

from .problems import Problem

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SET_ADDRESS, SET_MASK, GET_FLAGS, SET_FLAGS = 0x8916, 0x891C, 0x8913, 0x8914  # SIOCSIFADDR and so on
UP = 1
PR_SET_PDEATHSIG = 1
NAMESPACE = "/proc/self/ns/net"
BACKLOG = 1024


class NoNamespace(Problem):
    """This machine, or this user, can't make one."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"can't make a network namespace, which `run` needs for a private metadata service: {reason}. "
            "Linux is needed, and root (sudo) or unprivileged user namespaces (sysctl user.max_user_namespaces "
            "above 0, and "
            "kernel.apparmor_restrict_unprivileged_userns=0 or kernel.unprivileged_userns_clone=1 where there are "
            "such); "
            "in a container, the capability SYS_ADMIN. Without it, use `serve` and give the program an endpoint"
        )


def enter_new(addresses: Sequence[str]) -> str:
    """Move this process, which has one thread, into a new namespace. Returns the namespace's name."""
    before = _name()
    try:
        _unshare()
        if _name() == before:
            raise NoNamespace("the system stays in the one it has")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            _bring_up(control)
            for number, address in enumerate(addresses, 1):
                if not ipaddress.IPv4Address(address).is_loopback:  # those are there
                    _give(control, f"lo:{number}", address)
    except OSError as error:
        raise NoNamespace(error.strerror or str(error)) from None
    return _name()


def listen(addresses: Sequence[str], port: int) -> List[socket.socket]:
    """Sockets on these addresses, which stay in this process's namespace whoever they are handed to."""
    listeners = []
    for address in addresses:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
        listeners.append(listener)
    return listeners


def processes_in(namespace: str) -> List[int]:
    """The processes, as far as this user may see them, that are in a namespace."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/ns/net") == namespace:
                found.append(int(entry))
        except OSError:  # it has ended, or is another user's
            pass
    return found


def end_with_parent(signal_number: int) -> None:
    """Have this process get a signal when the one that started it dies, however it dies."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number)


def _name() -> str:
    try:
        return os.readlink(NAMESPACE)
    except OSError:
        raise NoNamespace("this system has none") from None


def _unshare() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWNET) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    # The command stays the user that it is; it is this process alone that may set up the namespace.
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _bring_up(control: socket.socket) -> None:
    """The loopback interface, which gets 127.0.0.1 by that."""
    flags = struct.unpack("16xH", fcntl.ioctl(control, GET_FLAGS, _request("lo", b""))[:18])[0]
    fcntl.ioctl(control, SET_FLAGS, _request("lo", struct.pack("H", flags | UP)))


def _give(control: socket.socket, label: str, address: str) -> None:
    try:
        _add_address(control, label, address)
    except OSError as error:
        raise Problem(f"--address: {address} can't be an address of the namespace: {error.strerror or error}") from None


def _add_address(control: socket.socket, label: str, address: str) -> None:
    fcntl.ioctl(control, SET_ADDRESS, _request(label, _internet(address)))
    fcntl.ioctl(control, SET_MASK, _request(label, _internet("255.255.255.255")))


def _internet(address: str) -> bytes:
    return struct.pack("HH4s", socket.AF_INET, 0, socket.inet_aton(address))


def _request(interface: str, value: bytes) -> bytes:
    return struct.pack("16s24s", interface.encode("ascii"), value)
