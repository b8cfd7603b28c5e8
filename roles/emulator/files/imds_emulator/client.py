# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that talk to a running emulator's control API."""

import json
import re
import socket
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, List, Optional, Sequence

from .problems import InvalidInput, Problem

TEXTS = ("body", "content_type", "description", "id", "location", "name", "source", "status_text")
NUMBER = re.compile(r"-?\d+(\.\d+)?")


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


def keys(words: Sequence[str]) -> Dict[str, Any]:
    """KEY=VALUE words as a mapping; a key that comes twice becomes a list."""
    found: Dict[str, Any] = {}
    for word in words:
        key, mark, text = word.partition("=")
        if not mark or not key:
            raise InvalidInput(word, "KEY=VALUE is needed")
        value = _value(key, text)
        if key in found:
            found[key] = (found[key] if isinstance(found[key], list) else [found[key]]) + [value]
        else:
            found[key] = value
    return found


def _value(key: str, text: str) -> Any:
    if key not in TEXTS:
        if text in ("true", "false"):
            return text == "true"
        if NUMBER.fullmatch(text):
            return float(text) if "." in text else int(text)
    return text


def path(*steps: str) -> str:
    """A path of the API."""
    return "/" + "/".join(urllib.parse.quote(step, safe="") for step in steps)


def query(given: Dict[str, Any]) -> str:
    """Its parameters, those that were given."""
    said = {key: value for key, value in given.items() if value not in (None, "", 0, False)}
    return "?" + urllib.parse.urlencode(said) if said else ""


def without_nothing(**given: Any) -> Dict[str, Any]:
    """Only what was given."""
    return {key: value for key, value in given.items() if value is not None}


def names(text: Optional[str]) -> Optional[List[str]]:
    """A comma-separated list."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
