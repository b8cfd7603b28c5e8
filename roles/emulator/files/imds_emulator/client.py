# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that talk to a running emulator's control API."""

import json
import socket
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Optional

from .problems import Problem


class Refusal(Problem):
    """The emulator refused, or couldn't be asked."""


class Client:
    """One emulator."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy has no business here

    def ask(self, method: str, path: str, body: Optional[Dict[str, Any]] = None, wait: float = 0) -> Any:
        """One request; its answer."""
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(
            self._url + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with self._opener.open(request, timeout=30 + wait) as answer:
                return json.loads(answer.read().decode("utf-8"))
        except urllib.error.HTTPError as error:
            raise Refusal(_reason(error)) from None
        except (urllib.error.URLError, socket.timeout, ConnectionError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Refusal(
                f"no emulator answers at {self._url}: {reason} (is it running? is --control right?)"
            ) from None


def _reason(error: urllib.error.HTTPError) -> str:
    text = error.read().decode("utf-8", "replace")
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return f"status {error.code}: {text[:200]}"


def path(*steps: str) -> str:
    """A path of the API."""
    return "/" + "/".join(urllib.parse.quote(step, safe="") for step in steps)


def query(given: Dict[str, Any]) -> str:
    """Its parameters, those that were given."""
    said = {key: value for key, value in given.items() if value not in (None, "", 0, False)}
    return "?" + urllib.parse.urlencode(said) if said else ""
