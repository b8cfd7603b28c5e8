# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the endpoint is on a machine outside a virtual network: its DHCP server says so, in option 245.

Each DHCP client keeps what the server said in a form of its own. There is a pure function for each form; they answer
the address as text, or None. :func:`base_urls` makes endpoints of addresses, and refuses what can't be one.

Private to this collection.
"""

import calendar
import fnmatch
import ipaddress
import os
import re
import struct
import time
from typing import Iterable, List, Match, Optional, Tuple

from .endpoint import Found

OPTION = 245

# Microsoft's samples don't agree on the port. 80 was the one that its agents used.
_PORTS = ("", ":8080")

# A lease file has a few kB; dhclient appends to its file, so that it may have many more.
_MAX_FILE = 1024 * 1024

_DHCP_COOKIE_AT = 236
_DHCP_COOKIE = b"\x63\x82\x53\x63"

# What Windows writes before the data of each option: code, 0, length, vendor flag, expiry; little-endian.
_WINDOWS_RECORD = struct.Struct("<5I")

_LEASE_START = re.compile(r"^[ \t]*lease[ \t]*\{", re.MULTILINE)
_LEASE_END = re.compile(r"^[ \t]*\}", re.MULTILINE)
_LEASE_OPTION = re.compile(
    r'^[ \t]*option[ \t]+(?:unknown|option|private)-245[ \t]+("(?:[^"\\]|\\.)*"|[^;\s]+)[ \t]*;', re.MULTILINE
)
_LEASE_EXPIRY = re.compile(r"^[ \t]*expire[ \t]+([^;]+);", re.MULTILINE)

_NETWORKD_OPTION = re.compile(r"^OPTION_245=([0-9a-fA-F]{8})[ \t\r]*$", re.MULTILINE)

# Between the name and the value: " = ", "=", and the brackets, quotes and type letters of D-Bus tools.
_NETWORKMANAGER_OPTION = re.compile(
    r"(?:private|unknown)_245[^\w\n]*(?:[sv][^\w\n]+)*"
    r"(\d+\.\d+\.\d+\.\d+|[0-9a-f]{1,2}(?::[0-9a-f]{1,2}){3}|[0-9a-f]{8})(?![\w:.])",
    re.IGNORECASE | re.ASCII,
)


class Files:
    """The machine's files, as :func:`find_endpoints` reads them. Tests and other machines bring their own."""

    def list(self, directory: str) -> List[str]:
        """The names in a directory; OSError when it can't be read."""
        return os.listdir(directory)

    def read(self, path: str) -> bytes:
        """The end of a file (the latest lease stands last); OSError when it can't be read."""
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MAX_FILE))
            return file.read(_MAX_FILE)


def find_endpoints(files: Files, now: Optional[float] = None) -> Found:
    """Look through what the DHCP clients of a Linux machine have written down.

    :arg now: Unix time, to tell which leases have expired
    """
    now = time.time() if now is None else now
    addresses: List[Optional[str]] = []
    skipped: List[str] = []
    for directory, pattern, address_in in _PLACES:
        try:
            names = sorted(fnmatch.filter(files.list(directory), pattern))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as exc:
            skipped.append(f"{directory}: {exc.strerror or exc}")
            continue
        for path in (directory + "/" + name for name in names):
            try:
                addresses.append(address_in(files.read(path), now))
            except OSError as exc:
                skipped.append(f"{path}: {exc.strerror or exc}")
    return Found(base_urls(addresses), tuple(skipped))


def base_urls(addresses: Iterable[Optional[str]]) -> Tuple[str, ...]:
    """The endpoints to try for these addresses, without repetition. What can't be a server's address is left out."""
    unique: List[str] = []
    for address in addresses:
        if address and address not in unique and _is_plausible(address):
            unique.append(address)
    return tuple("http://" + address + port for address in unique for port in _PORTS)


def parse_dhclient(text: str, now: float) -> Optional[str]:
    """ISC dhclient: the last lease that has not expired and has the option.

    :arg text: the file, decoded as Latin-1, so that each character is one byte
    """
    address = None
    for rest in _LEASE_START.split(text)[1:]:
        lease, *end = _LEASE_END.split(rest, 1)
        option = _LEASE_OPTION.search(lease)
        if end and option and not _has_expired(lease, now):  # without an end it is still being written
            address = _dhclient_address(option.group(1)) or address
    return address


def parse_networkd(text: str) -> Optional[str]:
    """systemd-networkd, and NetworkManager where its own client is made of the same code."""
    match = _NETWORKD_OPTION.search(text)
    return _address(match.group(1)) if match else None


def parse_networkmanager(text: str) -> Optional[str]:
    """NetworkManager, whoever prints its options: nmcli, a dispatcher's environment, a D-Bus tool."""
    match = _NETWORKMANAGER_OPTION.search(text)
    return _address(match.group(1)) if match else None


