# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The endpoint: the base address of a metadata service, before /metadata.

Private to this collection.
"""

from typing import NamedTuple, NoReturn, Tuple

from .._errors import ScheduledEventsError

DEFAULT_ENDPOINT = "http://169.254.169.254"


class Found(NamedTuple):
    """What discovery finds: endpoints, base URLs to try in this order; skipped, what could not be read, and why."""

    endpoints: Tuple[str, ...]
    skipped: Tuple[str, ...]


def check_endpoint(endpoint: str) -> str:
    """The base address without a slash at its end, or an error that says what is wrong with it."""
    from urllib.parse import urlsplit  # which a call without a request to the service does without

    def refuse(reason: str) -> NoReturn:
        raise ScheduledEventsError(
            f"The endpoint {endpoint!r} can't be used: {reason}. It must look like {DEFAULT_ENDPOINT}.",
            kind="invalid",
            url=endpoint,
        )

    if any(char.isspace() or not char.isprintable() for char in endpoint):
        refuse("it has blanks or control characters in it")
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        refuse("its host or port can't be read")
    if parts.scheme not in ("http", "https"):
        refuse("it does not begin with http:// or https://")
    if not parts.hostname or port == 0:
        refuse("it names no host" if not parts.hostname else "0 is no port")
    if "@" in parts.netloc:
        refuse("it has a user name in it")
    if "?" in endpoint or "#" in endpoint:
        refuse("it has a query or a fragment")
    if "metadata" in parts.path.lower().split("/"):
        refuse("the part from /metadata on is added by the client")
    return endpoint.rstrip("/")
