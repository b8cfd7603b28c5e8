# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where reports go. As data; pure.

Private to this collection.
"""

import hashlib
from typing import Any, Dict, Iterable, NamedTuple, Tuple
from urllib.parse import urlsplit

from ..host.host import Host
from ..host.this_host import HOST
from .refused import Refused, object_of, within

NOTIFY = "notify"
"""The key of the hooks in notify.d, which are a destination like any other."""


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


def destinations_of(reports: Any, host: Host = HOST) -> Tuple[Destination, ...]:
    """The destinations that settings name under ``reports``. Nothing of a URL is in what is said of it: see :attr:`Destination.words`.

    :arg host: the system that they are for
    :raises Refused: when one can't be used
    """
    if not isinstance(reports, list):
        raise Refused("must be a list of dictionaries with url")
    found = tuple(within(number, destination_of, entry, host) for number, entry in enumerate(reports))
    for number, one in enumerate(found):
        if one.key in [other.key for other in found[:number]]:
            raise Refused("stands further up already", (number, "url"))
    return found


def destination_of(entry: Any, host: Host = HOST) -> Destination:
    """One entry, checked.

    :raises Refused: when it can't be used
    """
    if not isinstance(entry, dict):
        raise Refused("must be a dictionary with url")
    given = object_of(entry, Destination._fields)
    for key, value in given.items():
        if value is not None and not isinstance(value, str):
            raise Refused("must be a text", (key,))
    within("url", _check_url, given.get("url") or "")
    if given.get("proxy"):
        within("proxy", _check_url, given["proxy"])
        if urlsplit(given["proxy"]).scheme != "http":
            raise Refused("must begin with http://, also for a url of https", ("proxy",))
    for key in ("secret_file", "ca_file"):
        if given.get(key) and not host.is_whole_path(given[key]):
            raise Refused("must be the whole path of a file", (key,))
    return Destination(**{key: value or "" for key, value in given.items()})


def _check_url(url: str) -> None:
    problem = ""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        problem = "its host or port can't be read"
    else:
        if not url:
            problem = "it is missing"
        elif any(char.isspace() or not char.isprintable() or ord(char) > 127 for char in url):
            problem = "it has blanks, control characters or letters beyond ASCII in it"
        elif parts.scheme not in ("http", "https"):
            problem = "it does not begin with http:// or https://"
        elif not parts.hostname or port == 0:
            problem = "it names no host" if not parts.hostname else "0 is no port"
        elif parts.fragment:
            problem = "it has a fragment (#)"
    if problem:
        raise Refused(f"can't be used: {problem}")
