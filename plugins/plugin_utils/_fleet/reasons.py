# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same said of many machines, once. Pure.

Private to this collection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...module_utils._text import listed

_NAMED = 5
_COUNTED = re.compile(r"\b[0-9]+(\.[0-9]+)? (s|times)\b")  # how long and how often differ from machine to machine


class Reason(NamedTuple):
    """Why something is so.

    subject: the same for all who say the same
    words: as the first of them says it
    """

    subject: str
    words: str
    hosts: list[str]


def by_reason(reasons: Mapping[str, str]) -> list[Reason]:
    """Those of several machines, each once.

    :arg reasons: by host
    """
    found: dict[str, Reason] = {}
    for host, words in reasons.items():
        subject = _COUNTED.sub("# \\2", words)
        found.setdefault(subject, Reason(subject, words, [])).hosts.append(host)
    return list(found.values())


def counted(hosts: Sequence[str]) -> str:
    """The hosts in a sentence: ``web1``, or ``4 machines (web1, web2, web3, web4)``"""
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} machines ({listed(hosts, _NAMED)})"
