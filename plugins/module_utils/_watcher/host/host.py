# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the systems that the watcher runs on, as far as people see it: where its files are, which services it has, and
which commands its messages advise. ``linux_host.py`` and ``windows_host.py`` have the values, ``this_host.py`` those of the system at hand.

Private to this collection.
"""

import ntpath
import posixpath
from typing import Callable, NamedTuple, Tuple

Command = Callable[..., str]
"""A command for people, about a service (by default the watcher's), or about a file or folder."""


def command(words: str) -> Command:
    """:arg words: with ``{0}`` where the name goes"""
    return lambda name="azure-maintenance": words.format(name)


class Service(NamedTuple):
    """One of the services on a machine."""

    name: str  # as commands name it
    account: str  # that it runs as
    word: str  # of the program's, which it is begun with


class Host(NamedTuple):
    """One system."""

    name: str  # as reports say it
    watcher: Service
    reports: Service  # sends them, and runs the notify hooks
    health: Service  # answers load balancers and Prometheus
    health_units: str  # all that has to run for the health endpoint
    settings: str  # path of the watcher's settings
    state: str  # folder of its state
    run_folder: str  # folder of what must not outlive a boot
    hooks_folder: str
    command: str  # path of the command azure-maintenance
    path: str  # where programs of steps and hooks are looked for
    has_drives: bool  # whether a path begins with a drive, and its parts are separated by \\
    hook_endings: Tuple[str, ...]  # of hooks' names, one of which is needed; () where any will do
    admin: str  # who may do everything: "root"
    run_as_admin: str  # how a command is run again as that: "run it again with sudo"
    start: Command
    restart: Command
    status: Command
    enable: Command  # has a service start with the machine
    log: Command  # shows a service's log
    log_end: Command  # shows its last lines
    others_log: Command  # shows the log of a service beside the watcher
    close: Command  # leaves writing to the administrator alone
    close_private: Command  # leaves a folder, reading it too, to the administrator alone
    private_file_advice: str  # how a secret file is to be
    close_folder: Command  # the same for the folder of the state
    room: Command  # shows what room is left
    look: Command  # shows who may do what with a file
    clock_advice: str  # what sets the clock
    firewall_advice: str  # what shows whether a firewall keeps requests back

    def is_whole_path(self, path: str) -> bool:
        """Whether a path leads to the same file from everywhere."""
        if self.has_drives:  # not those of other machines: they are not there when the network is not
            return ntpath.splitdrive(path)[0][1:] == ":" and ntpath.isabs(path)
        return posixpath.isabs(path)

    def without_end(self, path: str) -> str:
        """A path without what separates it from a name that may follow."""
        if self.has_drives:
            return path.rstrip("\\/") if len(path) > len("C:\\") else path
        return path.rstrip("/") or "/"

    def joined(self, folder: str, name: str) -> str:
        return str((ntpath if self.has_drives else posixpath).join(folder, name))
