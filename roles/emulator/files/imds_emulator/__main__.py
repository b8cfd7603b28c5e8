# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 FOLDER, python3 -m imds_emulator."""

import os
import sys

if not __package__:  # started as a folder: the package is the folder itself
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from imds_emulator.cli import main  # noqa: E402  pylint: disable=wrong-import-position

if __name__ == "__main__":
    sys.exit(main())
