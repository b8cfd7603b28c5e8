# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Datagrams to a program of this machine that listens on a socket in the file system: systemd, its journal. Linux.

Private to this collection.
"""

import socket


def send(address: str, message: bytes) -> bool:
    """Send one; whether it could be sent. Never waits: who does not listen must not hold us.

    :arg address: a path; one that begins with @ is a name outside of the file system
    """
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as sender:
            sender.sendto(message, address)
    except OSError:
        return False
    return True
