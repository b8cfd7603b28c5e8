# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``http``: requests, and the answers that are waited for."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.http import TYPE
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import is_verified
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
)

APP = "http://app/drain"


def test_a_request_gets_headers_a_method_and_a_body():
    step, _words = completed(
        "http",
        headers={"X-Token": 5},
        do={"url": APP, "method": "put", "body": {"a": 1}},
        undo={"url": "http://app/resume", "body": "plain"},
    )
    do, undo = step["do"], step["undo"]
    assert (do["method"], do["body"], do["body_format"]) == ("PUT", {"a": 1}, "json")
    assert do["headers"] == {"X-Token": "5", "Content-Type": "application/json"}
    assert (undo["method"], undo["body_format"], undo["headers"]) == ("POST", "raw", {"X-Token": "5"})
    assert do["status"] == [200, 201, 202, 204] and "until" not in do


@pytest.mark.parametrize(
    "body, form", [('{"a": 1}', "json"), ("[1]", "json"), ("1", "raw"), ("a=1", "raw"), (["a"], "json")]
)
def test_a_body_is_json_when_it_is_an_object_or_a_list(body, form):
    assert completed("http", do={"url": APP, "body": body})[0]["do"]["body_format"] == form


def test_a_users_content_type_is_kept():
    step, _words = completed("http", headers={"content-type": "text/x"}, do={"url": APP, "body": {"a": 1}})
    assert step["do"]["headers"] == {"content-type": "text/x"}


def test_what_is_waited_for_is_at_the_requests_url_unless_it_names_another():
    step, words = completed("http", headers={"A": "b"}, do={"url": APP, "until": {"contains": "idle"}})
    until = step["do"]["until"]
    assert (until["url"], until["method"], until["status"], until["headers"]) == (APP, "GET", [200], {"A": "b"})
    step, words = completed("http", do={"url": APP, "until": {"url": "http://app/state"}})
    assert step["do"]["until"]["url"] == "http://app/state"
    assert words == ("POST http://app/drain", "POST http://app/drain and wait until http://app/state says so", "")


def test_it_is_asked_again_as_often_as_the_request_says():
    step, _words = completed("http", do={"url": APP, "until": {"interval": 7}}, undo={"url": APP, "until": {}})
    assert (TYPE.interval(step, "do"), TYPE.interval(step, "undo")) == (7, 2)
    assert TYPE.interval(completed("http", do={"url": APP})[0], "undo") == 1


def test_secrets_of_a_url_are_not_shown():
    step, words = completed("http", do={"url": "https://me:geheim@app/drain?key=geheim"})
    assert "geheim" not in "".join(words) and step["do"]["url"] == "https://me:geheim@app/drain?key=geheim"


@pytest.mark.parametrize("url", ["app/drain", "http:///drain", "http://app:http/", "http://app:0/", "ftp://app/"])
@pytest.mark.parametrize("where", ["do.url", "undo.until.url", "check.url"])
def test_what_is_no_url(url, where):
    options = {
        "do.url": {"do": {"url": url}},
        "undo.until.url": {"undo": {"url": APP, "until": {"url": url}}},
        "check.url": {"do": {"url": APP}, "check": {"url": url}},
    }
    with pytest.raises(StepError) as caught:
        completed("http", **options[where])
    assert str(caught.value) == f"{where} is {url!r}, which is no http or https URL"


@pytest.mark.parametrize("key", ["interval", "request_timeout"])
def test_seconds_are_at_least_one(key):
    with pytest.raises(StepError, match="do.until." + key + " is 0; it is a number of seconds, at least 1"):
        completed("http", do={"url": APP, "until": {key: 0}})


