# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``http``, with an application on loopback."""

import base64
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    FAILED,
    PENDING,
    Progress,
    RunnerFailed,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.http import TYPE as HTTP
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    Doing,
    content,
    until,
)

pytestmark = pytest.mark.usefixtures("only_by_its_own_limit")

PROGRAM = pathlib.Path(__file__).with_name("application.py")


@contextlib.contextmanager
def running(log, *more):
    """The application; its port."""
    command = [sys.executable, str(PROGRAM), str(log)] + [str(argument) for argument in more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Application:
    def __init__(self, log, port):
        self._log = log
        self.url = f"http://127.0.0.1:{port}"

    def asked(self):
        return [json.loads(line) for line in content(self._log).splitlines()]


@pytest.fixture
def application(tmp_path):
    with running(tmp_path / "log") as port:
        yield Application(tmp_path / "log", port)


@pytest.fixture
def doing(tmp_path):
    return Doing("http", tmp_path)


# The request


def test_a_request_is_sent_once_with_what_it_has(doing, application):
    progress = doing.did(
        do={"url": application.url + "/drain?now=1", "body": {"b": [1, None]}},
        headers={"X-Mine": "yes"},
        user="me",
        password="p:w",
    )
    assert progress == Progress(DONE)
    (asked,) = application.asked()
    assert (asked["method"], asked["path"], json.loads(asked["body"])) == ("POST", "/drain?now=1", {"b": [1, None]})
    assert asked["headers"]["content-type"] == "application/json" and asked["headers"]["x-mine"] == "yes"
    assert base64.b64decode(asked["headers"]["authorization"].split()[1]) == b"me:p:w"


@pytest.mark.parametrize(
    "body, sent", [("plain \u00e9", "plain \u00e9"), ('{"a": 1}', '{"a": 1}'), (5, "5"), (True, "True")]
)
def test_a_body_that_is_a_text_is_sent_as_it_is(doing, application, body, sent):
    doing.did("undo", undo={"url": application.url + "/x", "method": "put", "body": body})
    (asked,) = application.asked()
    assert (asked["method"], asked["body"]) == ("PUT", sent)


def test_without_a_body_none_is_sent(doing, application):
    doing.did(do={"url": application.url + "/x"})
    (asked,) = application.asked()
    assert asked["body"] == "" and "authorization" not in asked["headers"]


@pytest.mark.parametrize("user, sent", [(None, b"me:p:w"), ("you", b"you:")])
def test_a_url_may_carry_user_and_password(doing, application, user, sent):
    url = application.url.replace("//", "//me:p%3Aw@")
    assert doing.did(do={"url": url}, **({"user": user} if user else {})) == Progress(DONE)
    (asked,) = application.asked()
    assert base64.b64decode(asked["headers"]["authorization"].split()[1]) == sent
    assert "@" not in asked["headers"]["host"]


@pytest.mark.parametrize("status", [301, 302, 401, 404, 503])
def test_another_status_is_a_failure_and_redirects_are_not_followed(doing, application, status):
    progress = doing.did(do={"url": f"{application.url}/status/{status}"})
    assert progress.state == FAILED
    assert progress.note.startswith(f"Status code was {status} and not [200, 201, 202, 204]: HTTP Error {status}: ")
    assert len(application.asked()) == 1


def test_any_status_may_be_wanted(doing, application):
    assert doing.did(do={"url": application.url + "/status/503", "status": [503]}) == Progress(DONE)


def test_no_answer(doing, application):
    broken = doing.did(do={"url": application.url + "/broken"})
    assert broken.state == FAILED and "Status code was -1 and not [200, 201, 202, 204]: Request failed: " in broken.note
    refused = doing.did(do={"url": "http://127.0.0.1:1/x"})
    assert refused.note.endswith("Connection refused")


@pytest.mark.parametrize("end", ["\n", "\n\u4e2d"])
def test_what_was_to_be_sent_is_not_quoted(doing, application, end):
    """As Python does where a header, out of a file or a vault, ends with a line's end."""
    for options in (
        {"do": {"url": application.url + "/x"}, "headers": {"Authorization": "Bearer hush" + end}},
        {"do": {"url": f"{application.url}/x?token=hush {end}x"}},
    ):
        progress = doing.did(**options)
        assert progress.state == FAILED and "hush" not in progress.note
        assert "its address or one of its headers holds what HTTP does not allow there" in progress.note


def test_a_proxy_of_the_environment_is_used_only_when_that_is_wanted(doing, application, monkeypatch):
    for name in ("http_proxy", "no_proxy"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("http_proxy", application.url)
    assert doing.did(do={"url": "http://127.0.0.1:1/x"}).state == FAILED
    assert application.asked() == []
    assert doing.did(do={"url": "http://127.0.0.1:1/x"}, use_proxy=True) == Progress(DONE)
    assert application.asked()[0]["path"] == "http://127.0.0.1:1/x"


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_certificates_are_verified_unless_that_is_not_wanted(doing, tmp_path):
    pair = str(tmp_path / "pair.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    subprocess.check_output(command + ["-keyout", pair, "-out", pair + ".crt"], stderr=subprocess.DEVNULL)
    with open(pair, "a", encoding="ascii") as both, open(pair + ".crt", encoding="ascii") as certificate:
        both.write(certificate.read())
    with running(tmp_path / "log", pair) as port:
        step = {"do": {"url": f"https://127.0.0.1:{port}/x"}}
        refused = doing.did(**step)
        assert refused.state == FAILED and "CERTIFICATE_VERIFY_FAILED" in refused.note
        assert content(tmp_path / "log") == ""
        assert doing.did(validate_certs=False, **step) == Progress(DONE)


# Until it says so


def test_it_is_asked_until_it_says_so(doing, application, rests):
    until_done = {"url": application.url + "/jobs", "json": {"path": "state.jobs", "equals": 0}, "interval": 1}
    progress = doing.did(do={"url": application.url + "/drain", "until": until_done}, headers={"X-Mine": "yes"})
    assert progress == Progress(DONE, "status 200, state.jobs = 0")
    assert content(rests).split() == ["1"] * 3, "once a second"
    asked = application.asked()
    assert [(one["method"], one["path"]) for one in asked] == [("POST", "/drain")] + [("GET", "/jobs")] * 4
    assert all(one["headers"]["x-mine"] == "yes" for one in asked)


def test_several_good_answers_in_a_row(doing, application, rests):
    steady = {
        "url": application.url + "/jobs",
        "json": {"path": "state.jobs", "equals": 0},
        "interval": 1,
        "in_a_row": 3,
    }
    progress = doing.did(do={"url": application.url + "/drain", "until": steady})
    assert progress == Progress(DONE, "status 200, state.jobs = 0, 3 times in a row")
    assert len(application.asked()) == 1 + 4 + 2
    progress = doing.did(do={"url": application.url + "/drain", "until": dict(steady, interval=60)}, limit=70)
    assert progress == Progress(FAILED, "2 of 3 good answers in a row")


def test_it_gives_up_with_what_it_last_saw(doing, application, rests):
    never = {"url": application.url + "/status/503", "contains": "well", "interval": 60}
    progress = doing.did(do={"url": application.url + "/drain", "until": never}, limit=170)
    assert progress == Progress(
        FAILED, "status 503, a body without it; wanted: status 200, a body that contains 'well'"
    )
    assert len(application.asked()) == 1 + 3, "once in 60 seconds, as long as its limit allows"


def test_an_answer_that_does_not_come_takes_no_longer_than_its_time(doing, application, rests):
    hanging = {"url": application.url + "/hangs", "interval": 60, "request_timeout": 1}
    progress = doing.did(do={"url": application.url + "/drain", "until": hanging}, limit=110)
    assert progress.state == FAILED and progress.note.startswith("no answer: Request failed: ")
    assert "timed out" in progress.note
    until(lambda: len(application.asked()) == 3, "that it is asked again")


def test_a_request_that_hangs_has_the_limit(doing, application):
    step_run = doing.begun(do={"url": application.url + "/hangs"})
    assert doing.hand.check(step_run) == Progress(PENDING)
    doing.hand.stop(step_run)
    progress = doing.did(do={"url": application.url + "/hangs"}, limit=1)
    assert progress.state == FAILED and "timed out" in progress.note


def test_a_body_without_end_has_its_limit(doing, application):
    endless = {"url": application.url + "/endless", "contains": "never", "interval": 1, "request_timeout": 1}
    progress = doing.did(do={"url": application.url + "/drain", "until": endless}, limit=1)
    assert progress.state == FAILED and progress.note.startswith("status 200, a body without it")


def test_a_secret_one_says_nothing(doing, application):
    secret = {"url": application.url + "/status/503?token=secret", "contains": "secret", "interval": 1}
    failed = doing.did(do={"url": secret["url"]}, no_log=True)
    assert failed == Progress(FAILED, "it failed with 503; its words are kept back (no_log)")
    gave_up = doing.did(do={"url": application.url, "until": secret}, no_log=True, limit=1)
    assert gave_up == Progress(FAILED, "it failed; its words are kept back (no_log)")
    done = doing.did(
        do={"url": application.url, "until": dict(secret, url=application.url, contains="fine")}, no_log=True
    )
    assert done == Progress(DONE)


def test_it_can_be_stopped_while_it_waits(doing, application):
    never = {"url": application.url + "/status/503", "interval": 1}
    step_run = doing.begun(do={"url": application.url + "/drain", "until": never})
    until(lambda: len(application.asked()) > 1)
    doing.hand.stop(step_run)
    assert doing.end_of(step_run) == Progress(FAILED, "it was ended before it was over")


# The check


def state(doing, application, within=120.0, **check):
    step = doing.step(do={"url": application.url}, check=check, headers={"X-Mine": "yes"})
    return HTTP.holds(step, doing.hand.state(step, within))


@pytest.mark.parametrize(
    "path, status, found",
    [
        ("/status/503", [503], ""),
        ("/status/200", [503], "its check got status 200; wanted: status 503"),
        ("/status/302", [200], "its check got status 302; wanted: status 200"),
    ],
)
def test_its_check_goes_by_the_answer(doing, application, path, status, found):
    assert state(doing, application, url=application.url + path, status=status) == found
    (asked,) = application.asked()
    assert (asked["method"], asked["path"], asked["headers"]["x-mine"]) == ("GET", path, "yes")


@pytest.mark.parametrize("path, words", [("/broken", "no answer: Request failed"), ("/hangs", "timed out")])
def test_without_an_answer_it_is_not_known(doing, application, path, words):
    with pytest.raises(RunnerFailed, match=f"its check got .*{words}"):
        state(doing, application, url=application.url + path, request_timeout=1)


def test_the_words_of_a_secret_check_are_kept_back(doing, application):
    check = {"url": application.url + "/status/200", "contains": "geheim"}
    step = doing.step(do={"url": application.url}, check=check, no_log=True)
    assert HTTP.holds(step, doing.hand.state(step, 120.0)) == "its check got another answer than is wanted"
    assert doing.hand.before(step) == {}
