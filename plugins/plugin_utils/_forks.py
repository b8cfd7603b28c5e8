# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every process of Ansible's would work out anew is worked out once, before they are forked: there is one for each task and host, and the
task's action was loaded before.

Private to this collection.
"""

from __future__ import annotations

import inspect

from ansible.plugins.loader import filter_loader, test_loader


def look_up_sources() -> None:
    """Have Python note which module is in which file.

    For each empty loop ansible-core 2.21 looks up who called it (`skipped_reason` is deprecated). For that Python resolves the paths of all
    modules, unless it has noted them: 30 ms of a core and more, for every host.
    """
    inspect.stack()


def load_filters() -> None:
    """Have Ansible load all of its filters and tests, as it does for the first template.

    The process that is forked may have had none to evaluate, where the play names its hosts: then each of the others takes 8 ms of a core
    for them.
    """
    filter_loader.get("ansible.builtin.bool")
    test_loader.get("ansible.builtin.subset")
