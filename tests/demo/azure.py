# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator's control API, and its journal in a person's words."""

import json
import time
import urllib.request
from typing import Any

import yaml


class Azure:
    def __init__(self, addresses: dict[str, Any]) -> None:
        self.metadata: str = addresses["metadata"][0]
        self._control: str = addresses["control"]
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._shown = 0

    def ask(self, path: str, body: Any | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._control + path, data, {"Content-Type": "application/json"})
        with self._opener.open(request, timeout=10) as answer:
            return json.load(answer)

    def announce(self, text: str) -> None:
        self.ask("/scenario", yaml.safe_load(text))

    def journal(self) -> list[dict[str, Any]]:
        return self.ask("/journal")["entries"]

    def news(self) -> list[str]:
        """What has happened since the last call, a line each."""
        answer = self.ask(f"/journal?since={self._shown}")
        self._shown = answer["next"]
        lines = [(entry, self._words(entry)) for entry in answer["entries"]]
        return [f"{clock(entry['wall'])}  {words}" for entry, words in lines if words]

    def _words(self, entry: dict[str, Any]) -> str:
        kind = entry["kind"]
        if kind == "post" and any(request["result"] != "approved" for request in entry["requests"]):
            named = ", ".join(self._title(request["event_id"]) for request in entry["requests"])
            return f"{entry['vm']} asked in vain to start {named} ({', '.join(request['result'] for request in entry['requests'])})"
        if kind not in ("scheduled", "approved", "started", "gone", "command"):
            return ""
        title = self._title(entry["event_id"])
        if kind == "command":
            killed = "the process was killed"
            effects = {"Reboot": killed, "Redeploy": killed, "Freeze": "the process was stopped, and let go"}
            effect = effects[title.split()[0]] if entry["change"] == "started" else ""
            return f"{title}: {effect if entry['status'] == 0 else 'COULD NOT BE DONE'}" if effect else ""
        return {
            "scheduled": f"{title} is announced",
            "approved": f"{entry.get('by')} approves {title}",
            "started": f"{title} starts (cause: {entry.get('cause')})",
            "gone": f"{title} is over ({entry.get('outcome')})",
        }[kind]

    def _title(self, event_id: str) -> str:
        event = self.ask(f"/events/{event_id}")
        return f"{event['type']} of {', '.join(event['resources'])}"


def clock(wall: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall)) + f".{int(wall * 10 % 10)}Z"
