# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every sentence for people is held to, and the extreme values that tests put into them."""

import re

SECONDS = [-107253135.0, -0.4, 0.0, 0.3, 1e12]
WORDS = [
    "",
    "It broke.",
    "it broke ...",
    "The events are unknown, which does not mean that there are none.",
    "two\nlines.\n",
    "x" * 5000,
]

# The modules' own: whoever runs a playbook sets variables.
_OPTIONS = "resource_name|api_version|first_timeout|wait_timeout|event_timeout|recover_timeout|allow_unknown|max_unavailable|prepare_before"
_CUT_VALUE = re.compile(r"'[^']{50,}\.\.\.")  # a value as Python writes it

_OPTION = re.compile(rf"(?<!\w)({_OPTIONS})\b|\b([Ss]et|[Oo]ption) (endpoint|timeout)\b")


def assert_well_said(text):
    """No stop is doubled, no time is negative, nothing is empty, and what is to be set has the name that the user sets."""
    assert text and text.isprintable() and text.strip() == text, repr(text)
    ended = _CUT_VALUE.sub("'x'", text).replace("...", "~")  # what was cut
    assert not re.search(r"[.~]\s*[.:;,]|\.\)[.:;,]|[:;,]\s*\.|~\.", ended), text
    assert not re.search(r"-[0-9]+(\.[0-9]+)? (s|min|h|d)\b", text), text
    assert "  " not in text and "None" not in text and not re.search(r"\([ ,)]| [,;)]", text), text
    assert not _OPTION.search(text), text
