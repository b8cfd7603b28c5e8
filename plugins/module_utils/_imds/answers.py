# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an answer is: a document, a name, a refusal, or not of Azure's metadata service at all, but of a proxy, a web page, another cloud.

Private to this collection.
"""

import json
import re
from typing import Any, NoReturn, Sequence

from .._clock import Clock
from .._events.document import Document, MalformedDocument, parse_document
from .._text import listed, one_line, shown
from .retries import HttpError, retry_after
from .transport import Answer

_NAME = re.compile(r"[^\s{}\[\]<>\"]{1,256}\Z")


def document_in(answer: Answer, url: str) -> Document:
    """The document that it holds.

    :raises HttpError: when it is none
    """
    version = url.rpartition("=")[2]
    try:
        return parse_document(answer.body, version)
    except MalformedDocument as error:
        other = other_json(answer.body)
        if other:
            not_azure(answer, url, other)
        message = f"{url}: {error.message}"
        if compression(answer):
            message = _compressed(answer, url)
        elif is_bare_event(answer.body):
            message += " It shows an event without the document around it."
        raise HttpError(message, error.kind, 200, url) from error


def name_in(answer: Answer, url: str) -> str:
    """The name that it is, bare or as a JSON string; "" for none.

    :raises HttpError: when it is no name
    """
    text = answer.body.decode("utf-8", "replace").strip()
    if text.startswith('"'):
        try:
            text = json.loads(text).strip()
        except ValueError:
            pass
    if text and not (_NAME.match(text) and text.isprintable() and "\ufffd" not in text):  # for what can't be read
        message = _compressed(answer, url) if compression(answer) else f"{url} gave no name: {shown(text, 80)}."
        raise HttpError(message, "malformed", 200, url)
    return text


def is_empty(answer: Answer) -> bool:
    """Whether it is a success that says nothing at all."""
    return answer.status == 200 and not answer.body.strip()


def refuse(answer: Answer, url: str, clock: Clock, posted: bool = False) -> NoReturn:
    """Raise what the status means."""
    refuse_other_services(answer, url)
    status = answer.status
    if status == 400:
        kind = "rejected" if posted else "version_refused"
    elif status in (401, 403):
        kind = "denied"
    elif status == 410:
        kind = "updating"
    elif status == 429:
        kind = "throttled"
    elif status in (404, 408) or status >= 500:
        kind = "unavailable"
    else:
        not_azure(answer, url, f"HTTP {status}, which the metadata service does not use here")
    raise HttpError(f"{url} answered HTTP {status}{excerpt(answer)}.", kind, status, url, retry_after(answer, clock))


def refuse_versions(refusals: Sequence[int], answer: Answer, url: str, clock: Clock) -> NoReturn:
    """Raise that no api-version is served.

    :arg refusals: the status of each answer; the last one is `answer`
    :arg url: with the api-version that is wanted
    """
    if 404 in refusals:
        raise HttpError(
            f"{url} does not exist (HTTP 404), nor with an older api-version{excerpt(answer)}.",
            "unavailable",
            404,
            url,
            retry_after(answer, clock),
        )
    endpoint, version = url.partition("/metadata/")[0], url.rpartition("=")[2]
    raise HttpError(
        f"{endpoint} refuses api-version {version} and every older one (HTTP 400){excerpt(answer)}.",
        "version_refused",
        400,
        url,
    )


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
    if answer.status == 511:
        not_azure(answer, url, "a network that wants a login first")
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


def _compressed(answer: Answer, url: str) -> str:
    return (
        f"{url} sent a compressed answer (Content-Encoding: {compression(answer)}), which was not asked for and "
        "can't be "
        "read. The metadata service does not do that: see whether a proxy sits on the way."
    )


def _value(body: bytes) -> Any:
    """What the JSON holds; None when it is none."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
