# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a maintenance run planned, did or saw, as lines for a person."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_timeline
short_description: Show a maintenance run to a person
description:
  - Turns the record of the role P(cloudops.azure_maintenance.maintain#role), or what machines see now, into lines of text.
author:
  - cloudops.azure_maintenance contributors
options:
  _input:
    description: The record; for O(part=status) results of M(cloudops.azure_maintenance.scheduled_events_info) by host.
    type: dict
    required: true
  part:
    description: What to show.
    type: str
    default: timeline
    choices:
      timeline: Everything that happened, event by event.
      plan: What is about to be done.
      status: What each machine sees.
"""

EXAMPLES = r"""
- name: Show what this machine sees
  ansible.builtin.debug:
    msg: "{{ {inventory_hostname: look} | cloudops.azure_maintenance.maintenance_timeline('status') }}"
"""

RETURN = r"""
_value:
  description: Lines of text.
  type: list
  elements: str
"""

from collections.abc import Callable
from typing import Any

from ..module_utils._errors import ScheduledEventsError
from ..module_utils._text import did_you_mean, listed
from ..plugin_utils._filter import call
from ..plugin_utils._maintain.timeline import plan_lines, status_lines, timeline

_PARTS: dict[str, Callable[[Any], list[str]]] = {"timeline": timeline, "plan": plan_lines, "status": status_lines}


def _lines(value, part="timeline"):
    if part not in _PARTS:
        raise ScheduledEventsError(
            f"maintenance_timeline knows no part {part!r}{did_you_mean(part, _PARTS)}; it knows {listed(_PARTS)}."
        )
    return _PARTS[part](value)


def maintenance_timeline(value, part="timeline"):
    """See the documentation above."""
    return call(_lines, value, part=part)


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_timeline": maintenance_timeline}
