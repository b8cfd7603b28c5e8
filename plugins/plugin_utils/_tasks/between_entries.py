# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What outlives a return of the action while Ansible goes through the user's own task files: the state of the run, in a file that nobody else can
read; what the tasks have to know; and what they have noted.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ansible import constants

from ...module_utils._steps.step_type import Step
from .._ansible import plain
from .._drain import orders, own_tasks


class Answer(NamedTuple):
    """What a machine answered, and the rounds of what others did for it."""

    came: dict[str, Any]
    rounds: list[dict[str, Any]]

    def whole(
        self, steps: Sequence[Step], jobs: Mapping[str, Any], may_run: bool, failure: own_tasks.Failure | None
    ) -> dict[str, Any]:
        """The answer with what others have done, and what came of the user's own task file.

        :arg steps: of the host's plan
        :arg jobs: what others have gone about, by attempt
        :arg may_run: whether there was the time for such a file
        """
        if self.came.get("lost") or not (self.rounds or self.came.get("elsewhere")):
            return self.came
        own = own_tasks.came(self.came, steps, jobs, may_run, failure)
        return orders.with_others(self.came, steps, self.rounds, own, jobs)

    def own_file(self, steps: Sequence[Step], jobs: Mapping[str, Any], may_run: bool) -> str:
        """The user's own task file that is due; "" for none."""
        if self.came.get("lost") or not self.came.get("elsewhere"):
            return ""
        return own_tasks.file(self.came, steps, jobs, may_run)


def wanted(file: str, answer: Answer) -> dict[str, Any]:
    """What the tasks have to know of a host: its ``file``, the ``seconds`` that it may take, and ``until`` when, as Unix time: the tasks of the
    file have no other clock."""
    seconds = float(answer.came["elsewhere"]["left"])
    return {"file": file, "seconds": seconds, "until": time.time() + seconds}


class Kept(NamedTuple):
    """With what a run goes on after the files.

    :attr data: what it has kept
    :attr answers: of the machines, by host
    :attr failures: that a task of a host's file failed
    :attr left: the hosts that are in the play no more; Ansible's own list lacks those, too, whose file could not be read
    """

    data: dict[str, Any]
    answers: dict[str, Answer]
    failures: dict[str, own_tasks.Failure]
    left: list[str]


def returned(
    run: str,
    own: Mapping[str, Mapping[str, Any]],
    data: Mapping[str, Any],
    answers: Mapping[str, Answer],
    left: Collection[str],
) -> dict[str, Any]:
    """What the task returns that goes on after the files.

    :arg run: its name
    :arg own: what the tasks have to know, by host
    """
    # In Ansible's own temporary folder of this playbook, which it removes at the end
    path = os.path.join(constants.DEFAULT_LOCAL_TMP, f"azure-maintenance-{run}.json")
    all_of_it = {"data": data, "answers": {host: list(one) for host, one in answers.items()}, "left": list(left)}
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(all_of_it, file, default=str)
    return {"finished": False, "own": own, "state": path, "entry": secrets.token_hex(4)}


def kept(task_vars: Mapping[str, Any], before: Mapping[str, Any]) -> Kept:
    """It is kept no longer.

    :arg before: what the task has returned
    """
    with open(before["state"], encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    with contextlib.suppress(OSError):
        os.unlink(before["state"])
    ended = {host: _ended(task_vars, host, before["entry"]) for host in before["own"]}
    failures: dict[str, own_tasks.Failure] = {
        # A template that nobody has evaluated is taken for a yes.
        host: {"result": one["result"], "secret": one["secret"] is not False}
        for host, one in ended.items()
        if "result" in one
    }
    answers = {host: Answer(*answer) for host, answer in found["answers"].items()}
    left = found["left"] + [host for host, one in ended.items() if not one]
    return Kept(found["data"], answers, failures, left)


def _ended(task_vars: Mapping[str, Any], host: str, entry: str) -> dict[str, Any]:
    """What the tasks have noted at the end of a host's file; empty where they did not come to it."""
    noted: dict[str, Any] = plain(task_vars["hostvars"].raw_get(host).get("__drain_ended") or {})
    return noted if noted.get("entry") == entry else {}
