# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what the user wants: the settings, and whether what they name is there: hooks, secrets, users, commands, services; and those who
get reports, whether their names resolve, and somebody listens.

Private to this collection.

Nothing is sent to them.
"""

import os
import sys
from typing import Any, Callable, Collection, List, Mapping, Optional, Tuple

from ..._machine.platform import native
from ..._machine.step_runners import lacking
from ..._steps.hook import PHASES
from ..._steps.step_type import Step
from ..._text import clause, listed, one_line
from ..host.this_host import HOST
from ..reports.last_try import what_to_do
from ..reports.report_daemon import SecretError, read_secret
from ..settings.hooks import Hooks, hooks_in
from ..settings.options import Configuration
from ..settings.settings import SettingsError, SettingsFile
from .check_report import FAIL, OK, WARN, Finding, Said
from .status import StatusView

LONG = 600.0
"""Seconds that hooks may take in all before somebody should think about it: a Redeploy gives ten minutes' notice."""

_HOOK = "correct that, and see azure-maintenance hooks list; the watcher checks again within 30 s"
_SECRET = "run role watcher again, which writes it; until then its reports wait"
_STEP = "install what is missing, or correct the step in drain_steps and run role watcher again"


def settings(path: str) -> Tuple[Optional[Configuration], Finding]:
    try:
        configuration = SettingsFile(path).current
    except SettingsError as error:
        return None, Finding(FAIL, "settings", error.message, "correct it, or run role watcher again")
    return configuration, Finding(OK, "settings", f"{path} is valid")


def all_named(
    configuration: Configuration,
    environment: Mapping[str, str],
    ask: Callable[[List[str]], Said],
    without: Collection[str] = (),
) -> List[Finding]:
    """All that the settings name.

    :arg without: hooks that are there, and are to be removed
    """
    return [*hooks(configuration, without), *secrets(configuration, environment), *steps(configuration, ask)]


def hooks(configuration: Configuration, without: Collection[str] = ()) -> List[Finding]:
    there = hooks_in(configuration)
    found = [
        Finding(FAIL, "hooks", words, f"install it, or correct its name in the settings{_means(key)}", ("hooks", key))
        for key, words in there.unknown().items()
    ]
    kinds = ("", *sorted(there.kinds()))
    by_phase = {phase: [there.found(phase, kind) for kind in kinds] for phase in PHASES}
    refused = {key: why for some in by_phase.values() for one in some for key, why in one.refused.items()}
    found += [
        Finding(FAIL, "hooks", f"{key} is not run: {why}", _HOOK + _means(key))
        for key, why in sorted(refused.items())
        if key not in without
    ]
    for key, one in sorted(configuration.hooks.items()):
        if one.user and not _is_user(one.user):
            words, advice = f"{key}: this machine has no user {one.user}", "add the user, or name another"
            if sys.platform == "win32":
                words, advice = f"{key}: on Windows no hook runs as another user, such as {one.user}", "leave user out"
            found.append(Finding(FAIL, "hooks", words, advice, ("hooks", key, "user")))
    longest = max(sum(step["timeout"] for step in one.steps) for one in by_phase["prepare"])
    if longest > LONG:
        words = f"the limits of the prepare hooks add up to {longest:g} s, and some events give ten minutes' notice"
        found.append(Finding(WARN, "hooks", words, "set lower limits"))
    counts = {phase: len({step["key"] for one in some for step in one.steps}) for phase, some in by_phase.items()}
    words = ", ".join(f"{count} {phase}" for phase, count in counts.items())
    return found or [Finding(OK, "hooks", f"{words} in {configuration.hooks_folder}")]


def _means(key: str) -> str:
    phase = PHASES.get(key.split(".")[0])
    return f"; {phase.lacks}" if phase and phase.lacks else ""


def hook_files(configuration: Configuration) -> List[str]:
    """The files of all hooks that would be run."""
    there = Hooks(configuration.hooks_folder, {})
    kinds = ("", *sorted(there.kinds()))
    found = [step["path"] for phase in PHASES for kind in kinds for step in there.found(phase, kind).steps]
    return list(dict.fromkeys(found))


