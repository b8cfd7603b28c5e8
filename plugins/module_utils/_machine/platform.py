# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this system has its own way for with files, users and processes; what each function means stands in posix.py.

Private to this collection.
"""

import sys

if sys.platform == "win32":
    from .windows import platform as native
else:
    from . import posix as native

__all__ = ["native"]
