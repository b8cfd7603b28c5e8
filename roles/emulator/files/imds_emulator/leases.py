# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DHCP clients write down of a server that sends option 245, as Azure's does (S6): for tests of discovery."""

import ipaddress
import struct

from .problems import InvalidInput

OPTION = 245
GUEST = "10.0.0.4"
COOKIE = b"\x63\x82\x53\x63"


def lease(form: str, address: str) -> bytes:
    """A lease in one of the forms."""
    try:
        data = ipaddress.IPv4Address(address).packed
    except ValueError:
        raise InvalidInput("ADDRESS", f"{address!r} is no IPv4 address") from None
    return FORMS[form](data)


def _dhclient(data: bytes) -> bytes:
    value = ":".join(f"{byte:x}" for byte in data)
    return (
        f'lease {{\n  interface "eth0";\n  fixed-address {GUEST};\n  option unknown-245 {value};\n  expire never;\n}}\n'
    ).encode("ascii")


def _networkd(data: bytes) -> bytes:
    return f"# This is private data. Do not parse.\nADDRESS={GUEST}\nOPTION_245={data.hex()}\n".encode("ascii")


def _networkmanager(data: bytes) -> bytes:
    value = ":".join(f"{byte:02x}" for byte in data)
    return f"[dhcp4]\nip_address={GUEST}\nprivate_245={value}\n".encode("ascii")


def _dhcpcd(data: bytes) -> bytes:
    """The server's packet: a fixed head, the cookie, options."""
    head = struct.pack("!BBBB12x4s4s212x", 2, 1, 6, 0, ipaddress.IPv4Address(GUEST).packed, data)
    return head + COOKIE + bytes([53, 1, 5, OPTION, 4]) + data + b"\xff"


def _windows(data: bytes) -> bytes:
    """The registry's DhcpInterfaceOptions: code, 0, length, vendor flag, expiry, and the data."""
    return struct.pack("<5I", OPTION, 0, len(data), 0, 2**31 - 1) + data


FORMS = {
    "dhclient": _dhclient,
    "dhcpcd": _dhcpcd,
    "networkd": _networkd,
    "networkmanager": _networkmanager,
    "windows": _windows,
}
