# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a maintenance run planned, did or saw, as lines for a person."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_timeline
short_description: Show a maintenance run to a person
description:
  - Turns the record of the role P(cloudops.azure_maintenance.maintain#role) into lines of text.
author:
  - cloudops.azure_maintenance contributors
options:
  _input:
    description: The record.
    type: dict
    required: true
  part:
    description: What to show.
    type: str
    default: timeline
    choices:
      timeline: Everything that happened, event by event.
      plan: What is about to be done.
      end: What is said at the end of a run, that is the timeline, notes, and what is left for a person.
      result: All of it, as C(maintain_result) has it.
"""

EXAMPLES = r"""
- name: Show what a run has planned so far
  ansible.builtin.debug:
    msg: "{{ record | cloudops.azure_maintenance.maintenance_timeline('plan') }}"
"""

RETURN = r"""
_value:
  description: Lines of text; for O(part=result) a dictionary.
  type: raw
"""

from ..plugin_utils._ansible import call


def maintenance_timeline(value, part="timeline"):
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._fleet.result import shown

    return call(shown, value, part=part)


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_timeline": maintenance_timeline}
