# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's options, one table of them: what each takes, its default, what it means, and how role watcher sets it. Pure.

Private to this collection.

All else follows from it: the program's check of its file, the role's check of its variables, the file that the role writes, and, by
``make figure``, the role's defaults and its argument spec. A new option is a field of :class:`Settings` (what the engine goes by) or of
:class:`Configuration` (what the rest goes by), which holds its default, and a row of :data:`GROUPS`.
"""

from typing import Any, Dict, Mapping, NamedTuple, Tuple

from ..._events.policy import DEFAULT_POLICY, Rule
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


_DEFAULTS: Dict[str, Any] = {**Settings()._asdict(), **Configuration()._asdict()}
SAME = object()


class Option(NamedTuple):
    """One option. Its default is that of the field of its name in :class:`Settings` or :class:`Configuration`.

    description: sentences for users, as ansible-doc shows them, from which the role's argument spec and default are written
    role_default: of the role's variable, where that is another one than the program's
    said_as: the role's variable, where it is one that others read, too; else it is called as the option, with ``watcher_`` before that
    is_made: the role makes the value out of what its variable holds. Its argument spec is written by hand, as far as it has parts.
    in_words: by value, what ``status`` says that the watcher then does
    """

    name: str
    kind: Kind
    description: Tuple[str, ...] = ()
    role_default: Any = SAME
    said_as: str = ""
    is_made: bool = False
    in_words: Mapping[str, str] = {}

    @property
    def default(self) -> Any:
        """What the program goes by where its file does not say."""
        return _DEFAULTS[self.name]

    @property
    def variable(self) -> str:
        """The role's; "" where the option is none of the role's: it, or the program, knows the value itself."""
        return self.said_as or (f"watcher_{self.name}" if self.description else "")

    @property
    def variable_default(self) -> Any:
        """What the role's variable is by default."""
        return self.default if self.role_default is SAME else self.role_default


GROUPS: Tuple[Tuple[str, Tuple[Option, ...]], ...] = (
    (
        "What the watcher does about an event. Drain steps are those of role drain: drain_steps, drain_timeout.",
        (
            Option(
                "mode",
                values.one_of(MANAGE, OBSERVE),
                (
                    "With V(manage) the watcher prepares its machine and recovers it. The playbook C(maintain) then waits for its mark, and approves.",
                    "With V(observe) it only reports what happens, and C(maintain) does all.",
                ),
                in_words={MANAGE: "prepares it and recovers it", OBSERVE: "reports only; maintain does the rest"},
            ),
            Option(
                "approve",
                values.one_of(OWN, NEVER),
                (
                    "V(own) approves events that list this machine and no other, in the approval order. "
                    "V(never) leaves every start to Azure, or to C(maintain).",
                ),
                in_words={OWN: "approves events that list it alone", NEVER: "approves nothing"},
            ),
            Option(
                "policy",
                values.POLICY,
                (
                    "Ordered list of rules; the first that matches decides about an event. The last rule must have no C(when).",
                    "It holds for role P(cloudops.azure_maintenance.maintain#role), too, which says what a rule may have.",
                ),
                role_default=DEFAULT_POLICY,
                said_as="azure_maintenance_policy",
            ),
            Option(
                "prepare_before",
                values.seconds(0.0),
                (
                    "Seconds before its not-before from which on an event is prepared for that the watcher will not approve. "
                    "Until then the machine serves.",
                    "It begins earlier where the limits of hooks and steps add up to more.",
                ),
                said_as="azure_maintenance_prepare_before",
            ),
            Option(
                "cooldown",
                values.seconds(0.0),
                (
                    "Minimum seconds (0 to 86400) to wait after another machine's event has disappeared before approving early.",
                    "It is the time that the other machine has to boot and to recover, of which the document says nothing. "
                    "With V(0) the next one need not wait.",
                ),
            ),
            Option("boot_timeout", values.seconds(0.0, 3600.0)),
            Option("steps", values.STEPS),
        ),
    ),
    (
        "The user's own programs",
        (
            Option(
                "hooks",
                values.HOOKS,
                (
                    "Programs of yours that the watcher runs. Without O(watcher_hooks[].order), those of a phase run in the order of their names.",
                    "A file that somebody else has put into the folder of hooks is run as well, and left alone by this role.",
                ),
                role_default=[],
                is_made=True,
            ),
            Option(
                "hook_limit",
                values.seconds(1.0),
                ("Seconds after which a hook that names no C(limit) is ended.",),
            ),
            Option("hooks_folder", values.FOLDER),
        ),
    ),
    (
        "Who gets reports",
        (
            Option(
                "reports",
                values.REPORTS,
                (
                    "URLs that get a report of all that happens, as JSON by POST. A service of its own sends them, in order, "
                    "and retries until they are taken.",
                ),
                role_default=[],
                is_made=True,
            ),
            Option(
                "labels",
                values.LABELS,
                (
                    "What every report says of this machine beside its name, for those who receive it, such as C(ring) V(canary). "
                    "Names are letters, digits and underscores; values are text of at most 100 characters; there are at most 20, "
                    "with those of the role.",
                    "The role adds C(inventory_hostname), so that a receiver can limit a job to this machine, C(scope) (O(azure_maintenance_scope)) "
                    "and C(capacity_group) (O(azure_maintenance_capacity_group), by default the scope), where the inventory has these.",
                    "By these three receivers choose machines, so they have letters from A to Z, digits, C(_), C(.) and C(-) only, none of the last two at "
                    "the beginning, and at most 200. Another scope or capacity group is refused. Another name of the host is left out with a warning.",
                ),
                is_made=True,
            ),
        ),
    ),
    (
        "What load balancers ask to learn whether the machine is in service",
        (
            Option(
                "health",
                values.HEALTH,
                (
                    "Where load balancers ask whether this machine is in service. They get 200, or 503 with the reason from the moment the "
                    "machine begins to be prepared until it is recovered, also over a reboot and while the watcher is down.",
                    "A process of its own answers, as a user of its own. systemd holds its addresses, so a restart closes none of them.",
                    "Without an address in O(watcher_health.http) or O(watcher_health.agent) there is none.",
                ),
                role_default={},
                is_made=True,
            ),
        ),
    ),
    (
        "How the metadata service is polled",
        (
            Option("endpoint", values.ENDPOINT, said_as="azure_maintenance_endpoint"),
            Option("resource_name", values.TEXT, said_as="azure_maintenance_resource_name"),
            Option("api_version", values.VERSION, said_as="azure_maintenance_api_version"),
            Option("interval", values.seconds(0.001, 60.0)),
        ),
    ),
    (
        "What is kept",
        (
            Option("folder", values.FOLDER),
            Option("history_bytes", values.size(4096)),
            Option("spool_bytes", values.size(4096)),
        ),
    ),
)
OPTIONS: Mapping[str, Option] = {option.name: option for _title, options in GROUPS for option in options}
