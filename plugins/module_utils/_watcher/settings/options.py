# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's options, one table of them: what each takes, its default, and which variable of role watcher sets it. Pure.

Private to this collection.

The program's check of its file, the role's check of its variables, and the file that the role writes follow from it. A new option is a field
of :class:`Settings` (what the engine goes by) or of :class:`Configuration` (what the rest goes by), which holds its default, and a row here; its
variable has a default and an entry in the argument spec of the role, which say for users what it means.
"""

from typing import Dict, Mapping, NamedTuple, Tuple

from ..._events.policy import Rule
from ..._imds.client import DEFAULT_VERSION
from ..._imds.endpoint import DEFAULT_ENDPOINT
from ..._steps.step_type import Step
from ..host.this_host import HOST
from . import values
from .destinations import Destination
from .health import HealthSettings
from .values import HookOptions, Kind

FORMAT = 1
RENAMED = {"act": "mode", "settle": "boot_timeout", "turn_after": "cooldown"}
"""Keys that have another name now; each with that. What is set under the old name is not done, so it is refused."""

LEAST_INTERVAL = 0.5  # seconds between two polls, at a service that others depend on

MANAGE, OBSERVE = "manage", "observe"
OWN, NEVER = "own", "never"


class Settings(NamedTuple):
    """What the engine goes by, checked."""

    mode: str = MANAGE
    approve: str = OWN
    policy: Tuple[Rule, ...] = ()
    prepare_before: float = 300.0  # seconds
    limits: float = 0.0  # no option: the sum of the limits of its prepare hooks and steps
    undo_limits: float = 0.0  # no option: and of what undoes them
    cooldown: float = 120.0  # seconds from when another machine's event has left the document


class Configuration(NamedTuple):
    """The whole file."""

    settings: Settings = Settings()  # no option, but the options that the engine goes by
    hook_limit: float = 300.0
    hooks: Dict[str, HookOptions] = {}
    hooks_folder: str = HOST.hooks_folder
    steps: Tuple[Step, ...] = ()
    endpoint: str = DEFAULT_ENDPOINT
    api_version: str = DEFAULT_VERSION
    resource_name: str = ""  # "" where the metadata service says it
    interval: float = 1.0
    reports: Tuple[Destination, ...] = ()
    labels: Mapping[str, str] = {}
    health: HealthSettings = HealthSettings()
    folder: str = HOST.state
    boot_timeout: float = 300.0
    history_bytes: int = 1048576
    spool_bytes: int = 10485760


class Option(NamedTuple):
    """One option. Its default is that of the field of its name in :class:`Settings` or :class:`Configuration`.

    variable: the role's; "" where the role, or the program, knows the value itself
    is_made: the role makes the value out of what its variable holds
    may_be_unsaid: the variable is the inventory's, and the role has no default for it
    in_words: by value, what ``status`` says that the watcher then does
    """

    name: str
    kind: Kind
    variable: str = ""
    is_made: bool = False
    may_be_unsaid: bool = False
    in_words: Mapping[str, str] = {}


_MODES = {MANAGE: "prepares it and recovers it", OBSERVE: "reports only; maintain does the rest"}
_APPROVES = {OWN: "approves events that list it alone", NEVER: "approves nothing"}
_ALL = (
    Option("mode", values.one_of(*_MODES), "watcher_mode", in_words=_MODES),
    Option("approve", values.one_of(*_APPROVES), "watcher_approve", in_words=_APPROVES),
    Option("policy", values.POLICY, "azure_maintenance_policy"),
    Option("prepare_before", values.seconds(0.0), "azure_maintenance_prepare_before"),
    Option("cooldown", values.seconds(0.0), "watcher_cooldown"),
    Option("boot_timeout", values.seconds(0.0, 3600.0)),
    Option("steps", values.STEPS),
    Option("hooks", values.HOOKS, "watcher_hooks", is_made=True),
    Option("hook_limit", values.seconds(1.0), "watcher_hook_limit"),
    Option("hooks_folder", values.FOLDER),
    Option("reports", values.REPORTS, "watcher_reports", is_made=True),
    Option("labels", values.LABELS, "watcher_labels", is_made=True),
    Option("health", values.HEALTH, "watcher_health", is_made=True),
    Option("endpoint", values.ENDPOINT, "azure_maintenance_endpoint", may_be_unsaid=True),
    Option("resource_name", values.TEXT, "azure_maintenance_resource_name", may_be_unsaid=True),
    Option("api_version", values.VERSION, "azure_maintenance_api_version", may_be_unsaid=True),
    Option("interval", values.seconds(0.001, 60.0)),
    Option("folder", values.FOLDER),
    Option("history_bytes", values.size(4096)),
    Option("spool_bytes", values.size(4096)),
)
OPTIONS: Mapping[str, Option] = {option.name: option for option in _ALL}
