# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``service`` on this machine, by systemctl.

Private to this collection.
"""

import subprocess
from typing import Any, Dict

from ..._steps.outcome import exit_words
from ..._steps.step_type import MOST, Step
from ..._text import one_line
from ..hand import DONE, FAILED, Case, HandFailed, Piece, Progress
from ..job_hand import JobHand
from ..keeper import Work
from ..own_processes import become

ANSWERS_WITHIN = 3.0
"""Seconds that systemctl has to say how a service is."""

_NO_SYSTEMCTL = "this machine has no systemctl: step service needs systemd"


class ServiceHand(JobHand):
    """Stops a service, and starts it again."""

    def before(self, step: Step) -> Case:
        service = step["service"]
        said = _shown(service)
        if said.get("LoadState") == "not-found":
            raise HandFailed(f"this machine has no service {service}")
        return {"ran": said.get("ActiveState") in ("active", "activating", "reloading", "refreshing")}

    def work(self, piece: Piece) -> Work:
        verb = "stop" if piece.direction == "do" else "start"

        def run() -> Dict[str, Any]:
            try:
                become(["systemctl", verb, "--", piece.step["service"]])
            except FileNotFoundError as error:
                raise HandFailed(_NO_SYSTEMCTL) from error

        return run

    def judged(self, piece: Piece, result: Dict[str, Any]) -> Progress:
        if result["rc"] == 0:
            return Progress(DONE)
        # All of its lines: the last one only says where to read more.
        words = one_line(result["stderr"] or result["stdout"], MOST)
        return Progress(FAILED, exit_words({"rc": result["rc"], "msg": words}))


def _shown(service: str) -> Dict[str, str]:
    """What systemd says of a service."""
    command = ["systemctl", "show", "--property=LoadState,ActiveState", "--", service]
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except FileNotFoundError as error:
        raise HandFailed(_NO_SYSTEMCTL) from error
    with process:
        try:
            said = process.communicate(timeout=ANSWERS_WITHIN)[0]
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise HandFailed(f"systemctl did not say within {ANSWERS_WITHIN:g} s how service {service} is") from error
    output = said.decode("utf-8", "replace")
    if process.returncode:
        words = exit_words({"rc": process.returncode, "stdout": output})
        raise HandFailed(f"systemctl could not say how service {service} is: {words}")
    return dict(line.partition("=")[::2] for line in output.splitlines())
