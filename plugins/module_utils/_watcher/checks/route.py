# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to the metadata service, by the kernel's own table: through which card it goes. Pure, but for reading the table.

Private to this collection.
"""

import ipaddress
import struct
from typing import List, NamedTuple, Optional
from urllib.parse import urlsplit

from .finding import FAIL, OK, WARN, Finding

TABLE = "/proc/net/route"
_UP, _REJECT = 0x1, 0x200


class Route(NamedTuple):
    """One line of the table."""

    card: str
    network: ipaddress.IPv4Network
    gateway: str  # "" for none
    is_rejected: bool
    metric: int


def routes(table: str) -> List[Route]:
    """What /proc/net/route says; lines that can't be read are left out."""
    found = []
    for line in table.splitlines()[1:]:
        fields = line.split()
        try:
            flags = int(fields[3], 16)
            network = ipaddress.IPv4Network(f"{_address(fields[1])}/{_address(fields[7])}", strict=False)
            gateway = "" if int(fields[2], 16) == 0 else _address(fields[2])
            if flags & _UP:
                found.append(Route(fields[0], network, gateway, bool(flags & _REJECT), int(fields[6])))
        except (ValueError, IndexError):
            continue
    return found


def way_to(host: str, table: str) -> Optional[Route]:
    """The route that is taken: the most specific one, of several the cheapest."""
    address = ipaddress.IPv4Address(host)
    fitting = [route for route in routes(table) if address in route.network]
    return min(fitting, key=lambda route: (-route.network.prefixlen, route.metric), default=None)


def look(endpoint: str, path: str = TABLE) -> List[Finding]:
    host = urlsplit(endpoint).hostname or ""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return [Finding(OK, "route", f"{host} is a name, or no address of IPv4: not looked at")]
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            route = way_to(host, file.read())
    except OSError as error:
        return [Finding(WARN, "route", f"{path} can't be read: {error.strerror}", f"ip route get {host}")]
    if ipaddress.IPv4Address(host).is_loopback:
        return [Finding(OK, "route", f"{host} is this machine itself")]
    if route is None:
        return [Finding(FAIL, "route", f"no route leads to {host}", f"ip route get {host}; a default route is enough")]
    if route.is_rejected:
        words = f"a route rejects {host} ({route.network})"
        return [Finding(FAIL, "route", words, f"remove it: ip route del {route.network}")]
    via = f" by {route.gateway}" if route.gateway else ""
    words = f"{host} goes through {route.card}{via}"
    advice = (
        "" if route.network.prefixlen == 32 else "where it does not answer: only the first card of a machine may ask it"
    )
    return [Finding(OK, "route", words, advice)]


def _address(text: str) -> str:
    """The table has addresses as numbers in the machine's own order."""
    return str(ipaddress.IPv4Address(struct.pack("=L", int(text, 16))))
