# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_result
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: Sum up a run of role drain
description:
  - Makes C(drain_result) or C(drain_recover_result) of the reports of the steps. Role C(drain) uses it.
options:
  _input:
    description: The reports of the steps, as P(cloudops.azure_maintenance.drain_report#filter) returns them.
    type: list
    elements: dict
    required: true
  reverts:
    description: The reports of undoing them after a failure; nothing when nothing was undone.
    type: list
    elements: dict
  trouble:
    description: Why no step could be run.
    type: str
    default: ""
  planned:
    description: In check mode, the steps that would be run.
    type: list
    elements: dict
  direction:
    description: Whether the steps were done or undone.
    type: str
    choices: [do, undo]
    required: true
  seconds:
    description: How long it all took.
    type: float
    required: true
"""

EXAMPLES = r"""
- name: Sum up
  ansible.builtin.debug:
    msg: "{{ reports | cloudops.azure_maintenance.drain_result(direction='do', seconds=12.5) }}"
"""

RETURN = r"""
_value:
  description:
    - The result, with C(ok), C(seconds), C(steps), C(failed_step), C(message), C(reverted) and C(revert_errors).
  type: dict
"""

from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.record import make_result


def drain_result(steps, direction, seconds, reverts=None, trouble="", planned=None):
    """The sum of a run; the machines' words in it are marked as such."""
    run = {
        "steps": steps,
        "reverts": reverts,
        "seconds": seconds,
        "trouble": trouble,
        "planned": planned,
        "direction": direction,
    }
    return wrap_var(make_result(run))


class FilterModule:
    """The filter, as Ansible finds it."""

    def filters(self):
        return {"drain_result": drain_result}
