# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The twin for AWX: which jobs reports launch, with which limit and variables. A stand-in takes AWX's place."""

import concurrent.futures
import pathlib
import re

import pytest
from controller import Controller
from reports import Sender, report
from rulebook import SECRET, Rulebook

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

MANY = 50
UNIT = pathlib.Path(__file__).parents[2] / "examples" / "production" / "eda.service"
RETRIES = dict(re.findall(r"^Environment=(EDA_CONTROLLER_RETRY_\w+)=(\d+)$", UNIT.read_text(encoding="utf-8"), re.M))
"""As the example's unit has them."""


@pytest.fixture(scope="module")
def controller():
    found = Controller()
    yield found
    found.close()


def controlled(folder, controller, **environment):
    (folder / "inventory").mkdir()
    return Rulebook(
        folder / "eda",
        "maintain_on_report_controller",
        folder / "inventory",
        EDA_CONTROLLER_URL=controller.url,
        EDA_CONTROLLER_TOKEN="t0ken",
        EDA_JOB_TEMPLATE_REFRESH_DELAY="0.2",
        **environment,
    )


@pytest.fixture(scope="module")
def rulebook(tmp_path_factory, controller):
    found = controlled(tmp_path_factory.mktemp("controlled"), controller)
    found.start()
    yield found
    found.end()


@pytest.fixture
def sender(tmp_path, rulebook):
    return Sender(tmp_path, rulebook.url, SECRET)


def limits(controller):
    return [body["limit"] for _at, body in controller.launched]


def test_what_is_launched(controller, sender):
    reported = report("event-1", "web1", "web")
    assert sender.send(reported) == 200
    until(lambda: limits(controller) == ["all:&web"])
    launched = controller.launched[0][1]
    received = launched["extra_vars"].pop("azure_maintenance_report_received")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", received) and received >= reported["at"]
    handed = {"azure_maintenance_report_time": reported["at"], "maintain_wait_timeout": 0}
    assert launched == {"limit": "all:&web", "extra_vars": handed}
    controller.end("web")


def test_one_job_a_group_at_a_time_and_groups_side_by_side(controller, sender):
    before = len(controller.launched)
    for number in range(2):
        assert sender.send(report(f"a-{number}", "app1", "app")) == 200
    assert sender.send(report("b", "lone")) == 200
    until(lambda: sorted(limits(controller)[before:]) == ["all:&app", "all:&lone"])
    controller.end("app", "lone")
    until(lambda: limits(controller).count("all:&app") == 2)


def test_happenings_that_need_no_job(controller, sender):
    before = len(controller.launched)
    for happened in ("prepared", "approved", "started", "ended", "recovered"):
        assert sender.send(report("event-2", "quiet", "quiet", happened)) == 200
    assert sender.send(dict(report("event-2", "quiet", "quiet", "prepare_failed"), watcher="maintain")) == 200
    for happened in ("changed", "reappeared", "prepare_failed", "not_prepared_in_time"):
        controller.end("loud")
        assert sender.send(report("event-3", "loud", "loud", happened)) == 200
    until(lambda: len(controller.launched) == before + 4)
    assert set(limits(controller)[before:]) == {"all:&loud"}


def test_many_at_once_none_lost_and_none_twice(controller, sender):
    """Of each event two machines report, and each report comes twice, as a sender's does that was killed before it had noted the answer."""
    before = len(controller.launched)
    groups = [f"many{number}" for number in range(MANY)]
    controller.end(*groups)
    reports = [report(f"id-{group}", f"{group}-{host}", group) for group in groups for host in "ab"] * 2
    with concurrent.futures.ThreadPoolExecutor(MANY) as pool:
        statuses = list(pool.map(sender.send, reports))
    assert statuses == [200] * len(reports)
    until(lambda: len(controller.launched) >= before + MANY)
    assert sender.send(report("after-all", "last", "last")) == 200  # what comes after them is handled after them
    until(lambda: "all:&last" in limits(controller))
    controller.end("last")
    assert sorted(limits(controller)[before:-1]) == sorted(f"all:&{group}" for group in groups)


def test_a_test_report_starts_nothing(controller, rulebook, sender):
    before = len(controller.launched)
    assert sender.send(dict(report("", "web1", "web", "test"), event=None)) == 200
    until(lambda: rulebook.logged("A test report of web1 has arrived."))
    assert len(controller.launched) == before


def test_a_report_without_labels_is_named(controller, rulebook, sender):
    before = len(controller.launched)
    assert sender.send(dict(report("event-4", "old"), labels={})) == 200
    until(lambda: rulebook.logged("No run was started for a report of web1"))
    assert len(controller.launched) == before


def test_the_retries_of_the_example_outlast_a_controller_that_is_away_for_five_minutes():
    """Waits double from 4 s on (aiohttp_retry's ExponentialRetry with start_timeout 2 and factor 2, as ansible-rulebook 1.3.2 makes it)."""
    attempts, most = int(RETRIES["EDA_CONTROLLER_RETRY_ATTEMPTS"]), int(RETRIES["EDA_CONTROLLER_RETRY_MAX_TIMEOUT"])
    assert 300 < sum(min(2 * 2**number, most) for number in range(1, attempts)) < 600  # and leaves time for the event


def test_a_report_outlives_a_controller_that_is_away_and_one_that_refused_the_launch_is_asked_again(tmp_path):
    """The same number of tries as in the example's unit, a second each in place of half a minute. (With the defaults it is five.)"""
    controller = Controller()
    rulebook = controlled(tmp_path, controller, **dict(RETRIES, EDA_CONTROLLER_RETRY_MAX_TIMEOUT="1"))
    try:
        rulebook.start()
        sender = Sender(tmp_path, rulebook.url, SECRET)
        until(lambda: rulebook.logged("Waiting for events"))
        controller.status = 503
        assert sender.send(report("event-1", "web1", "web")) == 200
        until(lambda: controller.refused > 10)
        controller.status = 0
        until(lambda: limits(controller) == ["all:&web"])

        controller.status, controller.refused = 401, 0
        assert sender.send(report("event-2", "db1", "db")) == 200
        until(lambda: controller.refused and rulebook.logged("401"))
        controller.status = 0
        # Nothing asks again by itself. An equal report, of another machine, does: the throttle is over before it counts.
        until(lambda: sender.send(report("event-2", "db2", "db")) == 200 and len(controller.launched) == 2, 90)
        assert limits(controller) == ["all:&web", "all:&db"]
    finally:
        controller.end("web", "db")
        rulebook.stop()
        controller.close()


def test_beyond_the_limit_of_actions_reports_wait_for_their_answer_and_none_is_lost(tmp_path):
    controller = Controller()
    rulebook = controlled(tmp_path, controller, EDA_MAX_CONCURRENT_ACTIONS="2")
    groups = [f"group{number}" for number in range(10)]
    try:
        rulebook.start()
        sender = Sender(tmp_path, rulebook.url, SECRET)
        with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
            answers = [pool.submit(sender.send, report(f"id-{group}", group, group)) for group in groups]
            until(lambda: len(controller.launched) == 2)
            assert not all(answer.done() for answer in answers)
            controller.end(*groups)
            assert [answer.result() for answer in answers] == [200] * len(groups)
        until(lambda: sorted(limits(controller)) == sorted(f"all:&{group}" for group in groups))
    finally:
        rulebook.stop()
        controller.close()
