# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections``: waits until a port has no connections, and afterwards until it listens again.

A load balancer notices a machine that is being prepared only after some probes, and sends new connections until then. That a port has
none means nothing before: ``at_least`` is how long the step goes on polling.

Private to this collection.
"""

from .._text import one_line
from .step_type import (
    AT_LIMIT,
    INTERVAL,
    LIST,
    MOST,
    Host,
    Step,
    StepError,
    StepType,
    TaskResult,
    Verdict,
    Words,
    at_limit,
)


def _complete(step: Step, host: Host, system: str) -> Words:
    port = step["port"]
    if not 1 <= port <= 65535:
        raise StepError(f"port {port} is not between 1 and 65535")
    if step["at_least"] < 0:
        raise StepError(f"at_least is {step['at_least']}; it is a number of seconds, at least 0")
    timeout = step.get("timeout", host.default_timeout)
    if step["at_least"] >= timeout:
        raise StepError(
            f"at_least is {step['at_least']} s and timeout {timeout:g} s, so it could never end in time: set timeout to more than at_least, "
            "with the time that connections which are open need to end"
        )
    first = f", for {step['at_least']} s at least" if step["at_least"] else ""
    return Words(
        f"of port {port}",
        f"wait until port {port} has no established connection{first}",
        f"wait until port {port} listens again" if step["listen_again"] else "",
    )


def _gone(step: Step, direction: str, result: TaskResult) -> Verdict:
    """By how many were ``left``, and for how many seconds the step has polled, ``looked``."""
    port = f"port {step['port']}"
    if int(result["result"]["left"]) > 0:
        return at_limit(
            step, True, f"{port} still has established connections", f"{port} still had established connections"
        )
    at_least, looked = step.get("at_least", 0), result["looked"]  # a plan of an earlier version has no at_least
    words = f"there was time for {looked:.0f} s only, not for at_least: {at_least} s"
    return at_limit(step, looked < at_least, words, words)


def _listens(step: Step, direction: str, result: TaskResult) -> Verdict:
    """One poll of a module that gives up after a second, and says how long it has waited."""
    said = one_line(result.get("msg"), MOST)
    if not said and "elapsed" in result:
        return Verdict(True)
    said = said or "ansible.windows.win_wait_for returned no elapsed, so it is not known whether it does"
    waits = "timeout" in said.lower()
    return Verdict(not waits, f"port {step['port']} does not listen: {said}")


TYPE = StepType(
    name="connections",
    options={
        "port": {"type": "int", "required": True},
        "exclude": dict(LIST, default=[]),
        "at_least": {"type": "int", "default": 0},
        "at_limit": AT_LIMIT,
        "interval": INTERVAL,
        "listen_again": {"type": "bool", "default": False},
        "listen_address": {"type": "str", "default": "127.0.0.1"},
    },
    complete=_complete,
    judges={"gone": _gone, "listens": _listens},
    by_itself=True,
    repeatable=True,
    only_waits=True,
)
