# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong, by what a person does about it.

Private to this collection.
"""

from typing import Any, Dict, Optional

KINDS = (
    "unreachable",  # no connection, or it was cut: network, firewall, not a VM
    "timeout",  # no whole answer in time, or a wait gave up
    "not_azure",  # somebody else answered: a proxy, another cloud, a web page
    "version_refused",  # neither the api-version asked for nor an older one is served
    "throttled",  # 429
    "updating",  # 410
    "denied",  # 401, 403
    "unavailable",  # 404, 408 or 5xx, and retries did not help
    "malformed",  # an answer that is no document, or was cut short
    "too_large",  # an answer above the limit
    "rejected",  # 400 to an approval
    "not_approved",  # an event that was named, and nobody may approve as things are
    "interrupted",  # whoever started the approval was gone before it was sent
    "invalid",  # an option of the caller
)


class ScheduledEventsError(Exception):
    """The root of every error that this collection raises on purpose.

    :arg message: one or two sentences for a person: what happened, and what to do next
    :arg kind: one of :data:`KINDS`
    :arg status: the HTTP status, where there was an answer
    :arg url: the address that was asked, where there was a request
    """

    default_kind = "invalid"

    def __init__(self, message: str, kind: str = "", status: Optional[int] = None, url: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or self.default_kind
        self.status = status
        self.url = url

    def failure(self) -> Dict[str, Any]:
        """The machine-readable part, as modules return it under ``failure``."""
        return {"kind": self.kind, "status": self.status, "url": self.url}


class TransportError(ScheduledEventsError):
    """There was no usable HTTP answer. What every Transport raises, and nothing else."""

    polls = 1  # how many polls a call that polls repeatedly had made, the failed one included


class Unreachable(TransportError):
    """Connection refused, reset, no route, or a name that does not resolve."""

    default_kind = "unreachable"


class AnswerTimeout(TransportError):
    """The whole answer, connect to last byte, did not come in time."""

    default_kind = "timeout"


class AnswerTooLarge(TransportError):
    """More bytes than a document can have."""

    default_kind = "too_large"


class BrokenAnswer(TransportError):
    """A body shorter than announced, or something that is not HTTP."""

    default_kind = "malformed"
