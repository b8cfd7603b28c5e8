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
      Nothing for V(options), for V(files) the options of the role, for V(names) the names of the host's variables, for V(place) what the machine says of
      itself, for V(leaving) what V(files) returned, for V(mark) what is in its file, for V(folder) the file of the settings that are on the machine, for
      V(left_behind) what V(folder) returned.
    type: raw
    required: true
  part:
    description: What is wanted.
    type: str
    required: true
    choices:
      options: The names of the options that have a variable of the role, without C(watcher_).
      files: What the machine gets, and what is wrong with the options.
      names: Which of the host's variables are misspelt.
      place: What speaks against the machine, a sentence each.
      leaving: Which hooks of an earlier deployment go, and why they may not.
      mark: Who holds a mark.
      folder: The state folder that the settings on the machine name.
      left_behind: Why it may not be another one now.
  host:
    description: The inventory name of the host.
    type: str
  options:
    description: For V(place), what of the options it goes by. For V(left_behind), C(folder), the state folder from now on.
    type: dict
  steps:
    description: For V(files), the plan of filter P(cloudops.azure_maintenance.drain_steps#filter).
    type: dict
  system:
    description: For V(files), the machine's system.
    type: str
    choices: [linux, windows]
    default: linux
  names:
    description: For V(files), the names of the host's variables.
    type: list
    elements: str
  search:
    description: For V(files), folders of the controller in which relative files of hooks are looked for.
    type: list
    elements: str
  answer:
    description: For V(place), what the machine program answered; nothing for images. For V(left_behind), what it answered about the new folder.
    type: dict
  there:
    description: For V(left_behind), what the machine program answered about the folder so far.
    type: dict
  before:
    description: For V(leaving), the file of the settings that are on the machine.
    type: str
    default: ""
  mark:
    description: For V(leaving), the machine's mark.
    type: dict
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
    files: "{{ options | cloudops.azure_maintenance.watcher_plan('files', steps=plan, search=[playbook_dir]) }}"
"""

RETURN = r"""
_value:
  description: A list of sentences for V(place), a text for V(mark), V(folder) and V(left_behind), a dictionary for the others.
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
    steps=None,
    names=(),
    search=(),
    answer=None,
    there=None,
    before="",
    mark=None,
    force=False,
    system="linux",
):
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..module_utils._watcher.host.linux_host import LINUX
    from ..module_utils._watcher.host.windows_host import WINDOWS
    from ..plugin_utils._variables import known_variables, unknown_variables
    from ..plugin_utils._watcher import former_folder, place, plan

    def unknown(names):
        return unknown_variables(names, known_variables(DataLoader().load_from_file)) if names else []

    if part == "options":
        return plan.variables()
    if part == "files":
        return call(
            lambda given, steps, names: plan.files_of(
                given,
                steps,
                functools.partial(found_in, search),
                unknown(names),
                WINDOWS if system == "windows" else LINUX,
            ),
            value,
            steps,
            names,
        )
    if part == "names":
        return call(lambda names: plan.misspelt(unknown(names)), value)
    if part == "place":
        return call(lambda given: place.refusals(host, options, given, answer), value)
    if part == "leaving":
        return call(lambda given: plan.leaving(given or None, before, mark, bool(force)), value)
    if part == "mark":
        return plan.kind_of_mark(value)
    if part == "folder":
        return former_folder.folder_of(value)
    if part == "left_behind":
        return call(
            lambda former: former_folder.left_behind(former, options["folder"], there, answer, bool(force)), value
        )
    raise AnsibleFilterError(
        f"watcher_plan: part is {part!r}; it is one of options, files, names, place, leaving, mark, folder, left_behind"
    )


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"watcher_plan": watcher_plan}
