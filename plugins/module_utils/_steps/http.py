# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``http``: sends a request, and another one to take it back; waits until the application says that it is done.

Private to this collection.
"""

import json
from typing import Any, Dict, Mapping, Tuple

from .._text import digits, one_line
from .step_type import (
    MOST,
    NO_LOG,
    Host,
    Step,
    StepError,
    StepType,
    TaskResult,
    Verdict,
    Words,
    at_least_one,
    without_none,
)

_UNTIL: Dict[str, Any] = {
    "type": "dict",
    "options": {
        "url": {"type": "str"},
        "method": {"type": "str", "default": "GET"},
        "status": {"type": "list", "elements": "int", "default": [200]},
        "contains": {"type": "str"},
        "json": {
            "type": "dict",
            "options": {"path": {"type": "str", "required": True}, "equals": {"type": "raw", "required": True}},
        },
        "interval": {"type": "int", "default": 2},
        "request_timeout": {"type": "int", "default": 5},
        "in_a_row": {"type": "int", "default": 1},
    },
}

_REQUEST = {
    "type": "dict",
    "options": {
        "url": {"type": "str", "required": True},
        "method": {"type": "str", "default": "POST"},
        "body": {"type": "raw"},
        "status": {"type": "list", "elements": "int", "default": [200, 201, 202, 204]},
        "until": _UNTIL,
    },
}


_CHECK = {
    "type": "dict",
    "options": {
        "url": {"type": "str", "required": True},
        "request_timeout": {"type": "int", "default": 2},
        **{key: _UNTIL["options"][key] for key in ("method", "status", "contains", "json")},
    },
}


def _complete(step: Step, host: Host, system: str) -> Words:
    subjects = {}
    words = {}
    headers = {str(key): str(value) for key, value in step.pop("headers").items()}
    for direction in ("do", "undo"):
        if not step.get(direction):
            continue
        request = step[direction] = without_none(step[direction])
        _check_url(request["url"], f"{direction}.url")
        request["method"] = request["method"].upper()
        request["headers"] = dict(headers)
        # Before ansible-core 2.19 a text that is JSON turns into what it stands for on its way to the module, which
        # writes it down again when an option says that it is JSON.
        is_json = "body" in request and _is_json_container(request["body"])
        request["body_format"] = "json" if is_json else "raw"
        if is_json and not any(name.lower() == "content-type" for name in headers):
            request["headers"]["Content-Type"] = "application/json"
        subjects[direction] = words[direction] = f"{request['method']} {_bare_url(request['url'])}"
        if request.get("until"):
            until = request["until"] = without_none(request["until"])
            until.setdefault("url", request["url"])
            _complete_question(until, headers, f"{direction}.until")
            at_least_one(until["interval"], f"{direction}.until.interval")
            if until["in_a_row"] < 1:
                raise StepError(
                    f"{direction}.until.in_a_row is {until['in_a_row']}; it is a number of answers, at least 1"
                )
            words[direction] += f" and wait until {_bare_url(until['url'])} says so"
    if step.get("check"):
        if not step.get("do"):
            raise StepError("check asks whether what do has done still stands, and the step has no do")
        step["check"] = without_none(step["check"])
        _complete_question(step["check"], headers, "check")
    return Words(subjects.get("do") or subjects["undo"], words.get("do", ""), words.get("undo", ""))


def _complete_question(question: Dict[str, Any], headers: Mapping[str, str], key: str) -> None:
    _check_url(question["url"], f"{key}.url")
    question["method"] = question["method"].upper()
    question["headers"] = headers
    at_least_one(question["request_timeout"], f"{key}.request_timeout")


def _check_url(url: str, key: str) -> None:
    from urllib.parse import urlsplit  # only the controller checks them

    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets without an address
        fine = False
    if not fine:
        raise StepError(f"{key} is {_bare_url(url)!r}, which is no http or https URL")


def _bare_url(url: str) -> str:
    """A URL as it may be shown: without the password or the query that it may carry."""
    scheme, separator, rest = url.split("?", 1)[0].partition("://")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path


def _is_json_container(body: Any) -> bool:
    if not isinstance(body, str):
        return isinstance(body, (Mapping, list))
    try:
        return isinstance(json.loads(body), (dict, list))
    except ValueError:
        return False


def _interval(step: Step, direction: str) -> int:
    until = (step.get(direction) or {}).get("until") or {}
    return int(until.get("interval", 1))


def counted(step: Step, direction: str, answer: TaskResult, before: int) -> TaskResult:
    """An answer, with how many good ones in a row it is the last of.

    :arg before: how many there were before it
    """
    return dict(answer, good=before + 1 if _judged(step[direction]["until"], answer).done else 0)


def _says_so(step: Step, direction: str, result: TaskResult) -> Verdict:
    """Whether answers are those that are waited for."""
    until = step[direction]["until"]
    verdict, wanted = _judged(until, result), until.get("in_a_row", 1)
    good = result.get("good", 1)
    if not verdict.done or wanted == 1:
        return verdict
    if good < wanted:
        return Verdict(False, problem=f"{good} of {wanted} good answers in a row")
    return verdict._replace(note=f"{verdict.note}, {wanted} times in a row")


def _status(result: TaskResult) -> Any:
    """None where there was no answer."""
    status = result.get("status_code", result.get("status"))
    return None if status == -1 else status


def _no_answer(result: TaskResult) -> str:
    return f"no answer: {one_line(result.get('msg'), MOST) or 'nothing was said'}"


def _judged(question: Mapping[str, Any], result: TaskResult) -> Verdict:
    """Whether an answer is a good one."""
    status = _status(result)
    content = result.get("content")
    content = content if isinstance(content, str) else ""
    answered = status is not None
    done = status in question["status"]
    wanted = [f"status {' or '.join(str(code) for code in question['status'])}"]
    seen = [f"status {status}" if answered else _no_answer(result)]
    if question.get("contains") is not None:
        wanted.append(f"a body that contains {question['contains']!r}")
        if question["contains"] not in content:
            done = False
            seen.append("a body without it")
    if question.get("json"):
        path, equals = question["json"]["path"], question["json"]["equals"]
        wanted.append(f"{path} = {json.dumps(equals, default=str)}")
        found, missing = _value_at(content, path)
        if missing or not _same(found, equals):
            done = False
            if answered:
                seen.append(missing or f"{path} = {json.dumps(found, default=str)}")
    return Verdict(
        done,
        problem="" if done else f"{one_line(', '.join(seen), MOST)}; wanted: {', '.join(wanted)}",
        note=", ".join(wanted) if done else "",
    )


def _has_check(step: Mapping[str, Any]) -> bool:
    return bool(step.get("check"))


def _checked(step: Step, result: TaskResult) -> Dict[str, Any]:
    """By what the application answered to the check."""
    if _status(result) is None:
        raise StepError(f"its check got {'no answer' if step['no_log'] else _no_answer(result)}")
    verdict = _judged(step["check"], result)
    return {"back": "" if verdict.done else "another answer than is wanted" if step["no_log"] else verdict.problem}


def _holds(step: Step, found: Mapping[str, Any]) -> str:
    return f"its check got {found['back']}" if found["back"] else ""


def _value_at(content: str, path: str) -> Tuple[Any, str]:
    """``(value, "")`` at a dotted path of a JSON text, or ``(None, why not)``."""
    try:
        value = json.loads(content)
    except ValueError:
        return None, "a body that is no JSON"
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and digits(part) is not None and int(part) < len(value):
            value = value[int(part)]
        else:
            return None, f"no {path} in the body"
    return value, ""


def _same(found: Any, wanted: Any) -> bool:
    """Equal as JSON; before ansible-core 2.19 a templated number arrives as text, so texts are compared too."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return str(found).lower() == str(wanted).lower()
    return found == wanted or (isinstance(wanted, str) and not isinstance(found, (dict, list)) and str(found) == wanted)


TYPE = StepType(
    name="http",
    options={
        "do": _REQUEST,
        "undo": _REQUEST,
        "check": _CHECK,
        "headers": {"type": "dict", "default": {}},
        "user": {"type": "str"},
        "password": {"type": "str", "no_log": True},
        "validate_certs": {"type": "bool", "default": True},
        "use_proxy": {"type": "bool", "default": False},
        "delegate_to": {"type": "str"},
        "no_log": NO_LOG,
    },
    complete=_complete,
    one_of=("do", "undo"),
    initial_state=_checked,
    holds=_holds,
    can_look=_has_check,
    asks_slowly=True,
    judges={"until": _says_so},
    interval=_interval,
    by_itself=True,
    in_background=True,
)
