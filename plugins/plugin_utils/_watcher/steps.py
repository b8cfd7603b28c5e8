# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which drain steps a machine can do alone, and what to do about the others.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...module_utils._steps.step_type import Step

_BY_MAINTAIN = "or leave such machines to the playbook maintain, with watcher_mode: observe"
_WAYS_OUT = {
    "haproxy": "have the machine do it with a step of type http or command, or with a hook that speaks to the load balancer",
    "tasks": "write it as a step of type command, or as a hook",
    "verify": "write it as a hook of phase recover, which fails when the machine is not well",
}


def refused_steps(steps: Iterable[Step]) -> list[str]:
    """A sentence for each step that the watcher can't do, with the way out."""
    return [sentence for step in steps for sentence in [_refusal(step)] if sentence]


def _refusal(step: Step) -> str:
    kind = step["type"]
    where = f"drain_verify_tasks, file {step['number']}" if kind == "verify" else f"drain_steps, step {step['number']}"
    label = f"{where} ({step['name']})"
    if kind in _WAYS_OUT:
        return f"{label}: the watcher is alone on its machine and can't run it: {_WAYS_OUT[kind]}; {_BY_MAINTAIN}"
    if step["elsewhere"]:
        return (
            f"{label}: {step.get('delegate_to') or 'another machine'} is to do it (delegate_to), and the watcher reaches no other "
            f"machine: leave delegate_to out, or write it as a hook; {_BY_MAINTAIN}"
        )
    if step.get("become") is False:
        return (
            f"{label}: it has become: false, and the watcher knows no user of Ansible's: leave become out, which is root, "
            "or write it as a hook with a user"
        )
    return ""
