# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that say to others on this machine whether it is in service, and that go with a boot.

Private to this collection.

::

    in-service      there while the machine is in service, and empty: for the checks of a web server, a load balancer's agent, a script
    out-of-service  there while it is not, with a line that says why: the health endpoint shows it
"""

import contextlib
import os
from typing import Any, Mapping, Optional

from ..._machine.platform import native
from ..health.state_files import OUT_OF_SERVICE

IN_SERVICE = "in-service"


class ServiceFlag:
    """:arg folder: that everybody may look into

    problem: why they could not be written the last time
    """

    def __init__(self, folder: str) -> None:
        self._in = os.path.join(folder, IN_SERVICE)
        self._out = os.path.join(folder, OUT_OF_SERVICE)
        self._line: Optional[str] = None
        self.problem = ""

    def lower(self) -> None:
        """The machine is about to be taken out of service: before anything is changed nobody may count on it any more."""
        with contextlib.suppress(OSError):
            os.unlink(self._in)

    def follow(self, mark: Optional[Mapping[str, Any]], unreadable: str) -> None:
        """Have the files as the mark is.

        :arg unreadable: why the mark that is there can't be read
        """
        line = f"{mark['phase']}, since {mark['since']}" if mark else "its mark can't be read" if unreadable else ""
        try:
            if line:
                self.lower()
                if line != self._line:
                    self._write(self._out, line + "\n")
            elif self._line != "" or not os.path.exists(self._in):
                self._write(self._in, "")
                _remove(self._out)
        except FileNotFoundError:  # the folder is not there (yet), so nobody looks into it
            self._line = None
        except OSError as error:
            self._line, self.problem = None, f"{self._in} can't be written: {error.strerror}"
        else:
            self._line, self.problem = line, ""

    def _write(self, path: str, text: str) -> None:
        temporary = f"{path}.new"
        with open(temporary, "w", encoding="ascii", errors="replace") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # whatever the unit's umask is
        native.replace(temporary, path)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
