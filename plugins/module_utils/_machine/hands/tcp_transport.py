# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What step ``connections`` asks of the network.

Private to this collection.
"""

import socket
from typing import List


def accepts(address: str, port: int, seconds: float) -> bool:
    """Whether something takes a connection there."""
    try:
        socket.create_connection((address, port), timeout=seconds).close()
    except OSError:
        return False
    return True


def addresses_of(host: str) -> List[str]:
    """The addresses of a host, which may be an address itself.

    :raises OSError: when it is not known
    """
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as error:
        raise OSError(f"host {host} of exclude is not known: {error}") from error
    return [str(place[4][0]).partition("%")[0] for place in found]
