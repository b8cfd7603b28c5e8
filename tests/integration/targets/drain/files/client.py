# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request: GET, or POST after some seconds when these are given. `client.py URL [SECONDS]`"""

import sys
import time
import urllib.request

if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))
with urllib.request.urlopen(sys.argv[1], data=b"" if len(sys.argv) > 2 else None, timeout=900) as answer:
    answer.read()
