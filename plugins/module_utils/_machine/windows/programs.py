# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of Windows that are asked something, or have something to do, and answer at once.

Private to this collection.
"""

import os
import subprocess
from typing import List, Mapping, NamedTuple, Optional

from ..._steps.step_type import MOST
from ..._text import one_line
from ..step_runner import RunnerFailed

_NO_WINDOW = 0x8000000


class Answer(NamedTuple):
    code: int
    text: str  # what it wrote, errors among it


def ask(argv: List[str], within: float, environment: Optional[Mapping[str, str]] = None) -> Answer:
    """Run it to its end.

    :arg within: seconds
    :arg environment: variables in addition
    :raises RunnerFailed: when it can't be run, or does not end in time
    """
    name = os.path.basename(argv[0])
    flags = _NO_WINDOW if os.name == "nt" else 0
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, **(environment or {})),
            creationflags=flags,
        )
    except OSError as error:
        raise RunnerFailed(f"{argv[0]} can't be run: {one_line(error.strerror or error)}") from error
    with process:
        try:
            said = process.communicate(timeout=within)[0]
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise RunnerFailed(f"{name} did not answer within {within:g} s") from error
    return Answer(process.returncode, _text(said))


def words_of(answer: Answer) -> str:
    """Its last words, for people."""
    return one_line(answer.text, MOST) or "it said nothing"


def _text(said: bytes) -> str:
    for encoding in ("utf-8", "oem"):  # Windows' own programs write in the code page of consoles
        try:
            return said.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return said.decode("utf-8", "replace")
