# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections`` on this machine, by what the kernel lists.

Private to this collection.
"""

import ipaddress
import sys
from typing import Any, Iterator, Set, Tuple, Union

from ..._steps.connections import TYPE
from ..._steps.step_type import Step, Verdict
from ..hand import Piece
from ..job_hand import LAST_WORDS, JobHand, answer_to, watched
from ..keeper import Work

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
ESTABLISHED = "01"

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


class ConnectionsHand(JobHand):
    """Waits until a port has no connections, and afterwards until it listens again."""

    beyond = LAST_WORDS

    def work(self, piece: Piece) -> Work:
        look = _gone if piece.direction == "do" else _listens
        interval = piece.step["interval"]
        return lambda: answer_to(watched(interval, piece.limit, look(piece.step)))


def _gone(step: Step) -> Any:
    from .tcp_transport import addresses_of

    excluded = {_plain(ipaddress.ip_address(address)) for host in step["exclude"] for address in addresses_of(host)}

    def look(left: float) -> Verdict:
        return TYPE.judges["gone"](step, "do", {"result": {"left": established(step["port"], excluded)}})

    return look


def _listens(step: Step) -> Any:
    from .tcp_transport import accepts

    address, port = step["listen_address"], step["port"]

    def look(left: float) -> Verdict:
        if accepts(address, port, min(5.0, max(left, LAST_WORDS))):
            return Verdict(True)
        return Verdict(False, f"nothing listens on {address}:{port}")

    return look


def established(port: int, excluded: Set[Address]) -> int:
    """How many connections of a local port are established, those with the excluded addresses left out."""
    return sum(
        state == ESTABLISHED and local == port and remote not in excluded for local, remote, state in _connections()
    )


def _connections() -> Iterator[Tuple[int, Address, str]]:
    """Local port, remote address and state of every TCP connection of this machine."""
    for table in TABLES:
        try:
            with open(table, encoding="ascii") as file:
                lines = file.readlines()[1:]
        except FileNotFoundError:  # a kernel without IPv6
            continue
        for line in lines:
            _number, local, remote, state = line.split()[:4]
            yield int(local.rpartition(":")[2], 16), _address(remote.rpartition(":")[0]), state


def _address(text: str) -> Address:
    """An address as the kernel writes it: words of four bytes, each in the machine's own order."""
    words = [bytes.fromhex(text[place : place + 8]) for place in range(0, len(text), 8)]
    raw = b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)
    return _plain(ipaddress.ip_address(raw))


def _plain(address: Address) -> Address:
    """IPv4 that comes over a socket of IPv6 is IPv4."""
    return getattr(address, "ipv4_mapped", None) or address