def secrets(configuration: Configuration, environment: Mapping[str, str]) -> List[Finding]:
    found = []
    for number, one in enumerate(configuration.reports):
        path = ("reports", number)
        if one.secret_file:
            try:
                read_secret(one.secret_file, environment)
            except SecretError as error:
                found.append(Finding(FAIL, "secrets", f"{one.words}: {error}", _SECRET, (*path, "secret_file")))
        if one.ca_file and not os.path.isfile(one.ca_file):
            words = f"{one.words}: there is no CA file {one.ca_file}"
            found.append(Finding(FAIL, "secrets", words, "put it there, or correct ca_file", (*path, "ca_file")))
    return found


def steps(configuration: Configuration, ask: Callable[[List[str]], Said]) -> List[Finding]:
    found = [
        Finding(FAIL, "steps", words, _STEP, ("steps", number))
        for number, step in enumerate(configuration.steps)
        for words in _lacks(step, ask)
    ]
    names = listed(one_line(step["key"]) for step in configuration.steps) or "none"
    return found or [Finding(OK, "steps", names)]


def _lacks(step: Step, ask: Callable[[List[str]], Said]) -> List[str]:
    key = clause(step["key"])
    if step["type"] == "service" and sys.platform == "win32":
        from ..._machine.windows.services import state_of

        return [] if state_of(step["service"]) else [f"{key}: this machine has no service {step['service']}"]
    if step["type"] == "service":
        said = ask(["systemctl", "show", "--property=LoadState", "--value", "--", str(step["service"])])
        if said.code != 0:
            return [f"{key}: systemctl could not show whether this service exists"]
        return [f"{key}: this machine has no service {step['service']}"] if said.text.strip() == "not-found" else []
    if step["type"] == "command":
        why = lacking(step, HOST.path)
        return [f"{key}: {one_line(why)}"] if why else []
    return []


def _is_user(name: str) -> bool:
    try:
        native.account_named(name)
    except KeyError:
        return False
    return True


MANY = 100


def check_receivers(
    configuration: Configuration, reach: Callable[..., str], way: Callable[[str, str], Any]
) -> List[Finding]:
    """:arg reach: of post_transport, as is `way`, its Way"""
    found = []
    for one in configuration.reports:
        problem = reach(one.url, way(one.proxy, one.ca_file))
        if problem:
            advice = "reports wait until it can be reached; check its name, the firewall and certificates on the way"
            found.append(Finding(FAIL, "reports", f"{one.words}: {problem}", advice))
        else:
            found.append(Finding(OK, "reports", f"{one.words} can be reached"))
        if one.url.startswith("http://") and one.secret_file:
            words = f"{one.words} is not encrypted: anybody on the way can read the reports"
            found.append(Finding(WARN, "reports", words, "use https if the receiver supports it"))
        elif not one.secret_file:
            words = f"{one.words} gets reports unsigned"
            found.append(Finding(WARN, "reports", words, "set a secret if the receiver can check it"))
    return found or [Finding(OK, "reports", "the settings name no URL")]


def waiting(view: StatusView) -> List[Finding]:
    """Destinations that are behind."""
    found = []
    for one in view.waits:
        last = one.last
        if last.is_refused:
            waits = f"; {one.number} wait, each for at most a day" if one.number else ""
            lost = f"; {last.given_up} given up so far" if last.given_up else ""
            words = f"{one.words}: refused with HTTP {last.status}, last at {last.refused_at}{waits}{lost}"
            found.append(Finding(FAIL, "reports", words, what_to_do(last.status)))
        elif one.number >= MANY or (one.since is not None and view.wall - one.since > 600):
            came = f"; last: {last.words}" if last.words else ""
            advice = f"{HOST.status(HOST.reports.name)} shows whether the service that sends them runs"
            found.append(Finding(WARN, "reports", f"{one.words}: {one.number} wait{came}", advice))
    return found
