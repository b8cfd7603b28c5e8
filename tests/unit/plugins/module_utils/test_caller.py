# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real process whose parent, or whose parent's parent, is killed; and one whose result nobody reads any more."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils import _caller

LINUX = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux tells who an ancestor's parent is")

# Says its own number, and then, once told to go on, whether its caller is gone.
CHILD = """
import os, sys
sys.path[:0] = {path!r}
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._caller import Caller
caller = Caller({output})
print(os.getpid(), caller.is_gone(), file=sys.stderr, flush=True)
sys.stdin.read()
print(caller.is_gone(), file=sys.stderr, flush=True)
"""


# Starts what it is given as the leader of a session or of a process group, and waits for it.
LEADER = """
import os, subprocess, sys
begin = os.setsid if sys.argv[1] == "session" else lambda: os.setpgid(0, 0)
sys.exit(subprocess.call(sys.argv[2:], preexec_fn=begin))
"""


class Chain:
    """Shells that lead to a child, all of which wait for it.

    :arg leading: what the last shell leads, a session or the process group of a job; None for neither
    """

    def __init__(self, shells, output, leading=None):
        script = CHILD.format(path=[path for path in sys.path if path], output=output)
        command = [sys.executable, "-c", script]
        for position in range(shells):
            # the last words keep a shell from becoming what it starts
            command = ["sh", "-c", 'echo $$ >&2; "$@"; exit 0', "sh"] + command
            if leading and position == 0:
                command = [sys.executable, "-c", LEADER, leading] + command
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
        )
        self.shells = [int(self.process.stderr.readline()) for _each in range(shells)]
        pid, gone = self.process.stderr.readline().split()
        assert gone == "False"
        self.child = int(pid)

    def kill(self, position):
        os.kill(self.shells[position], signal.SIGKILL)
        while (
            self._parent(self.shells[position + 1] if position + 1 < len(self.shells) else self.child)
            == self.shells[position]
        ):
            time.sleep(0.01)

    def is_gone(self):
        """What the child says in the end."""
        self.process.stdin.close()
        # A shell whose child was killed has something to say as well.
        return next(line.strip() for line in self.process.stderr if line.strip() in ("True", "False"))

    @staticmethod
    def _parent(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        self.process.wait()


@pytest.mark.parametrize("output", [1, None])
def test_a_caller_who_waits_is_not_gone(output):
    with Chain(2, output) as chain:
        assert chain.is_gone() == "False"


@LINUX
@pytest.mark.parametrize("shells, killed", [(1, 0), (2, 1), (2, 0), (3, 0)])
def test_a_caller_who_was_killed_is_gone(shells, killed):
    with Chain(shells, None) as chain:
        chain.kill(killed)
        assert chain.is_gone() == "True"


@LINUX
@pytest.mark.parametrize("leading", ["session", "group"])
def test_whoever_is_further_up_than_the_run_may_go(leading):
    """Such as sshd, when it is restarted under an open connection, or the shell that a run was begun from with nohup."""
    with Chain(3, None, leading) as chain:
        os.kill(chain.shells[0], signal.SIGKILL)
        chain.process.wait()
        assert chain.is_gone() == "False"


@LINUX
def test_whoever_opened_the_session_may_not_go():
    """The sshd of the connection, or the worker's Ansible."""
    with Chain(1, None, "session") as chain:
        chain.process.kill()  # it opened it
        chain.process.wait()
        assert chain.is_gone() == "True"


@pytest.mark.parametrize("output, gone", [(1, "True"), (None, "False")])
def test_a_caller_who_closed_the_pipe_is_gone(output, gone):
    with Chain(1, output) as chain:
        chain.process.stdout.close()
        assert chain.is_gone() == gone


def test_where_ancestors_can_not_be_seen_there_is_the_parent(monkeypatch):
    def unreadable(*_arguments):
        raise PermissionError()

    monkeypatch.setattr(_caller, "open", unreadable, raising=False)
    caller = _caller.Caller()
    assert not caller.is_gone()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert caller.is_gone()


def test_an_output_that_is_closed_or_a_file_tells_nothing(tmp_path):
    with open(tmp_path / "result", "wb") as file:
        caller = _caller.Caller(file.fileno())
        assert not caller.is_gone()
    assert not caller.is_gone()