def test_a_check_is_a_request_that_changes_nothing():
    step, _words = completed("http", headers={"A": "b"}, do={"url": APP}, check={"url": APP})
    check = step["check"]
    assert (check["method"], check["status"], check["request_timeout"]) == ("GET", [200], 2)
    assert check["headers"] == {"A": "b"} and is_verified(dict(step, type="http"))
    assert not is_verified(dict(completed("http", do={"url": APP})[0], type="http"))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"undo": {"url": APP}, "check": {"url": APP}}, "the step has no do"),
        ({"do": {"url": APP}, "check": {"url": APP, "request_timeout": 0}}, "check.request_timeout is 0"),
    ],
)
def test_what_is_no_check(options, words):
    with pytest.raises(StepError, match=words):
        completed("http", **options)


def test_answers_in_a_row_are_at_least_one():
    with pytest.raises(StepError, match="do.until.in_a_row is 0; it is a number of answers, at least 1"):
        completed("http", do={"url": APP, "until": {"in_a_row": 0}})


# An answer that is waited for


def answer(body, status=200, **until):
    content = body if isinstance(body, str) else json.dumps(body)
    return judge({"status": status, "content": content}, **until)


def judge(result, **until):
    return judged("http", "until", result, do={"url": APP, "until": until})


@pytest.mark.parametrize("result", [{"status": 200}, {"status_code": 200, "status": "x"}])
def test_the_status_alone(result):
    assert judge(result) == (True, "", "status 200")


def test_another_status():
    assert answer("", status=503) == (False, "status 503; wanted: status 200", "")
    assert judge({"status": 503}, status=[200, 503]) == (True, "", "status 200 or 503")


@pytest.mark.parametrize(
    "result", [{"status": -1, "msg": "Connection refused"}, {"msg": "Connection refused", "failed": True}]
)
def test_no_answer(result):
    found = judge(result, json={"path": "a", "equals": 1})
    assert not found.done and found.problem.startswith("no answer: Connection refused; wanted: status 200, a = 1")


def test_a_body_that_contains():
    assert answer("all idle now", contains="idle").done
    found = answer("busy", contains="idle")
    assert not found.done
    assert found.problem == "status 200, a body without it; wanted: status 200, a body that contains 'idle'"
    assert not judge({"status": 200, "content": None}, contains="idle").done


@pytest.mark.parametrize(
    "body, path, equals, done",
    [
        ({"a": {"b": 0}}, "a.b", 0, True),
        ({"a": {"b": 0}}, "a.b", "0", True),
        ({"a": {"b": 3}}, "a.b", 0, False),
        ({"a": [{"b": "x"}]}, "a.0.b", "x", True),
        ({"a": [1]}, "a.1", 1, False),
        ({"a": [1]}, "a.x", 1, False),
        ({"a": [1]}, "a.\u00b2", 1, False),
        ({"a": True}, "a", True, True),
        ({"a": True}, "a", "True", True),
        ({"a": True}, "a", 1, False),
        ({"a": False}, "a", "", False),
        ({"a": None}, "a", None, True),
        ({"a": None}, "b", None, False),
        ({"a": []}, "a", [], True),
        ({"a": {}}, "a", "{}", False),
        ("no json", "a", 1, False),
        ("", "a", None, False),
    ],
)
def test_a_value_in_the_body(body, path, equals, done):
    assert answer(body, json={"path": path, "equals": equals}).done is done


def test_a_value_is_reported_as_seen_and_wanted():
    zero = {"path": "jobs", "equals": 0}
    assert answer({"jobs": 3}, json=zero).problem == "status 200, jobs = 3; wanted: status 200, jobs = 0"
    assert answer({"jobs": 0}, json=zero) == (True, "", "status 200, jobs = 0")
    assert answer("<html>", json=zero).problem.startswith("status 200, a body that is no JSON;")
    assert answer({}, json=zero).problem.startswith("status 200, no jobs in the body;")


def test_status_and_body_both_count():
    assert not answer("idle", status=500, contains="idle").done
    assert not answer({"a": 1}, status=500, json={"path": "a", "equals": 1}).done
    assert not answer({"a": 1}, contains="idle", json={"path": "a", "equals": 1}).done
