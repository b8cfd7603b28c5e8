# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why nothing came back from a machine, in a sentence.

Private to this collection.
"""

from __future__ import annotations

import re

from ...module_utils._text import last_line, one_line, shortened

# Signs of a problem in what was said, and the sentence for it. The first one that is found holds.
_PROBLEMS = tuple(
    (re.compile(signs, re.IGNORECASE), sentence)
    for signs, sentence in (
        (
            r"password is required|missing \w+ password|(terminal|tty) is required|you must have a tty|no tty present|"
            r"run from a terminal",
            "sudo wants a password there, or a terminal: give it one (ansible_become_password), or let the user run "
            "sudo without.",
        ),
        (r"incorrect \w+ password|sorry, try again", "sudo refused the password (ansible_become_password)."),
        (
            r"not in the sudoers file|not allowed to (execute|run)",
            "sudo does not let the user become another one there.",
        ),
        (r"no space left on device|disk quota exceeded", "There is no room left on its disk."),
        (r"read-only file system", "Its disk is read-only."),
        (
            r"unknown option: -I|invalid syntax|no module named '?(runpy|http\.client)",
            "Its Python is too old or not whole: Python 3.6 or newer is needed (ansible_python_interpreter).",
        ),
        (
            r"does not support optimized module pipelining",
            "Its connection can't send what the program reads: use another one, such as ssh (ansible_connection).",
        ),
        (r"cannot allocate memory|memoryerror", "It has no memory left to start a program."),
    )
)
# What ssh says where it had not come as far as to run anything.
_NOT_REACHED = re.compile(
    r"ssh: connect to host|could not resolve hostname|host key verification failed|permission denied \(", re.IGNORECASE
)
_PREFIXES = re.compile(
    r"^((Task failed|Failed to connect to the host via \w+|Data could not be sent to remote host \S+ "
    r"Make sure this host can be reached over ssh):\s*)+"
)


def too_slow(seconds: float) -> str:
    return f"It gave no answer within {seconds:g} s, and the call was ended: the machine or the network to it hangs."


def unreachable(message: str) -> str:
    """:arg message: what Ansible's connection said"""
    return _known(message) or f"It could not be reached: {_said(message) or 'the connection did not say why'}."


def is_unsent(message: str) -> bool:
    """Whether the machine has certainly got nothing of the call.

    :arg message: what Ansible's connection said
    """
    return bool(_NOT_REACHED.search(message))


def not_put(reason: str) -> str:
    """:arg reason: where the program was to be put, and why it could not"""
    return f"The program of this collection could not be put there ({one_line(reason, 300)}). {_known(reason)}".strip()


def unusable(why: str) -> str:
    """:arg why: what of the answer does not fit, or that it is too large"""
    return f"Its answer can't be used: {why}."


def no_answer(interpreter: str, status: int, stdout: str, stderr: str) -> str:
    """What the program's end says that came without its answer.

    :arg interpreter: the Python that was to run it
    """
    if status in (126, 127):
        return (
            f"There is no Python at {interpreter} ({_said(last_line(stderr)) or 'the shell did not say why'}): set "
            "ansible_python_interpreter, or install it."
        )
    known = _known(stderr) or _known(stdout)
    if known:
        return known
    number = status - 128 if status > 128 else -status
    if number in (6, 9, 11, 15):
        return f"The program was killed there by signal {number}: see the machine's log; it may have no memory left."
    said = _said(last_line(stderr) or last_line(stdout))
    return f"The program ended there without an answer, with status {status}" + (f": {said}." if said else ".")


def _known(text: str) -> str:
    return next((sentence for signs, sentence in _PROBLEMS if signs.search(text)), "")


def _said(text: str) -> str:
    return shortened(_PREFIXES.sub("", one_line(text, 10000)).rstrip(". "), 200)
