# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine is one that the watcher can run on: what the machine says in, what speaks against it out. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils._text import listed, one_line
from .windows_python import OLDEST as OLDEST_PYTHON_OF_WINDOWS

OLDEST_PYTHON = (3, 6)
OLDEST_SYSTEMD = 239
_ADMINISTRATORS = "S-1-5-32-544"
_ENABLED = "Enabled"  # a group that gives its rights: without it they have to be asked for, by "Run as administrator"
_MACHINES_OF_THEIR_OWN = ("systemd-nspawn",)  # has a systemd of its own, and stands for a machine in tests


def refusals(
    host: str, options: Mapping[str, Any], probed: Mapping[str, Any], answer: Mapping[str, Any] | None
) -> list[str]:
    """What speaks against it, a sentence each.

    :arg options: ``windows``, ``systemd``, ``image``, ``python``, ``users``, ``health``
    :arg probed: what ``roles/watcher/files/probe.py`` has found; of a Windows machine ``user`` as win_whoami returns it, and ``python``, what
        ``probe_windows.py`` has found; None where there is none yet
    :arg answer: of the action ``machine`` to the requests hello and ready; None for images, which need not be in Azure
    """
    system = _windows if options.get("windows") else _system
    return [f"{host} {words}" for words in (*system(options, probed), *_azure(probed, answer))]


def _system(options: Mapping[str, Any], probed: Mapping[str, Any]) -> Iterator[str]:
    if tuple(probed["python"][:2]) < OLDEST_PYTHON:
        yield (
            f"would run it with Python {'.'.join(map(str, probed['python'][:2]))} ({options['python']}), and it needs 3.6 or later: "
            "say where there is one, with watcher_python"
        )
    if not options["systemd"]:
        if options["health"]:
            yield "can't answer load balancers (watcher_health) without systemd, which holds its addresses: set watcher_systemd to true"
        if options["image"]:
            yield "can't have it in an image as a plain process: set watcher_systemd to true, or watcher_image to false"
        return
    if options["python"].startswith(("/home/", "/root/")):
        yield f"would run it with {options['python']}, which its sandbox hides: say another Python with watcher_python"
    if probed["uid"] != 0:
        yield f"is spoken to as user number {probed['uid']}, and only root installs a service: set become to true"
    if probed["container"] and probed["container"] not in _MACHINES_OF_THEIR_OWN:
        yield (
            f"is a container ({one_line(probed['container'], 40)}): maintenance comes over the machine that it runs on, so the watcher "
            "belongs there. For AKS use what AKS has"
        )
    elif not probed["systemd"]:
        yield "has no systemd, and the watcher is a service of it"
    elif probed["systemd"] < OLDEST_SYSTEMD:
        yield f"has systemd {probed['systemd']}, and the watcher needs {OLDEST_SYSTEMD} or later"
    if probed["no_users"]:
        yield f"has no user {listed(probed['no_users'])}, as which hooks are to run (watcher_hooks, user)"


def _windows(options: Mapping[str, Any], probed: Mapping[str, Any]) -> Iterator[str]:
    if not options["systemd"]:
        yield "can have it as a service only: set watcher_systemd to true"
    user = probed["user"]
    if not any(group["sid"] == _ADMINISTRATORS and _ENABLED in group["attributes"] for group in user["groups"]):
        name = one_line(user["account"]["account_name"], 100)
        yield f"is spoken to as {name}, who is no administrator there, or has a token without an administrator's rights"
    python = probed["python"]
    if not python:
        return
    if tuple(python["version"][:2]) < OLDEST_PYTHON_OF_WINDOWS:
        yield (
            f"would run it with Python {'.'.join(map(str, python['version'][:2]))} ({options['python']}), and it needs 3.11 or later: "
            "name another one with watcher_python, or bring one with watcher_python_zip"
        )
    if python["is_virtual"]:
        yield (
            f"would run it with {options['python']}, which is of a virtual environment and begins another Python: name the one that it was "
            "made from with watcher_python"
        )
    if python["is_32_bit"]:
        yield (
            f"would run it with a 32-bit Python ({options['python']}), which Windows shows another registry and another System32: name a 64-bit "
            "one with watcher_python, or bring one with watcher_python_zip"
        )


def _azure(probed: Mapping[str, Any], answer: Mapping[str, Any] | None) -> Iterator[str]:
    if answer is None:
        return
    if answer.get("lost"):
        yield f"could not be asked for its metadata service: {answer['lost']}"
        return
    hello, ready = answer["answers"]
    if hello["problem"] or not hello["resource_name"] or not hello["vm_id"]:
        yield _not_azure(str(hello["problem"] or "it gives no name or no vmId"), probed)
        return
    if (answer.get("mark") or {}).get("unreadable"):
        yield f"has an unreadable mark: {answer['mark']['unreadable']}"
    elif ready["mark"]:
        yield f"could not be marked as out of service: {ready['mark']}"
    for key, why in (ready["lacks"] or {}).items():
        yield f"can't do the step {key}: {why}"


def _not_azure(problem: str, probed: Mapping[str, Any]) -> str:
    if probed.get("arc"):
        return (
            "is a machine that Azure Arc manages, not a virtual machine of Azure: its hardware is not Azure's, and no maintenance of it is "
            f"announced. ({problem})"
        )
    return f"is no virtual machine of Azure, as far as can be seen from it: {problem} For an image set watcher_image to true"
