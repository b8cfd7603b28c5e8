# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_answer
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: Tell whether an HTTP answer is the one that is waited for
description:
  - Compares the result of M(ansible.builtin.uri) or M(ansible.windows.win_uri) with the C(until) of an C(http) step of
    role C(drain).
positional: _input, until
options:
  _input:
    description: The registered result; it has to hold the answer's content.
    type: dict
    required: true
  until:
    description: What is waited for.
    type: dict
    required: true
    suboptions:
      status:
        description: The status codes that will do.
        type: list
        elements: int
        required: true
      contains:
        description: A text that the body has to contain.
        type: str
      json:
        description: A value that the body has to hold, C(equals), and where, C(path), with dots between the keys.
        type: dict
"""

EXAMPLES = r"""
- name: Wait until the application has no jobs left
  ansible.builtin.uri:
    url: http://127.0.0.1:8000/status
    return_content: true
  register: answer
  until: (answer | cloudops.azure_maintenance.drain_answer(wanted)).done
  retries: 30
  delay: 2
  vars:
    wanted: {status: [200], json: {path: jobs.running, equals: 0}}
"""

RETURN = r"""
_value:
  description: What was found.
  type: dict
  contains:
    done:
      description: Whether everything that was asked for holds.
      type: bool
    seen:
      description: What the answer was, in words.
      type: str
    wanted:
      description: What is waited for, in words.
      type: str
"""

from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.record import look


def drain_answer(result, until):
    """Whether the answer will do; the machine's words in it are marked as such."""
    return wrap_var(look(result, until))


class FilterModule:
    """The filter, as Ansible finds it."""

    def filters(self):
        return {"drain_answer": drain_answer}
