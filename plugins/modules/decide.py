#!/usr/bin/python
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: decide
short_description: What comes next in a run, by what the machines answered (private)
version_added: 0.2.0
description:
  - Private to this collection. The roles use it; its options and results change from one version to the next without notice.
options:
  role:
    description:
      - Whose decision. All other options are private as well.
    type: str
    required: true
author:
  - cloudops.azure_maintenance contributors (@cloudops)
"""

EXAMPLES = r"""
- name: Not for playbooks
  cloudops.azure_maintenance.decide:
    role: approve
"""
