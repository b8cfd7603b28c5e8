# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this system has its own way for with users and processes; what each function means stands in posix/processes.py.

Private to this collection.
"""

import sys

if sys.platform == "win32":
    from .windows.processes import (
        Account,
        account_named,
        account_of,
        argv_of,
        become,
        is_root,
        set_environment,
        start_of,
        this_account,
        who_logged_in,
    )
else:
    from .posix.processes import (
        Account,
        account_named,
        account_of,
        argv_of,
        become,
        is_root,
        set_environment,
        start_of,
        this_account,
        who_logged_in,
    )

__all__ = [
    "Account",
    "account_named",
    "account_of",
    "argv_of",
    "become",
    "is_root",
    "set_environment",
    "start_of",
    "this_account",
    "who_logged_in",
]
