# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher puts on a machine, and what speaks against it."""

from __future__ import annotations

DOCUMENTATION = r"""
name: watcher_plan
short_description: What role watcher puts on a machine, and what speaks against it
description:
  - Used by role P(cloudops.azure_maintenance.watcher#role). Its options and what it returns may change between releases.
author:
  - cloudops.azure_maintenance contributors (@cloudops)
version_added: 0.2.0
options:
  _input:
    description: >-
      Nothing for V(options) and V(version), for V(place) the environment on the machine, for V(files) the options of the role, for V(names) the names of
      the host's variables, for V(refusals) what the machine says of itself, for V(former) the file of the settings that are on the machine, for
      V(leaving) and V(services) what V(files) returned, for V(left_behind) what V(former) returned, for V(mark) what is in its file, for V(status) what
      was registered of the command.
    type: raw
    required: true
  part:
    description: What is wanted.
    type: str
    required: true
    choices:
      options: The names of the options that have a variable of the role, without C(watcher_).
      version: The program's version.
      place: Where things are on the machine.
      files: What the machine gets, and what is wrong with the options.
      names: Which of the host's variables are misspelt.
      refusals: What speaks against the machine, a sentence each.
      former: What an earlier deployment has installed.
      leaving: Which hooks of that go, and why they may not.
      left_behind: Why the state folder may not be another one now.
      mark: Who holds a mark.
      services: The services of the machine.
      status: What the watcher says of itself.
  host:
    description: The inventory name of the host.
    type: str
  options:
    description: For V(place), C(system), C(folder), C(systemd), C(python) and C(version). For V(refusals), what of the options it goes by.
    type: dict
  place:
    description: For V(files), V(former), V(left_behind) and V(services), what V(place) returned.
    type: dict
  steps:
    description: For V(files), the plan of filter P(cloudops.azure_maintenance.drain_steps#filter).
    type: dict
  names:
    description: For V(files), the names of the host's variables.
    type: list
    elements: str
  search:
    description: For V(files), folders of the controller in which relative files of hooks are looked for.
    type: list
    elements: str
  answer:
    description: For V(refusals), what the machine program answered; nothing for images. For V(left_behind), what it answered about the new folder.
    type: dict
  there:
    description: For V(left_behind), what the machine program answered about the folder so far.
    type: dict
  former:
    description: For V(leaving), what V(former) returned.
    type: dict
  mark:
    description: For V(leaving), the machine's mark.
    type: dict
  notify_hooks:
    description: For V(services), whether there are notify hooks on the machine.
    type: bool
    default: false
  force:
    description:
      - For V(leaving), whether hooks go though the machine is out of service by them.
      - For V(left_behind), whether what a person has left beside the mark may stay behind.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Put together what the machine gets
  ansible.builtin.set_fact:
    files: "{{ options | cloudops.azure_maintenance.watcher_plan('files', place=place, steps=plan, search=[playbook_dir]) }}"
"""

RETURN = r"""
_value:
  description: A list for V(options) and V(refusals), a text for V(version), V(mark) and V(left_behind), a dictionary for the others.
  type: raw
"""

import functools

from ansible.errors import AnsibleFilterError
from ansible.parsing.dataloader import DataLoader

from ..plugin_utils._ansible import call, found_in


def watcher_plan(
    value,
    part,
    host="",
    options=None,
    place=None,
    steps=None,
    names=(),
    search=(),
    answer=None,
    there=None,
    former=None,
    mark=None,
    notify_hooks=False,
    force=False,
):
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._machine import bundle
    from ..plugin_utils._variables import known_variables, unknown_variables
    from ..plugin_utils._watcher import former as formerly
    from ..plugin_utils._watcher import plan, program, refusals
    from ..plugin_utils._watcher.place import Place, place_of

    def unknown(names):
        return unknown_variables(names, known_variables(DataLoader().load_from_file)) if names else []

    def files(given, place, steps, names):
        return plan.files_of(given, Place(**place), steps, functools.partial(found_in, search), unknown(names))

    def services(files, place):
        reports = files["has_reports"] or notify_hooks
        return program.services_of(Place(**place), files["commands"], reports, files["has_health"])

    parts = {
        "options": plan.variables,
        "version": bundle.version,
        "place": lambda: call(lambda env, given: place_of(env=env, **given)._asdict(), value, options),
        "files": lambda: call(files, value, place, steps, names),
        "names": lambda: call(lambda names: plan.misspelt(unknown(names)), value),
        "refusals": lambda: call(refusals.refusals, host, options, value, answer),
        "former": lambda: call(lambda place: formerly.former_of(value, Place(**place)), place),
        "leaving": lambda: call(formerly.leaving, value, former, mark, bool(force)),
        "left_behind": lambda: call(formerly.left_behind, value["folder"], place["state"], there, answer, bool(force)),
        "mark": lambda: formerly.kind_of_mark(value),
        "services": lambda: call(services, value, place),
        "status": lambda: call(program.status_of, value),
    }
    if part not in parts:
        raise AnsibleFilterError(f"watcher_plan: part is {part!r}; it is one of {', '.join(parts)}")
    return parts[part]()


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"watcher_plan": watcher_plan}
