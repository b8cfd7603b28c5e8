# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ..module_utils._module import APPROVE_ARGUMENTS
from ..module_utils._operations.approve import approve
from ..plugin_utils._action import ScheduledEventsAction


class ActionModule(ScheduledEventsAction):
    arguments = APPROVE_ARGUMENTS
    operation = staticmethod(approve)
