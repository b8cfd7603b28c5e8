# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections``: waits until a port has no connections, and afterwards until it listens again.

Private to this collection.
"""

from .._text import one_line
from .checks import StepError
from .step_type import (
    AT_LIMIT,
    INTERVAL,
    LIST,
    MOST,
    Host,
    Step,
    StepType,
    TaskResult,
    Verdict,
    Words,
    at_limit,
    on_linux_itself,
    rounds,
)


def _complete(step: Step, host: Host, system: str) -> Words:
    port = step["port"]
    if not 1 <= port <= 65535:
        raise StepError(f"port {port} is not between 1 and 65535")
    return Words(
        f"of port {port}",
        f"wait until port {port} has no established connection",
        f"wait until port {port} listens again" if step["listen_again"] else "",
    )


def _gone(step: Step, direction: str, result: TaskResult) -> Verdict:
    left = any(_has_connections(item) for item in rounds(result))
    port = f"port {step['port']}"
    return at_limit(
        step, left, f"{port} still has established connections", f"{port} still had established connections"
    )


def _has_connections(result: TaskResult) -> bool:
    """From Linux a wait that gave up, one for IPv4 and one for IPv6; from Windows what the script last counted."""
    if "result" in result:
        return int(result["result"]["left"]) > 0
    return "Timeout when waiting" in str(result.get("msg", ""))


def _listens(step: Step, direction: str, result: TaskResult) -> Verdict:
    """One look of a module that gives up after a second."""
    said = one_line(result.get("msg"), MOST)
    if not said:
        return Verdict(True)
    waits = "timeout" in said.lower()
    return Verdict(not waits, f"port {step['port']} does not listen: {said}")


TYPE = StepType(
    name="connections",
    options={
        "port": {"type": "int", "required": True},
        "exclude": dict(LIST, default=[]),
        "at_limit": AT_LIMIT,
        "interval": INTERVAL,
        "listen_again": {"type": "bool", "default": False},
        "listen_address": {"type": "str", "default": "127.0.0.1"},
    },
    complete=_complete,
    judges={"gone": _gone, "listens": _listens},
    by_itself=on_linux_itself,
    repeatable=True,
    only_looks=True,
)
