# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may keep the program or hooks from being run, without a word in their own logs: fapolicyd, and labels of SELinux.

Private to this collection.
"""

import hashlib
import os
from typing import Callable, Dict, List, Sequence, Tuple

from ..._text import listed, one_line
from .asking import Said
from .finding import OK, WARN, Finding

Ask = Callable[..., Said]
ENFORCE = "/sys/fs/selinux/enforce"
DUMP_WITHIN = 20.0
"""Seconds: a database of trust has a line for each file of each package."""


def look(ask: Ask, files: Sequence[str], enforce: str = ENFORCE) -> List[Finding]:
    """:arg files: the program, its command, the hooks; those that are not there don't count"""
    there = [path for path in files if os.path.isfile(path)]
    return [*fapolicyd(ask, there), *labels(ask, there, enforce)]


def fapolicyd(ask: Ask, files: Sequence[str]) -> List[Finding]:
    """Whether it trusts the files as they are: it knows them by size and content, so a new version is another file to it."""
    if ask(["systemctl", "is-active", "fapolicyd.service"]).text.strip() != "active":
        return []
    said = ask(["fapolicyd-cli", "--dump-db"], DUMP_WITHIN)
    if said.code != 0:
        words = "it runs programs only that it trusts, and does not say which: fapolicyd-cli --dump-db can't be asked"
        return [Finding(WARN, "fapolicyd", words, _trust(files))]
    known = _known(said.text)
    lacking = [path for path in files if _as_it_is(path) not in known.get(path, ())]
    if lacking:
        words = f"it does not trust these as they are, and may keep them from being run: {_named(lacking)}"
        return [Finding(WARN, "fapolicyd", words, _trust(lacking))]
    return [Finding(OK, "fapolicyd", f"it trusts {listed(map(one_line, files), 3)}")]


def _known(dump: str) -> Dict[str, List[Tuple[str, str]]]:
    """Sizes and digests by path. Lines end in path, size and SHA-256; some versions have the kind of trust before that."""
    found: Dict[str, List[Tuple[str, str]]] = {}
    for line in dump.splitlines():
        words = line.split()
        if len(words) >= 3:
            found.setdefault(words[-3], []).append((words[-2], words[-1]))
    return found


def _as_it_is(path: str) -> Tuple[str, str]:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return ("", "")
    return (str(len(content)), hashlib.sha256(content).hexdigest())


def _trust(files: Sequence[str]) -> str:
    adds = " && ".join(
        f"fapolicyd-cli --file add {one_line(path)} --trust-file azure-maintenance" for path in files[:3]
    )
    more = "; the same for the others" if len(files) > 3 else ""
    return (
        f"{adds} && fapolicyd-cli --update{more}. A file that is trusted already and has changed: --file update. "
        "What was refused: ausearch --start today -m fanotify -i"
    )


def labels(ask: Ask, files: Sequence[str], enforce: str = ENFORCE) -> List[Finding]:
    """Whether files have the labels that the policy has for their places; those that somebody has moved there bear others."""
    try:
        with open(enforce, encoding="ascii") as file:
            is_enforcing = file.read().strip() == "1"
    except (OSError, ValueError):
        is_enforcing = False
    if not is_enforcing:
        return []
    refused = "what was refused: ausearch -m avc -ts recent"
    said = ask(["restorecon", "-n", "-v", "--", *files])  # changes nothing, and names those that it would change
    if said.code != 0:
        return [Finding(OK, "SELinux", "enforcing; whether labels are right, restorecon does not say", refused)]
    wrong = [path for path in files if any(path in line.split() for line in said.text.splitlines())]
    if wrong:
        words = f"enforcing, and the policy has other labels for {_named(wrong)}"
        advice = f"restorecon -v {' '.join(one_line(path) for path in wrong[:3])}; {refused}"
        return [Finding(WARN, "SELinux", words, advice)]
    return [Finding(OK, "SELinux", "enforcing, as it may; files have the policy's labels", refused)]


def _named(files: Sequence[str]) -> str:
    return listed((one_line(path) for path in files), 5)
