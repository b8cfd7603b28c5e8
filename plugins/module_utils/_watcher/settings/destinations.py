# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where reports go. As data; pure.

Private to this collection.
"""

import hashlib
from typing import Any, Dict, Iterable, List, NamedTuple, Optional
from urllib.parse import urlsplit

from ..._text import did_you_mean, shown
from ..host.host import Host
from ..host.this_host import HOST

NOTIFY = "notify"
"""The key of the hooks in notify.d, which are a destination like any other."""

_KEYS = ("url", "secret_file", "proxy", "ca_file")


class DestinationError(Exception):
    """What is wrong with the reports of the settings, in a sentence."""


class Destination(NamedTuple):
    """One URL that reports go to."""

    url: str
    secret_file: str = ""  # "": not signed
    proxy: str = ""  # "": straight there, whatever the environment says
    ca_file: str = ""  # authorities that are trusted beside the system's

    @property
    def key(self) -> str:
        """The name of its folder: a URL may hold what nobody should read."""
        return hashlib.sha256(self.url.encode("utf-8")).hexdigest()[:16]

    @property
    def words(self) -> str:
        """The URL as far as it may be read by everybody: a path or a query may hold a token, a user's name a password."""
        return bare(self.url)


def spool_names(destinations: Iterable[Destination], has_hooks: bool) -> Dict[str, str]:
    """What the spool has a folder for, by key, and how it is called.

    :arg has_hooks: whether there is anything in notify.d
    """
    found = {NOTIFY: "the hooks in notify.d"} if has_hooks else {}
    found.update((one.key, one.words) for one in destinations)
    return found


def bare(url: str) -> str:
    """Scheme, host and port of a URL."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    more = "/..." if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{host}{more}"


def destinations_of(reports: Any, host: Host = HOST) -> List[Destination]:
    """The destinations that settings name under ``reports``.

    :arg host: the system that they are for
    :raises DestinationError: naming the entry that is wrong
    """
    if reports is None:
        return []
    if not isinstance(reports, list):
        raise DestinationError(f"reports must be a list, not {shown(reports)}.")
    found: List[Destination] = []
    for number, entry in enumerate(reports, 1):
        try:
            one = destination_of(entry, host)
        except DestinationError as error:
            raise DestinationError(f"reports, entry {number}: {error}.") from error
        if one.key in [other.key for other in found]:
            raise DestinationError(f"reports, entry {number}: its url stands further up already.")
        found.append(one)
    return found


def destination_of(entry: Any, host: Host = HOST) -> Destination:
    """One entry, checked.

    :raises DestinationError: saying what is wrong, without a full stop, and without showing the URL
    """
    if not isinstance(entry, dict):
        raise DestinationError(f"it must be a dictionary with url and secret_file, not {shown(entry)}")
    for key, value in entry.items():
        if key not in _KEYS:
            raise DestinationError(
                f"unknown key {shown(key)}{did_you_mean(key, _KEYS)}; the keys are {', '.join(_KEYS)}"
            )
        if value is not None and not isinstance(value, str):
            raise DestinationError(f"{key} must be a text")
    _check_url(entry.get("url") or "", "url")
    if entry.get("proxy"):
        _check_url(entry["proxy"], "proxy")
        if urlsplit(entry["proxy"]).scheme != "http":
            raise DestinationError("proxy must begin with http://, also for a url of https")
    for key in ("secret_file", "ca_file"):
        if entry.get(key) and not host.is_whole_path(entry[key]):
            raise DestinationError(f"{key} must be the whole path of a file")
    return Destination(*(entry.get(key) or "" for key in _KEYS))


def _check_url(url: str, key: str) -> None:
    """Never shows the URL: see :attr:`Destination.words`."""
    problem = ""
    try:
        parts = urlsplit(url)
        port: Optional[int] = parts.port
    except ValueError:
        problem = "its host or port can't be read"
    else:
        if not url:
            problem = "it is missing"
        elif any(char.isspace() or not char.isprintable() for char in url) or not _is_ascii(url):
            problem = "it has blanks, control characters or letters beyond ASCII in it"
        elif parts.scheme not in ("http", "https"):
            problem = "it does not begin with http:// or https://"
        elif not parts.hostname or port == 0:
            problem = "it names no host" if not parts.hostname else "0 is no port"
        elif parts.fragment:
            problem = "it has a fragment (#)"
    if problem:
        raise DestinationError(f"{key} can't be used: {problem}")


def _is_ascii(text: str) -> bool:
    return all(ord(char) < 128 for char in text)
