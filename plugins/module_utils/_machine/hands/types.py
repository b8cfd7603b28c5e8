# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hands of this machine, by the type of step.

Private to this collection.
"""

from typing import Dict

from ..._clock import Clock
from ..._steps.types import PREPARE_HOOK, RECOVER_HOOK
from ..hand import Hand
from ..jobs import Jobs
from .command import CommandHand
from .connections import ConnectionsHand
from .hook import HookHand
from .http import HttpHand
from .service import ServiceHand


def make_hands(jobs: Jobs, user: str = "") -> Dict[str, Hand]:
    """What each step that this machine does itself is done with.

    :arg user: as whom Ansible connects to this machine; steps with ``become: false`` run as this user
    """
    kinds = {"service": ServiceHand, "command": CommandHand, "http": HttpHand, "connections": ConnectionsHand}
    hook = HookHand(jobs, Clock())
    hands: Dict[str, Hand] = {name: kind(jobs, user) for name, kind in kinds.items()}
    return dict(hands, **{kind.name: hook for kind in (PREPARE_HOOK, RECOVER_HOOK)})
