# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person's playbooks make of what the machines say."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_by_hand
short_description: What a person's playbooks make of what the machines say
description:
  - Used by the playbooks C(status), C(approve), C(recover) and C(rehearse) of this collection. Its options and what it returns may change between
    releases.
author:
  - cloudops.azure_maintenance contributors
version_added: 0.2.0
options:
  _input:
    description: What each machine answered, by host; nothing for a machine that was not even called.
    type: dict
    required: true
  part:
    description: What is wanted.
    type: str
    required: true
    choices:
      status: What each machine sees, and the mark that it bears, as lines of text.
      unknown: What keeps anybody from knowing how the machines are, as lines of text.
      heard: Whether machines are asked no more, on which a living run is waited for.
      recover: Which machines are recovered, which are refused, which are left alone, by host.
      rehearse: What a rehearsal plays, or why it can't begin.
      rehearsed: What of an interrupted rehearsal is to be recovered, by host.
  before:
    description: For V(heard), what the playbook C(approve) knows.
    type: dict
  given:
    description:
      - For V(recover), what is wanted against its own judgement.
      - For V(rehearse), what was asked for; for V(rehearsed), the endpoint of each host.
    type: dict
  wall:
    description: For V(status), the controller's Unix time.
    type: float
"""

EXAMPLES = r"""
- name: Show what the machines see and bear
  ansible.builtin.debug:
    msg: "{{ asked | cloudops.azure_maintenance.maintenance_by_hand('status', wall=now(utc=true).timestamp()) }}"
"""

RETURN = r"""
_value:
  description: Lines of text for V(status) and V(unknown), a truth value for V(heard), a dictionary for the others.
  type: raw
"""

from ..plugin_utils._filter import call


def maintenance_by_hand(value, part, before=None, given=None, wall=0.0):
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._fleet.by_hand import by_hand

    return call(by_hand, value, part, before=before or {}, given=given or {}, wall=wall)


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_by_hand": maintenance_by_hand}
