# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCP connections of a Windows machine, as its kernel lists them.

Private to this collection.
"""

import ctypes
import ipaddress
import struct
from typing import Any, Iterator, Tuple

from . import kernel

_WITH_OWNER, _TOO_SMALL, _TRIES = 4, 122, 5  # connections without those that listen; ERROR_INSUFFICIENT_BUFFER
_V4 = struct.Struct("=6I")  # MIB_TCPROW_OWNER_PID: state, local address and port, remote address and port, process
_V6 = struct.Struct("=16s2I16s4I")  # MIB_TCP6ROW_OWNER_PID: addresses with scope and port, state, process
ESTABLISHED = 5
_AF_INET, _AF_INET6 = 2, 23


def connections() -> Iterator[Tuple[int, Any, bool]]:
    """Local port, remote address, and whether it is established, of each.

    :raises OSError: when Windows does not say
    """
    for row in _rows(_AF_INET, _V4):
        state, _local, port, remote, _remote_port, _owner = row
        yield _port(port), ipaddress.IPv4Address(struct.pack("=I", remote)), state == ESTABLISHED
    for row in _rows(_AF_INET6, _V6):
        _local, _scope, port, remote, _remote_scope, _remote_port, state, _owner = row
        yield _port(port), ipaddress.IPv6Address(remote), state == ESTABLISHED


def _rows(family: int, row: struct.Struct) -> Iterator[Tuple[Any, ...]]:
    content = _table(family)
    (count,) = struct.unpack_from("=I", content)
    for number in range(count):
        yield row.unpack_from(content, 4 + number * row.size)


def _table(family: int) -> bytes:
    size = ctypes.c_uint32(65536)
    for _try in range(_TRIES):  # it may grow between two calls
        room = ctypes.create_string_buffer(size.value)
        number = kernel.function("GetExtendedTcpTable")(room, ctypes.byref(size), False, family, _WITH_OWNER, 0)
        if not number:
            return room.raw
        if number != _TOO_SMALL:
            raise kernel.error_of(number)
    raise OSError(0, "the list of connections grows faster than it can be read")


def _port(number: int) -> int:
    """Its two bytes are in the order of the network."""
    return int(struct.unpack(">H", struct.pack("=H", number & 0xFFFF))[0])
