# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher tells systemd of itself (sd_notify).

Private to this collection.
"""

from typing import Callable, Mapping

from .._text import one_line

Send = Callable[[str, bytes], bool]


class Notify:
    """The service manager, or nobody where none asked to be told.

    :arg environment: of the process, where systemd says where it listens and how often it wants to hear of us
    interval: seconds between two signs of life; 0 when nobody waits for any
    """

    def __init__(self, environment: Mapping[str, str], send: Send) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        self._send = send
        self._status = ""
        limit = environment.get("WATCHDOG_USEC", "")
        # A sixth: one that is lost, or two, must not end the service.
        self.interval = int(limit) / 6e6 if self._address and limit.isdigit() else 0.0

    def ready(self) -> None:
        self._say("READY=1")

    def alive(self) -> None:
        self._say("WATCHDOG=1")

    def stopping(self) -> None:
        self._say("STOPPING=1")

    def status(self, text: str) -> None:
        """The line that ``systemctl status`` shows; sent where it has changed."""
        if text != self._status:
            self._status = text
            self._say("STATUS=" + one_line(text, 300))

    def _say(self, line: str) -> None:
        if self._address:
            self._send(self._address, line.encode("utf-8"))
