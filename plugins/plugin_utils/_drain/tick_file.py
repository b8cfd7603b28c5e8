# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks a tick consists of, for roles maintain and drain: the files are in ``roles/drain/tasks/tick``. Pure.

Private to this collection.

Each task of a tick costs a process for every host, also where it is skipped. So a tick has those only that some step needs.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...module_utils._steps.step_type import Step

ALONE, WITH_OTHERS, WITH_OWN_TASKS = "ticks", "ticks_with_others", "ticks_with_own_tasks"


def tick_file(steps: Iterable[Step]) -> str:
    """The name of the file, without its extension.

    :arg steps: of all hosts that run side by side: Ansible runs different files one after the other
    """
    elsewhere = [step for step in steps if step["elsewhere"]]
    if any(step["own"] for step in elsewhere):
        return WITH_OWN_TASKS
    return WITH_OTHERS if elsewhere else ALONE
