# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/cloudops.azure_maintenance.scheduled_events) in C(module_defaults) to set options for all
      modules of this collection.
    support: full
    membership:
      - cloudops.azure_maintenance.scheduled_events
  async:
    description: Supports being used with the C(async) keyword.
    support: partial
    details:
      - Not on Windows machines, because the controller does the work there; use O(wait) with O(wait_timeout).
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
  diff_mode:
    description: Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
  idempotent:
    description: When run twice in a row outside check mode, with the same arguments, the second invocation indicates
      no change.
  platform:
    description: Target operating systems on which the module runs.
    support: full
    platforms: posix, windows
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    support: full
    details:
      - This module does not change anything.
  diff_mode:
    support: N/A
    details:
      - This module does not change anything.
  idempotent:
    support: full
    details:
      - This module does not change anything.
"""

    APPROVE_MODULE = r"""
options: {}
attributes:
  check_mode:
    support: full
    details:
      - Looks at the events, but sends no approval and does not wait.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - An event that has started or is gone is not approved again. One that Azure has not started yet looks to the module
        as if nobody had approved it, so it is approved once more, which does no harm.
"""
