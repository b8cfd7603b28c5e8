# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``failover_cluster``: suspends a node and drains its roles, and resumes it.

Private to this collection.
"""

from .step_type import INTERVAL, Host, Step, StepType, TaskResult, Verdict, Words


def _complete(step: Step, host: Host, system: str) -> Words:
    node = f"node {step.get('node', 'of this machine')}"
    return Words(node, f"suspend the {node} and drain its roles", f"resume the {node}, fail-back: {step['fail_back']}")


def _followed(step: Step, direction: str, result: TaskResult) -> Verdict:
    seen = result["result"]
    if seen["done"]:
        return Verdict(True)
    state, drain = (seen.get(key) or "unknown" for key in ("state", "drain"))
    has_failed = direction == "do" and drain == "Failed"
    return Verdict(has_failed, f"node {seen['node']} is {state}, its drain is {drain}. {seen['problem']}".strip())


TYPE = StepType(
    name="failover_cluster",
    options={
        "node": {"type": "str"},
        "cluster": {"type": "str"},
        "force_drain": {"type": "bool", "default": False},
        "fail_back": {"type": "str", "choices": ["immediate", "policy", "none"], "default": "immediate"},
        "interval": INTERVAL,
    },
    complete=_complete,
    systems=("windows",),
    judges={"followed": _followed},
    by_itself=True,
    repeatable=True,
)
