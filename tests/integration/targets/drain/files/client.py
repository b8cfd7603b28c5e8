# SPDX-License-Identifier: GPL-3.0-or-later
"""One request: GET, or POST after some seconds when these are given. `client.py URL [SECONDS]`"""

import sys
import time
import urllib.request

if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))
with urllib.request.urlopen(sys.argv[1], data=b"" if len(sys.argv) > 2 else None, timeout=120) as answer:
    answer.read()
