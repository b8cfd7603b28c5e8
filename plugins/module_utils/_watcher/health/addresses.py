# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of the health endpoint: where it listens, who is answered, and which application it asks.

Private to this collection.
"""

import re
import socket
from typing import Iterable, List, NamedTuple, Tuple

_LISTEN = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):([0-9]{1,5})\Z")
_APP = re.compile(r"http://(127\.[0-9.]+|localhost|\[::1\])(?::([0-9]{1,5}))?(/[!-~]*)?\Z")
_LOOPBACK = ("127.0.0.0/8", "::1/128")


class AddressError(ValueError):
    """What is wrong with an address, as a clause; it begins with what the address is."""


class Address(NamedTuple):
    """Of a TCP port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return Sources(()).answers(self.host)


class AppUrl(NamedTuple):
    """The application of this machine that has to answer, too."""

    address: Address
    path: str


class Network(NamedTuple):
    """Addresses that begin with the same bits."""

    family: int
    value: int
    low_bits: int  # that differ


def listen_address(text: str) -> Address:
    """``127.0.0.1:8009``, ``[::1]:8009``

    :raises AddressError: when it is none
    """
    found = _LISTEN.match(text)
    if found:
        host = found.group(1) or found.group(2)
        if _number(host) and 0 < int(found.group(3)) < 65536:
            return Address(host, int(found.group(3)))
    raise AddressError("no IP address with a port, such as 127.0.0.1:8009 or [::1]:8009")


def app_url(text: str) -> AppUrl:
    """``http://127.0.0.1:8080/ready``

    :raises AddressError: when it is none of this machine
    """
    found = _APP.match(text)
    if found:
        host = {"localhost": "127.0.0.1"}.get(found.group(1), found.group(1).strip("[]"))
        port = int(found.group(2) or 80)
        if _number(host) and 0 < port < 65536:
            return AppUrl(Address(host, port), found.group(3) or "/")
    raise AddressError("no URL of this machine, such as http://127.0.0.1:8080/ready")


def network(text: str) -> Network:
    """``10.1.0.0/24``, ``168.63.129.16``, ``fd00::/8``

    :raises AddressError: when it is none
    """
    host, slash, length = text.partition("/")
    found = _number(host)
    if found:
        family, value, bits = found
        if not slash or (re.match(r"[0-9]{1,3}\Z", length) and int(length) <= bits):
            low = bits - int(length) if slash else 0
            return Network(family, value >> low, low)
    raise AddressError("no IP address or network, such as 168.63.129.16 or 10.1.0.0/24")


class Sources:
    """Those who are answered: this machine, and who was named.

    :arg named: networks, as texts
    :raises AddressError: when one can't be read
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._networks: List[Network] = [network(text) for text in (*_LOOPBACK, *named)]

    def answers(self, host: str) -> bool:
        """:arg host: an address as a socket has it; IPv4 may be written as IPv6"""
        host = host.partition("%")[0]
        found = _number(host[7:] if host.startswith("::ffff:") and "." in host else host)
        return bool(found) and any(
            family == found[0] and value == found[1] >> low for family, value, low in self._networks
        )


def _number(host: str) -> Tuple[int, ...]:
    """Family, value and bits of an IP address; () when it is none."""
    family, bits = (socket.AF_INET6, 128) if ":" in host else (socket.AF_INET, 32)
    try:
        return family, int.from_bytes(socket.inet_pton(family, host), "big"), bits
    except OSError:
        return ()
