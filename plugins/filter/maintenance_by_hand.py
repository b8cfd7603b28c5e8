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
      status: The events that each machine sees, and its mark, as lines of text.
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
"""

EXAMPLES = r"""
- name: Show what the machines see and bear
  ansible.builtin.debug:
    msg: "{{ asked | cloudops.azure_maintenance.maintenance_by_hand('status') }}"
"""

RETURN = r"""
_value:
  description: Lines of text for V(status) and V(unknown), a truth value for V(heard), a dictionary for the others.
  type: raw
"""

import time

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._errors import ScheduledEventsError
from ..plugin_utils._ansible import call

PARTS = ("status", "unknown", "heard", "recover", "rehearse", "rehearsed")


def maintenance_by_hand(value, part, before=None, given=None):
    """See the documentation above."""
    return call(_part, value, part, before or {}, given or {})


def _part(answers, part, before, given):
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..module_utils._text import did_you_mean, listed
    from ..plugin_utils._fleet import inspection, recover_plan, rehearsal, status

    machines = inspection.machines_of(answers)
    if part == "status":
        return status.status_lines(machines, time.time())
    if part == "unknown":
        return status.unknown(machines)
    if part == "recover":
        # On a command line all of it is text.
        wanted = recover_plan.Overrides(boolean(given["force"]), str(given["take"]), boolean(given["unmarked"]))
        return {host: verdict._asdict() for host, verdict in recover_plan.verdicts(machines, wanted).items()}
    if part == "rehearse":
        return rehearsal.rehearsal(machines, given)._asdict()
    if part == "rehearsed":
        return {host: left._asdict() for host, left in rehearsal.left_behind(machines, given).items()}
    raise ScheduledEventsError(
        f"maintenance_by_hand knows no part {part!r}{did_you_mean(part, PARTS)}; it knows {listed(PARTS)}."
    )


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_by_hand": maintenance_by_hand}
