# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's loop works with: everything that touches the world, so that a test may bring its own.

Private to this collection.
"""

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

from .._clock import Clock
from .acts import Go, Say
from .facts import Facts, Identity
from .hold import HoldFile
from .imds.facade import ImdsFacade
from .orders import Orders
from .program import Program
from .published import Published
from .put_back import PutBack
from .remembered import Remembered
from .reports.systemd_transport import Log, Notify
from .settings.settings import Configuration
from .settings.settings_file import SettingsFile
from .settings.step_discovery import Found
from .systems import Wake, WatchedSystem


class Parts(NamedTuple):
    """Beside the watcher's own files:

    find: the steps by the configuration, hooks among them
    context: what a hook gets to know of the event that it runs for
    tell: hands on what happened
    crippled: why the state can't be written, "" when it can
    make_handling: out of what the one before wanted to be remembered
    about: version, pid and the like, to be published
    untold: why what happened could not be written down, "" when it could
    """

    settings: SettingsFile
    metadata: ImdsFacade
    program: Program
    system: WatchedSystem
    clock: Clock
    wake: Wake
    log: Log
    notify: Notify
    published: Published
    orders: Orders
    hold: HoldFile
    put_back: PutBack
    remembered: Remembered
    find: Callable[[Configuration], Found]
    context: Callable[[Go, Facts], Mapping[str, Any]]
    tell: Callable[[Say, Optional[Identity]], None]
    crippled: Callable[[], str]
    make_handling: Callable[[Dict[str, Any]], Any]
    about: Dict[str, Any]
    untold: Callable[[], str] = lambda: ""
