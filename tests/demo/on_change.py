# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the emulator has done to the "machines" when an event starts: a reboot or redeploy kills the process, a freeze stops it
for a while.

python on_change.py FOLDER      (FOLDER/NAME/pid is the process of machine NAME)
"""

import os
import pathlib
import signal
import sys
import time

FROZEN = 2.0  # seconds


def main(folder: pathlib.Path) -> None:
    if os.environ["AZURE_EMULATOR_CHANGE"] != "started":
        return
    for name in os.environ["AZURE_EMULATOR_RESOURCES"].split():
        pid = int((folder / name / "pid").read_text())
        if os.environ["AZURE_EMULATOR_EVENT_TYPE"] in ("Reboot", "Redeploy"):
            os.kill(pid, signal.SIGKILL)
        elif os.environ["AZURE_EMULATOR_EVENT_TYPE"] == "Freeze":
            os.kill(pid, signal.SIGSTOP)
            time.sleep(FROZEN)
            os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
