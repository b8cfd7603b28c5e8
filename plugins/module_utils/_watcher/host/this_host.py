# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The system that this program runs on, as its messages speak of it.

Private to this collection.
"""

import sys

from .host import Host

if sys.platform == "win32":
    from .windows_host import WINDOWS as _FOUND
else:
    from .linux_host import LINUX as _FOUND

HOST: Host = _FOUND
