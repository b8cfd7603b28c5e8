# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why nothing came back: the sentence for what connections, shells and sudo say."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import lost


@pytest.mark.parametrize(
    "message, sentence",
    [
        (
            "Failed to connect to the host via ssh: ssh: connect to host web1 port 22: Connection refused\r\n",
            "It could not be reached: ssh: connect to host web1 port 22: Connection refused.",
        ),
        (
            'Data could not be sent to remote host "10.77.0.11". Make sure this host can be reached over ssh: '
            "ssh: connect to host 10.77.0.11 port 22: No route to host\r\n",
            "It could not be reached: ssh: connect to host 10.77.0.11 port 22: No route to host.",
        ),
        (
            "Task failed: Missing sudo password",
            "sudo wants a password there, or a terminal: give it one (ansible_become_password), or let the user run "
            "sudo without.",
        ),
        (
            "Internal Error: this module does not support optimized module pipelining",
            "Its connection can't send what the program reads: use another one, such as ssh (ansible_connection).",
        ),
        ("Incorrect sudo password", "sudo refused the password (ansible_become_password)."),
        ("Failed to connect to the host via ssh: ", "It could not be reached: the connection did not say why."),
        ("Failed to connect to the host via ssh: \x1b[31mred", "It could not be reached: [31mred."),
    ],
)
def test_what_a_connection_says(message, sentence):
    assert lost.unreachable(message) == sentence


@pytest.mark.parametrize(
    "message, unsent",
    [
        ("Failed to connect to the host via ssh: ssh: connect to host web1 port 22: Connection refused", True),
        ("Failed to connect to the host via ssh: ops@web1: Permission denied (publickey,password).", True),
        ("Failed to connect to the host via ssh: Shared connection to web1 closed.", False),
        (
            "Failed to connect to the host via ssh: mux_client_request_session: read from master failed: Broken pipe",
            False,
        ),
        ("No route to host", False),
    ],
)
def test_when_nothing_of_a_call_has_arrived(message, unsent):
    assert lost.is_unsent(message) is unsent


@pytest.mark.parametrize(
    "status, stdout, stderr, sentence",
    [
        (
            127,
            "",
            "/bin/sh: 1: /usr/bin/python9: not found\n",
            "There is no Python at PYTHON (/bin/sh: 1: /usr/bin/python9: not found): set ansible_python_interpreter, or "
            "install it.",
        ),
        (
            126,
            "",
            "",
            "There is no Python at PYTHON (the shell did not say why): set ansible_python_interpreter, or install it.",
        ),
        (1, "", "sudo: a password is required\n", "sudo wants a password there, or a terminal"),
        (1, "", "sudo: sorry, you must have a tty to run sudo\n", "sudo wants a password there, or a terminal"),
        (1, "", "ops is not in the sudoers file.  This incident will be reported.\n", "sudo does not let the user"),
        (2, "", "Unknown option: -I\nusage: python\n", "Its Python is too old or not whole: Python 3.6"),
        (1, "", "Traceback ...\nOSError: [Errno 28] No space left on device\n", "There is no room left on its disk."),
        (
            1,
            "",
            "Traceback ...\nKeyError: 'x'\n",
            "The program ended there without an answer, with status 1: KeyError: 'x'.",
        ),
        (3, "This account is closed.\n", "", "with status 3: This account is closed."),
        (0, "", "", "The program ended there without an answer, with status 0."),
        (137, "", "Killed\n", "The program was killed there by signal 9"),
        (-9, "", "", "The program was killed there by signal 9"),
    ],
)
def test_what_the_end_of_the_program_says(status, stdout, stderr, sentence):
    assert sentence in lost.no_answer("PYTHON", status, stdout, stderr)


def test_what_kept_the_program_from_being_put_there():
    said = lost.not_put("/root/x: No space left on device; /dev/shm/x: Permission denied")
    assert said == (
        "The program of this collection could not be put there (/root/x: No space left on device; /dev/shm/x: Permission "
        "denied). There is no room left on its disk."
    )
    assert lost.not_put("/root/x: Not a directory").endswith("(/root/x: Not a directory).")
