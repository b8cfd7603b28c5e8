# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operations' options: their defaults, and what their values must be, whoever gives them.

Types are checked by Ansible, before.

Private to this collection.
"""

from typing import Any, Dict, List, Mapping, NoReturn, Optional, Sequence

from .._errors import ScheduledEventsError
from .._imds.client import DEFAULT_VERSION, VERSIONS
from .._imds.endpoint import DEFAULT_ENDPOINT, check_endpoint

WAIT_FOR = ("event", "started", "gone", "change")
AFFECTING = ("any", "self")
MIN_SLEEP = 0.2  # five requests a second are all that a machine may send
MAX_SECONDS = 366 * 86400.0

_COMMON_DEFAULTS: Dict[str, Any] = {
    "endpoint": DEFAULT_ENDPOINT,
    "discover": False,
    "api_version": DEFAULT_VERSION,
    "timeout": 10.0,
    "first_timeout": 125.0,
    "resource_name": None,
}
INFO_DEFAULTS = dict(
    _COMMON_DEFAULTS,
    event_ids=None,
    types=None,
    statuses=None,
    sources=None,
    affecting="any",
    wait=False,
    wait_for="event",
    wait_timeout=300.0,
    wait_sleep=1.0,
    since_incarnation=None,
    placement_group=False,
)
APPROVE_DEFAULTS = dict(
    _COMMON_DEFAULTS,
    event_ids=None,
    prepared_resources=None,
    allow_unknown=[],
    fail_on_not_approved=False,
    rank=0,
    takeover=30.0,
    wait=True,
    wait_timeout=60.0,
    wait_sleep=1.0,
)


def info_options(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options of info, complete and in range."""
    checked = _common_options(options, INFO_DEFAULTS)
    for name in ("event_ids", "types", "statuses", "sources"):
        checked[name] = _texts(checked, name)
    _check_choice(checked, "affecting", AFFECTING)
    _check_choice(checked, "wait_for", WAIT_FOR)
    if checked["event_ids"] == [] and not waits_for_none(checked):
        _invalid("event_ids", "is an empty list, which no event can match; leave it out to see all events")
    if checked["since_incarnation"] is not None and not (checked["wait"] and checked["wait_for"] == "change"):
        _invalid("since_incarnation", "only makes sense with wait=true and wait_for=change")
    statuses = checked["statuses"]
    if checked["wait"] and checked["wait_for"] == "started" and statuses and "started" not in map(str.lower, statuses):
        _invalid("statuses", "leaves out Started, so wait_for=started would never end")
    return checked


def waits_for_none(options: Mapping[str, Any]) -> bool:
    """Whether info is to wait until none of no events is left, so that there is nothing to ask."""
    return bool(options["event_ids"] == [] and options["wait"] and options["wait_for"] == "gone")


def approve_options(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options of approve, complete and in range."""
    checked = _common_options(options, APPROVE_DEFAULTS)
    for name in ("event_ids", "prepared_resources", "allow_unknown"):
        checked[name] = _texts(checked, name)
    if not checked["event_ids"]:
        _invalid("event_ids", "must name at least one event; only named events are approved")
    if checked["rank"] < 0:
        _invalid("rank", f"is {checked['rank']}, but ranks count from 0, the first to approve")
    _check_seconds(checked, "takeover", 0.0)
    return checked


def _common_options(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> Dict[str, Any]:
    checked = {name: default if options.get(name) is None else options[name] for name, default in defaults.items()}
    checked["endpoint"] = check_endpoint(checked["endpoint"])
    _check_choice(checked, "api_version", VERSIONS)
    if checked["resource_name"] is not None:
        checked["resource_name"] = checked["resource_name"].strip()
        if not checked["resource_name"]:
            _invalid("resource_name", "is blank; leave it out to ask the metadata service")
    _check_seconds(checked, "timeout", 0.1)
    _check_seconds(checked, "first_timeout", 0.1)
    _check_seconds(checked, "wait_timeout", 0.0)
    _check_seconds(checked, "wait_sleep", MIN_SLEEP)
    return checked


def _check_seconds(options: Mapping[str, Any], name: str, least: float) -> None:
    if not least <= options[name] <= MAX_SECONDS:  # not a number is neither
        _invalid(name, f"is {options[name]}, but must be a number of seconds, at least {least:g}")


def _check_choice(options: Mapping[str, Any], name: str, choices: Sequence[str]) -> None:
    if options[name] not in choices:
        _invalid(name, f"is {options[name]!r}, but must be one of {', '.join(choices)}")


def _texts(options: Mapping[str, Any], name: str) -> Optional[List[str]]:
    """A list of texts, without blanks around them."""
    texts = options[name]
    if any(not isinstance(text, str) or not text.strip() for text in texts or ()):
        _invalid(name, "has a blank element")
    return None if texts is None else [text.strip() for text in texts]


def _invalid(name: str, problem: str) -> NoReturn:
    raise ScheduledEventsError(f"The option {name} {problem}.", kind="invalid")