def decode_packet(packet: bytes) -> Optional[str]:
    """dhcpcd, which keeps the server's packet as it came."""
    if packet[_DHCP_COOKIE_AT : _DHCP_COOKIE_AT + 4] != _DHCP_COOKIE:
        return None
    at = _DHCP_COOKIE_AT + 4
    while at + 1 < len(packet) and packet[at] != 255:
        if packet[at] == 0:  # padding: the one option without a length
            at += 1
            continue
        code, length = packet[at], packet[at + 1]
        data = packet[at + 2 : at + 2 + length]
        if code == OPTION and length == len(data) == 4:
            return _dotted(data)
        at += 2 + length
    return None


def decode_interface_options(value: bytes) -> Optional[str]:
    """Windows: the registry's ``DhcpInterfaceOptions`` of one network interface."""
    at = 0
    while at + _WINDOWS_RECORD.size <= len(value):
        code, _zero, length, vendor, _expiry = _WINDOWS_RECORD.unpack_from(value, at)
        at += _WINDOWS_RECORD.size
        data = value[at : at + length]
        # The vendor's options are numbered on their own: their 245 is another one.
        if code == OPTION and not vendor and length == len(data) == 4:
            return _dotted(data)
        at += (length + 3) // 4 * 4
    return None


def _parse_networkmanager_file(data: bytes, now: float) -> Optional[str]:
    text = data.decode("utf-8", "replace")
    return parse_networkd(text) or parse_networkmanager(text)


def _parse_dhclient_file(data: bytes, now: float) -> Optional[str]:
    return parse_dhclient(data.decode("latin-1"), now)


def _parse_networkd_file(data: bytes, now: float) -> Optional[str]:
    return parse_networkd(data.decode("utf-8", "replace"))


def _decode_packet_file(data: bytes, now: float) -> Optional[str]:
    return decode_packet(data)


_PLACES = (
    ("/run/systemd/netif/leases", "*", _parse_networkd_file),
    ("/var/lib/dhcp", "dhclient*.leases", _parse_dhclient_file),  # Debian, Ubuntu
    ("/var/lib/dhclient", "dhclient*.lease*", _parse_dhclient_file),  # Red Hat
    ("/var/lib/NetworkManager", "dhclient-*.lease", _parse_dhclient_file),
    ("/var/lib/NetworkManager", "internal-*.lease", _parse_networkmanager_file),
    ("/run/NetworkManager/devices", "*", _parse_networkmanager_file),
    ("/var/lib/dhcpcd", "*.lease", _decode_packet_file),
)


def _has_expired(lease: str, now: float) -> bool:
    """Whether the lease says so: ``never``, ``epoch SECONDS`` or ``WEEKDAY YEAR/MONTH/DAY H:M:S`` in UTC."""
    match = _LEASE_EXPIRY.search(lease)
    words = match.group(1).split() if match else []
    try:
        if words[:1] == ["epoch"]:
            return int(words[1]) <= now
        numbers = [int(number) for number in re.split("[/:]", "/".join(words[1:3]))]
        year, month, day, hour, minute, second = numbers
        return calendar.timegm((year, month, day, hour, minute, second)) <= now
    except (ValueError, IndexError, OverflowError):  # "never", or nothing that can be read
        return False


def _dhclient_address(value: str) -> Optional[str]:
    """dhclient writes bytes as hex numbers, unpadded; or, when all can be printed, as a string of four characters."""
    if not value.startswith('"'):
        return _address(value)
    data = re.sub(r"\\([0-7]{3}|.)", _unescaped, value[1:-1], flags=re.DOTALL)
    return _dotted(data.encode("latin-1")) if len(data) == 4 else None


def _unescaped(match: Match[str]) -> str:
    escape: str = match.group(1)
    return chr(int(escape, 8) & 0xFF) if len(escape) == 3 else escape


def _address(value: str) -> Optional[str]:
    """An address written as 168.63.129.16, as a8:3f:81:10 (unpadded too), or as a83f8110."""
    if "." in value:
        return value
    if ":" in value:
        value = "".join(byte.zfill(2) for byte in value.split(":"))
    try:
        data = bytes.fromhex(value)
    except ValueError:
        return None
    return _dotted(data) if len(data) == 4 else None


def _dotted(data: bytes) -> str:
    return str(ipaddress.IPv4Address(data))


def _is_plausible(address: str) -> bool:
    try:
        parsed = ipaddress.IPv4Address(address)
    except ValueError:
        return False
    nowhere = address.startswith("0.") or parsed.is_loopback or parsed.is_multicast or parsed.is_reserved
    return str(parsed) == address and not nowhere
