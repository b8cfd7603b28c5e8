# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the steps of role ``drain``: results in, sentences for people out."""

import json
from collections.abc import Mapping
from typing import Any

from ...module_utils._text import last_line, one_line

MOST = 500  # characters of a machine's own words in a sentence


def make_report(result: Mapping[str, Any], step: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """One entry of ``drain_result.steps``.

    ``result`` is what the step's last task returned, ``run`` how it went: host, direction, ok, seconds, limit (what
    the step was given), budget (of the whole run), budget_bound (the budget cut the step's own limit), note.
    """
    lost = [item for item in _items(result) if item.get("unreachable")]
    ok = bool(run["ok"]) and not lost
    seconds = round(float(run["seconds"]), 1)
    if ok:
        message = str(run.get("note") or "")
    else:
        message = f"{run['host']}, step {step['number']} ({step['name']}), {'undone' if run['direction'] == 'undo' and step['type'] != 'verify' else step['type']}: {_why(result, lost, step, run)} (after {seconds} s)"
    return {
        "name": str(step["name"]),
        "type": str(step["type"]),
        "ok": ok,
        "changed": ok and any(bool(item.get("changed")) for item in [result] + _items(result)),
        "seconds": seconds,
        "message": message,
    }


def make_result(run: Mapping[str, Any]) -> dict[str, Any]:
    """``drain_result`` or ``drain_recover_result``.

    ``run``: steps (the reports), reverts (the reports of their undoing, None when nothing was undone), seconds,
    trouble (why no step was run), planned (check mode: the steps that would be run), direction.
    """
    steps = list(run["steps"])
    reverts = run["reverts"]
    failures = [step for step in steps if not step["ok"]]
    revert_errors = [step["message"] for step in reverts or [] if not step["ok"]]
    sentences = [str(run["trouble"])] if run["trouble"] else [step["message"] for step in failures]
    if reverts is not None:
        sentences.append(
            "Undoing it failed as well: " + ". ".join(revert_errors) if revert_errors else "What was done is undone"
        )
    if run["planned"] is not None and not sentences:
        words = "does" if run["direction"] == "do" else "undoes"
        steps = [
            dict(_PLANNED, name=step["name"], type=step["type"], message="would " + step[words])
            for step in run["planned"]
        ]
        sentences.append("Check mode: nothing was run")
    return {
        "ok": not run["trouble"] and not failures,
        "seconds": round(float(run["seconds"]), 1),
        "steps": steps,
        "failed_step": failures[0]["name"] if failures else "",
        "message": "".join(sentence.rstrip(".") + ". " for sentence in sentences).strip(),
        "reverted": reverts is not None and not revert_errors,
        "revert_errors": revert_errors,
    }


_PLANNED = {"ok": True, "changed": False, "seconds": 0.0}


def _why(
    result: Mapping[str, Any], lost: list[Mapping[str, Any]], step: Mapping[str, Any], run: Mapping[str, Any]
) -> str:
    if lost:
        return f"{_place(lost[0], step)}unreachable: {one_line(lost[0].get('msg'), MOST) or 'the connection was lost'}"
    if _timed_out(result):
        if run["budget_bound"]:
            return f"the budget of {float(run['budget']):g} s is used up"
        return f"it did not end within its {round(float(run['limit']), 1):g} s"
    failed = [item for item in _items(result) if item.get("failed")] or [result]
    if step.get("no_log"):
        code = failed[0].get("rc", failed[0].get("status_code", failed[0].get("status")))
        return f"it failed{('' if code is None else f' with {code}')}; its words are kept back (no_log)"
    return _place(failed[0], step) + explain(failed[0])


def _place(result: Mapping[str, Any], step: Mapping[str, Any]) -> str:
    """Where a step of several machines went wrong."""
    balancer = (result.get("__drain_target") or {}).get("load_balancer")
    return f"{balancer}, socket {step['socket']}: " if balancer else ""


def _timed_out(result: Mapping[str, Any]) -> bool:
    """Whether the keyword ``timeout`` cut the task off, or the program ``timeout`` its command."""
    if result.get("rc") == 124:
        return "timeout" in str(result.get("cmd", ""))
    # ansible-core 2.16 has no ``timedout``
    return bool(result.get("timedout")) or "in the expected time frame" in str(result.get("msg", ""))


def explain(result: Mapping[str, Any]) -> str:
    """A failed module's result in one line: what it said, and for a command its exit code and its last words."""
    words = last_line(result.get("stderr"), MOST) or last_line(result.get("stdout"), MOST)
    if "rc" in result and ("cmd" in result or "stdout" in result) and result.get("rc") is not None:
        text = f"exit code {result['rc']}"
        words = words or one_line(result.get("msg"), MOST)
        return f"{text}: {words}" if words else text
    errors = result.get("error")
    if isinstance(errors, list) and errors and isinstance(errors[0], Mapping):  # ansible.windows.win_powershell
        details = errors[0].get("error_details") or {}
        return one_line(details.get("message") or errors[0].get("output"), MOST) or "PowerShell failed"
    text = one_line(result.get("msg"), MOST)
    if not text or text.startswith("MODULE FAILURE"):
        text = last_line(result.get("module_stderr"), MOST) or last_line(result.get("exception"), MOST) or text
    return text or "it failed and said nothing"


def look(result: Mapping[str, Any], until: Mapping[str, Any]) -> dict[str, Any]:
    """Whether an HTTP answer is the one waited for: ``{"done": bool, "seen": words, "wanted": words}``."""
    status = result.get("status_code", result.get("status"))
    wanted = [f"status {' or '.join(str(code) for code in until['status'])}"]
    content = result.get("content")
    content = content if isinstance(content, str) else ""
    if status in (None, -1):
        seen = [f"no answer: {one_line(result.get('msg'), MOST) or 'nothing was said'}"]
    else:
        seen = [f"status {status}"]
    done = status in until["status"]
    if until.get("contains") is not None:
        wanted.append(f"a body that contains {str(until['contains'])!r}")
        if until["contains"] not in content:
            done = False
            seen.append("a body without it")
    if until.get("json"):
        path, equals = str(until["json"]["path"]), until["json"]["equals"]
        wanted.append(f"{path} = {json.dumps(equals, default=str)}")
        found, words = _json_at(content, path)
        same = words == "" and _same(found, equals)
        done = done and same
        if not same and status not in (None, -1):
            seen.append(words or f"{path} = {json.dumps(found, default=str)}")
    return {"done": done, "seen": one_line(", ".join(seen), MOST), "wanted": ", ".join(wanted)}


def _json_at(content: str, path: str) -> Any:
    """``(value, "")`` at a dotted path of a JSON text, or ``(None, why not)``."""
    try:
        value = json.loads(content)
    except ValueError:
        return None, "a body that is no JSON"
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None, f"no {path} in the body"
    return value, ""


def _same(found: Any, wanted: Any) -> bool:
    """Equal as JSON; before ansible-core 2.19 a templated number arrives as text, so texts are compared too."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return str(found).lower() == str(wanted).lower()
    return found == wanted or (isinstance(wanted, str) and not isinstance(found, (dict, list)) and str(found) == wanted)


def _items(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The single results: those of a loop's rounds, or the one there is."""
    rounds = result.get("results")
    if isinstance(rounds, list) and rounds:
        return [item for item in rounds if isinstance(item, Mapping)]
    return [result]
