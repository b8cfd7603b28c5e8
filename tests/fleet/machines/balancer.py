# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HAProxy's administrator, from outside the machine it runs on: through the file system of the machine's process 1."""

import csv
import io
import socket

from . import services, settings
from .host import LONG, FleetError, until
from .machine import Machine


def command(machine: Machine, text: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(f"/proc/{machine.init()}/root{services.ADMIN_SOCKET}")
        connection.sendall(text.encode() + b"\n")
        answer = b""
        while True:
            part = connection.recv(65536)
            if not part:
                return answer.decode()
            answer += part


def states(machine: Machine) -> dict[str, str]:
    """HAProxy's word for each of its servers: UP, DOWN, DRAIN, MAINT, "UP 1/2"; empty while it can't be asked."""
    try:
        rows = csv.DictReader(io.StringIO(command(machine, "show stat").lstrip("# ")))
        return {
            row["svname"]: row["status"]
            for row in rows
            if row["pxname"] == services.BACKEND and row["svname"] != "BACKEND"
        }
    except OSError:
        return {}


def all_ready(machine: Machine, timeout: float = LONG) -> None:
    """Every server back in use, whatever state a test left it in."""
    names = [spec.name for spec in settings.MACHINES if spec.scope == "web"]
    until("HAProxy to answer", lambda: states(machine), timeout)
    for name in names:
        answer = command(machine, f"set server {services.BACKEND}/{name} state ready").strip()
        if answer:
            raise FleetError(f"HAProxy on {machine.spec.name}, server {name}: {answer}")
    until(
        "HAProxy to use all its servers",
        lambda: all(states(machine).get(name) == "UP" for name in names) or None,
        timeout,
    )
