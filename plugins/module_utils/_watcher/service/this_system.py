# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The system at hand, as the watcher's service needs it; what each function means stands in linux_system.py.

Private to this collection.
"""

import sys

if sys.platform == "win32":
    from . import windows_system as here
else:
    from . import linux_system as here

__all__ = ["here"]
