# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this system has its own way for with files; what each function means stands in posix/files.py.

Private to this collection.
"""

import sys

if sys.platform == "win32":
    from .windows.files import (
        AS_IT_IS,
        AT_ONCE,
        fill,
        is_ours,
        lock,
        open_to,
        patiently,
        place,
        refusal_of,
        replace,
        sync_folder,
        unlock,
    )
else:
    from .posix.files import (
        AS_IT_IS,
        AT_ONCE,
        fill,
        is_ours,
        lock,
        open_to,
        patiently,
        place,
        refusal_of,
        replace,
        sync_folder,
        unlock,
    )

__all__ = [
    "AS_IT_IS",
    "AT_ONCE",
    "fill",
    "is_ours",
    "lock",
    "open_to",
    "patiently",
    "place",
    "refusal_of",
    "replace",
    "sync_folder",
    "unlock",
]
