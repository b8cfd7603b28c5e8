# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller itself says about a run that begins: its strategy, its collections.

Private to this collection.
"""

from __future__ import annotations

import importlib
from typing import Any

from ansible.plugins.loader import strategy_loader

LINEAR = "ansible.plugins.strategy.linear"


def strategy_of(task: Any) -> str:
    """The strategy of the play that a task is in."""
    parent = task
    while parent is not None and getattr(parent, "_play", None) is None:
        parent = parent._parent
    return str(parent._play.strategy) if parent else "linear"


def is_linear(strategy: str) -> bool:
    """Whether it goes from task to task with all hosts, as those do that are made out of Ansible's own."""
    kind = strategy_loader.get(strategy, class_only=True)
    return kind is None or any(base.__module__ == LINEAR for base in kind.__mro__)


def strategy_problem(strategy: str) -> str:
    """Why a run can't be played so; "" where it can."""
    if is_linear(strategy):
        return ""
    return (
        f"Role maintain needs the strategy linear, and this play has {strategy}: all machines have to go from task to task together. "
        "Write `strategy: linear` into the play (else ansible.cfg or ANSIBLE_STRATEGY says which one it is)."
    )


def is_there(collection: str) -> bool:
    """Whether a collection is installed where Ansible searches."""
    try:
        importlib.import_module(f"ansible_collections.{collection}")
    except ImportError:
        return False
    return True
