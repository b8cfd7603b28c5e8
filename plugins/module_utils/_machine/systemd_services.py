# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services of systemd: how one is, and the drop-in that keeps one from starting while the machine is marked.

Private to this collection.

A boot would start a service that is enabled, before anybody recovers the machine. The drop-in is on the disk, as a boot empties /run.
One that is left behind, because somebody removed the mark by hand, does nothing until there is a mark again.
"""

import contextlib
import os
from typing import Dict, List, Optional

from .._steps.step_type import exit_words
from . import files
from .step_runner import RunnerFailed

ANSWERS_WITHIN = 3.0
"""Seconds that systemctl has to say how a service is."""

NO_SYSTEMCTL = "this machine has no systemctl: step service needs systemd"

UNITS = "/etc/systemd/system"
DROP_IN = "azure-maintenance.conf"

_AT_BOOT = ("enabled", "generated")
"""What the file of a unit is called that a boot starts. Those of init scripts and of containers (Quadlet) are generated."""

_TEXT = """# Made by step service of cloudops.azure_maintenance, which removes it: the service does not start while the machine is marked.
[Unit]
ConditionPathExists=!{mark}
"""


def shown(service: str) -> Dict[str, str]:
    """What systemd says of a service."""
    command = ["show", "--property=Id,LoadState,ActiveState,UnitFileState,NeedDaemonReload", "--", service]
    output = _said(command, f"say how service {service} is", ANSWERS_WITHIN)
    return dict(line.partition("=")[::2] for line in output.splitlines())


def starts_at_boot(said: Dict[str, str]) -> bool:
    return said.get("UnitFileState") in _AT_BOOT


def refusal() -> Optional[OSError]:
    """Why there can be no drop-in, as far as can be seen; None when nothing speaks against it."""
    number = files.refusal(UNITS, len(_TEXT))
    return OSError(number, os.strerror(number)) if number else None


def keep_stopped(service: str, mark: str) -> None:
    """From now on systemd does not start it while there is a file of this name.

    :raises OSError: when the drop-in can't be written
    """
    path = _drop_in(shown(service))
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o755)
        files.sync_folder_of(folder)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(_TEXT.format(mark=mark.replace("%", "%%")))
        file.flush()
        os.fsync(file.fileno())  # the event may cut off the machine's power
    os.chmod(f"{path}.new", 0o644)
    os.replace(f"{path}.new", path)
    files.sync_folder_of(path)
    _said(["daemon-reload"], "read the units anew")


def let_start(service: str) -> None:
    """End that."""
    said = shown(service)
    path = _drop_in(said)
    is_there = os.path.exists(path)
    if is_there:
        files.remove(path)
        with contextlib.suppress(OSError):  # there may be others' files in it
            os.rmdir(os.path.dirname(path))
    if is_there or said.get("NeedDaemonReload") == "yes":  # an attempt before this one may have been cut off here
        _said(["daemon-reload"], "read the units anew")


def _drop_in(said: Dict[str, str]) -> str:
    return os.path.join(UNITS, f"{said['Id']}.d", DROP_IN)


def _said(words: List[str], what: str, within: Optional[float] = None) -> str:
    """What systemctl says.

    :arg what: it is to do, for people
    :raises RunnerFailed: when it does not do that
    """
    import subprocess  # which other steps do without

    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            ["systemctl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except FileNotFoundError as error:
        raise RunnerFailed(NO_SYSTEMCTL) from error
    with process:
        try:
            said = process.communicate(timeout=within)[0]
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise RunnerFailed(f"systemctl did not {what} within {within:g} s") from error
    output = said.decode("utf-8", "replace")
    if process.returncode:
        words_of_it = exit_words({"rc": process.returncode, "stdout": output})
        raise RunnerFailed(f"systemctl could not {what}: {words_of_it}")
    return output
