# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher has to know of a Python on a Windows machine, as a line of JSON. Changes nothing.

python.exe -I -S -c PROBE
"""

import json
import sys

found = {
    "version": list(sys.version_info[:3]),
    "is_virtual": sys.prefix != sys.base_prefix,
    "is_32_bit": sys.maxsize < 2**32,
}
print(json.dumps(found))
