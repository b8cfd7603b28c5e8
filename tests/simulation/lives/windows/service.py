# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service of a Windows machine, which answers at the address that look.ps1 asks."""

from __future__ import annotations

import base64
from typing import Any

from .. import service
from ..clock import Life


class Service(service.Service):
    def exchange(self, request: dict[str, Any], limit: float, run: str, by: str) -> Life:  # type: ignore[override]
        """What look.ps1's Send-Request makes of one exchange.

        :arg limit: seconds that it may take
        :arg run: whose request it is, for the journal
        :arg by: which PowerShell sends it
        """
        # Nothing there counts for several at once, as the machine program does: one may be refused (429), and asks again.
        self.machine.was_asked(by)
        body = base64.b64decode(request.get("Body") or "")
        try:
            status, content = yield from super().exchange(request["Method"], request["Url"], body, limit, run)
        except service.Failed as failed:
            return {"failure": _NAMES[type(failed)], "message": str(failed), "part": "head"}
        return {
            "status": status,
            "headers": {"content-length": str(len(content))},
            "body": base64.b64encode(content).decode("ascii"),
        }


_NAMES = {service.TooSlow: "Timeout", service.Reset: "ConnectionReset", service.Failed: "ConnectionRefused"}
