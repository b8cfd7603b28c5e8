# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who answered, when it was not Azure's metadata service: a proxy, a web page, another cloud.

Private to this collection.
"""

import json
from typing import Any, NoReturn

from .._text import listed, one_line
from .retries import HttpError
from .transport import Answer


def refuse_other_services(answer: Answer, url: str) -> None:
    """Raise when it was not Azure's metadata service that answered."""
    headers = answer.headers
    server = headers.get("server", "")
    if 300 <= answer.status < 400 and answer.status != 304:
        not_azure(answer, url, f"a redirect to {one_line(headers.get('location', 'nowhere'), 160)}")
    if headers.get("metadata-flavor", "").lower() == "google" or "metadata server for vm" in server.lower():
        not_azure(answer, url, "the metadata service of Google Cloud")
    if server.lower().startswith("ec2ws"):
        not_azure(answer, url, "the metadata service of Amazon EC2")
    proxied = {"via", "x-squid-error", "proxy-authenticate", "proxy-connection", "x-cache"}.intersection(headers)
    if answer.status == 407 or (proxied and answer.status >= 400):
        not_azure(answer, url, "a proxy")
    page = "html" in headers.get("content-type", "").lower() or answer.body.lstrip()[:1] == b"<"
    # Windows' own HTTP layer, under Azure's service, writes its errors as HTML, too.
    windows = server.lower().startswith(("microsoft-", "imds"))
    if page and (answer.status == 200 or (answer.status < 500 and not windows)):
        not_azure(answer, url, "a web page")


def not_azure(answer: Answer, url: str, what: str) -> NoReturn:
    """Raise the error that names who answered.

    :arg what: what it was that answered, for a person
    """
    server = answer.headers.get("server", "")
    by = f", server {one_line(server, 160)}" if server else ""
    raise HttpError(
        f"At {url} it was not Azure's metadata service that answered, but {what} (HTTP {answer.status}{by})"
        f"{excerpt(answer)}. See whether this is an Azure virtual machine, whether the option endpoint is right, and "
        "whether a proxy or a redirected route sits on the way.",
        "not_azure",
        answer.status,
        url,
    )


def other_json(body: bytes) -> str:
    """What this JSON is, when it can't be even a broken document; "" when it might."""
    value = _value(body)
    if not value or is_bare_event(body):
        return ""
    if isinstance(value, dict):
        if {"documentincarnation", "events"}.intersection(map(str.lower, value)):
            return ""
        return f"something whose JSON has the keys {listed(one_line(key, 160) for key in sorted(value)[:5])}"
    return "something that sends JSON which is no document"


def is_bare_event(body: bytes) -> bool:
    """Whether this JSON is an event, or a list of events, without the document around it."""
    value = _value(body)
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and "eventid" in map(str.lower, first)


def compression(answer: Answer) -> str:
    """How the body is compressed, which nobody asked for: ``gzip``; "" when it is not."""
    encoding = one_line(answer.headers.get("content-encoding", ""), 40)
    return "" if encoding.lower() == "identity" else encoding


def excerpt(answer: Answer) -> str:
    """: and the beginning of what the answer says; "" when it says nothing that can be read."""
    if compression(answer):
        return ""
    text = answer.body[:2000].decode("utf-8", "replace")
    try:
        text = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    text = one_line(text, 160) if isinstance(text, str) else ""
    return f': "{text}"' if text else ""


def _value(body: bytes) -> Any:
    """What the JSON holds; None when it is none."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
