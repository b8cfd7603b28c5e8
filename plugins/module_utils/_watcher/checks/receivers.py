# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where reports go: whether names resolve, and somebody listens. Nothing is sent.

Private to this collection.
"""

from typing import Any, Callable, List

from ..settings.settings import Configuration
from ..view import View
from .finding import FAIL, OK, WARN, Finding

MANY = 100


def look(configuration: Configuration, reach: Callable[..., str], way: Callable[[str, str], Any]) -> List[Finding]:
    """:arg reach: of post_transport, as is `way`, its Way"""
    found = []
    for one in configuration.reports:
        problem = reach(one.url, way(one.proxy, one.ca_file))
        if problem:
            advice = "reports wait until it can be reached; see its name, the firewall and certificates on the way"
            found.append(Finding(FAIL, "reports", f"{one.words}: {problem}", advice))
        else:
            found.append(Finding(OK, "reports", f"{one.words} can be reached"))
        if one.url.startswith("http://") and one.secret_file:
            words = f"{one.words} is not encrypted: whoever listens in can read reports"
            found.append(Finding(WARN, "reports", words, "use https, where it can"))
        elif not one.secret_file:
            found.append(
                Finding(WARN, "reports", f"{one.words} gets reports unsigned", "set a secret, where it can check one")
            )
    return found or [Finding(OK, "reports", "the settings name no URL")]


def waiting(view: View) -> List[Finding]:
    """Destinations that are behind."""
    found = []
    for one in view.waits:
        if one.number >= MANY or (one.since is not None and view.wall - one.since > 600):
            last = f"; last: {one.last}" if one.last else ""
            advice = "systemctl status azure-maintenance-reports shows whether they are sent at all"
            found.append(Finding(WARN, "reports", f"{one.words}: {one.number} wait{last}", advice))
    return found
