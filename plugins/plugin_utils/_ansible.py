# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible hands over and takes back: plain data of templates in, data that is never templated again out; what a task says while it
runs; what of its play a task has to know; and which system a host has by its variables.

Private to this collection.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleFilterError
from ansible.plugins.loader import strategy_loader
from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

from ..module_utils._errors import ScheduledEventsError


def plain(value: Any) -> Any:
    """A copy of what a template handed over, as ordinary dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def is_there(collection: str) -> bool:
    """Whether a collection is installed where Ansible searches."""
    try:
        importlib.import_module(f"ansible_collections.{collection}")
    except ImportError:
        return False
    return True


def call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call with plain arguments; an error of ours becomes the filter's error.

    Before ansible-core 2.19 every string in a variable is a template again. Text from the wire (an event's
    description) must not be one, so the result is marked.
    """
    try:
        result = function(*plain(args), **plain(options))
    except ScheduledEventsError as error:
        raise AnsibleFilterError(error.message) from error
    return wrap_var(result)


def say(lines: Iterable[str]) -> None:
    """Print them at once. Where standard output is JSON, they go to standard error."""
    is_json = str(constants.DEFAULT_STDOUT_CALLBACK).rpartition(".")[2] in ("json", "jsonl")
    Display().display("\n".join(lines), stderr=is_json)


def found_in(folders: Iterable[Any], path: str) -> str | None:
    """A file of the controller that a user names, in the first of these folders that has it; None where none has."""
    candidates = [path] if os.path.isabs(path) else [os.path.join(str(folder), path) for folder in folders if folder]
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), None)


def strategy_of(task: Any) -> str:
    """The strategy of the play that a task is in."""
    play = _play_of(task)
    return str(play.strategy) if play else "linear"


def listened(task: Any, topic: str) -> bool:
    """Whether a handler of the play that a task is in listens to the topic, or has its name. To notify one that nobody listens to is an error."""
    play = _play_of(task)
    handlers = [handler for block in play.handlers for handler in block.block] if play else []
    # Before ansible-core 2.18 one topic may be a text.
    topics = [[one.listen] if isinstance(one.listen, str) else one.listen for one in handlers]
    return topic in [one.name for one in handlers] or any(topic in some for some in topics)


def _play_of(task: Any) -> Any:
    parent = task
    while parent is not None and getattr(parent, "_play", None) is None:
        parent = parent._parent
    return parent._play if parent else None


def goes_together(strategy: str) -> bool:
    """Whether all hosts go from task to task together, as with those strategies that are made out of Ansible's own."""
    kind = strategy_loader.get(strategy, class_only=True)
    return kind is None or any(base.__module__ == "ansible.plugins.strategy.linear" for base in kind.__mro__)


# ---- which system a host has ----

_CONNECTIONS = ("winrm", "psrp")
_SHELLS = ("powershell", "cmd")


def is_windows(variables: Mapping[str, Any]) -> bool:
    """Whether Ansible reaches the machine as a Windows machine; no facts are needed. The one answer for whoever has only its variables: an action
    asks the machine's connection instead, as a connection plugin of another collection may bring a Windows shell without any variable
    that says so.

    :arg variables: of the host; ``ansible_connection`` and ``ansible_shell_type`` are looked at, with or without the name of
        the plugin's collection
    """
    return (
        _plugin(variables.get("ansible_connection")) in _CONNECTIONS
        or _plugin(variables.get("ansible_shell_type")) in _SHELLS
    )


def _plugin(name: Any) -> str:
    return str(name or "").rsplit(".", 1)[-1]
