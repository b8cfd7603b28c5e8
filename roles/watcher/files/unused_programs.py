# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions of the program lie in a folder that no process runs any more, as a line of JSON. Removes nothing.

python -I -c PROGRAM FOLDER KEEP    KEEP is the version that stays

A hook that a former version has begun is watched by it until the hook ends: without its file its next import would fail.
"""

import glob
import json
import os
import sys

folder, keep = sys.argv[1:3]
used = set()
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(path, "rb") as words:
            used.update(words.read().split(b"\0"))
    except OSError:  # it has ended
        pass
found = sorted(glob.glob(os.path.join(folder, "*.pyz")))
print(json.dumps([path for path in found if path != keep and os.fsencode(path) not in used]))
