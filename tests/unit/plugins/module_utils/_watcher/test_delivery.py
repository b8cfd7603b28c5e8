# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One destination's reports: in order, each until it is taken, with pauses that double up to five minutes."""

import errno
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.last_try import (
    LastTry,
    read_last_try,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.post_transport import Posted
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_daemon import (
    outcome_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import (
    AGAIN,
    GIVEN_UP,
    REFUSED,
    REFUSED_FOR,
    TAKEN,
    Outcome,
    QueueConsumer,
    waiting,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock


class Play:
    """A destination that plays outcomes; what was sent, and what was logged."""

    def __init__(self, folder, *outcomes, reports=3):
        self.folder = folder / "one"
        self.folder.mkdir()
        for number in range(1, reports + 1):
            files.replace(str(self.folder / f"{number:012}.json"), a_report(message=str(number)))
        self.outcomes = list(outcomes)
        self.sent, self.logged, self.pauses = [], [], []
        self.clock = ScriptedClock()
        self.delivery = QueueConsumer(str(self.folder), "to-one", self.send, self.clock, self.log)

    def send(self, body, path):
        self.sent.append(int(os.path.basename(path)[:12]))
        with open(path, "rb") as file:
            assert body == file.read()
        return self.outcomes.pop(0) if self.outcomes else Outcome(TAKEN, "HTTP 200")

    def log(self, priority, words):
        self.logged.append((priority, words))

    def steps(self, count):
        for _step in range(count):
            self.pauses.append(self.delivery.step())
        return self

    def id_of(self, number):
        return files.read(str(self.folder / f"{number:012}.json"))["id"]

    def left(self):
        return [one.number for one in waiting(str(self.folder))]


def again(words="HTTP 503", after=0.0):
    return Outcome(AGAIN, words, after)


def test_in_order_and_then_it_waits(tmp_path):
    play = Play(tmp_path).steps(4)
    assert play.sent == [1, 2, 3]
    assert play.pauses == [0.0, 0.0, 0.0, 1.0]
    assert play.left() == [] and play.logged == []
    assert read_last_try(str(play.folder)) == LastTry("2026-01-01T00:00:00Z", "HTTP 200")


def test_a_folder_that_is_read_while_reports_come_shows_a_newer_one_first(tmp_path, monkeypatch):
    play, whole = Play(tmp_path, reports=2), os.scandir
    shown = [lambda path: [one for one in whole(path) if "2.json" in one.name]]

    def scandir(path):
        return shown.pop()(path) if shown else whole(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert play.steps(2).sent == [1, 2]


def test_none_goes_before_another(tmp_path):
    play = Play(tmp_path, again(), again()).steps(5)
    assert play.sent == [1, 1, 1, 2, 3]


def test_pauses_double_up_to_five_minutes(tmp_path):
    play = Play(tmp_path, *[again()] * 40).steps(40)
    assert play.pauses[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert set(play.pauses[10:]) == {300}
    assert play.logged == [(4, "to-one: HTTP 503; 3 reports wait, and it is tried again in 1 s")]
    play.steps(2)
    assert play.logged[1:] == [(6, "to-one: reports are taken again; 2 more wait")]
    play.outcomes = [again()]
    assert play.steps(1).pauses[-1] == 1


@pytest.mark.parametrize("after, pause", [(0.0, 1), (20.0, 20), (9999.0, 300)])
def test_who_asks_to_be_left_alone_is(tmp_path, after, pause):
    assert Play(tmp_path, again(after=after)).steps(1).pauses == [pause]


def test_another_reason_is_another_line(tmp_path):
    play = Play(tmp_path, again(), again(), again("no connection"), reports=1).steps(3)
    assert [words for _priority, words in play.logged] == [
        "to-one: HTTP 503; 1 report waits, and it is tried again in 1 s",
        "to-one: no connection; 1 report waits, and it is tried again in 4 s",
    ]
    assert read_last_try(str(play.folder)).words == "no connection"


def test_one_that_is_given_up_is_said_and_holds_up_no_other(tmp_path):
    play = Play(tmp_path, Outcome(GIVEN_UP, "HTTP 422 Unprocessable", status=422))
    name = f"{play.id_of(1)} (scheduled)"
    play.steps(1)
    last = read_last_try(str(play.folder))
    assert last.is_refused and last.status == 422
    play.steps(2)
    assert play.sent == [1, 2, 3]
    assert play.logged == [(4, f"to-one: report {name} is given up: HTTP 422 Unprocessable")]
    last = read_last_try(str(play.folder))
    assert (last.given_up, last.given_up_last, last.is_refused) == (1, f"{name}: HTTP 422 Unprocessable", False)


def refused(status=401):
    return Outcome(REFUSED, f"HTTP {status} Unauthorized", status=status)


def test_what_is_refused_is_kept_and_sent_again_in_order(tmp_path):
    play = Play(tmp_path, refused(), refused(), refused()).steps(6)
    assert play.sent == [1, 1, 1, 1, 2, 3] and play.pauses[:3] == [1, 2, 4]
    assert play.logged == [
        (4, "to-one: HTTP 401 Unauthorized; 3 reports wait, and it is tried again in 1 s"),
        (6, "to-one: reports are taken again; 2 more wait"),
    ]


def test_a_bad_request_that_every_report_is_is_the_addresses_and_kept(tmp_path):
    """As of an event stream that was deleted, or a header that it wants."""
    play = Play(tmp_path, *[refused(400)] * 4).steps(2)
    assert play.sent == [1, 2, 1, 2] and play.left() == [1, 2, 3] and play.pauses == [1, 2]
    assert read_last_try(str(play.folder)).given_up == 0
    assert play.steps(3).sent[4:] == [1, 2, 3] and play.left() == []


def test_a_bad_request_that_only_one_report_is_holds_up_no_other(tmp_path):
    taken = Outcome(TAKEN, "HTTP 200")
    play = Play(tmp_path, refused(400), taken, refused(400))
    name = f"{play.id_of(1)} (scheduled)"
    play.steps(2)
    assert play.sent == [1, 2, 1, 3] and play.left() == []
    assert play.logged == [(4, f"to-one: report {name} is given up: HTTP 400 Unauthorized")]


def test_a_bad_request_that_was_put_right_meanwhile_loses_none(tmp_path):
    play = Play(tmp_path, refused(400), Outcome(TAKEN, "HTTP 200")).steps(2)
    assert play.sent == [1, 2, 1, 3] and play.left() == [] and play.logged == []


def test_when_it_was_refused_last_is_kept_for_people(tmp_path):
    play = Play(tmp_path, refused(), refused()).steps(1)
    play.clock.sleep(60)
    play.steps(1)
    last = read_last_try(str(play.folder))
    assert (last.at, last.refused_at) == ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")
    assert last.status == 401 and last.is_refused
    play.steps(1)
    last = read_last_try(str(play.folder))
    assert last.status == 401 and not last.is_refused


def test_what_is_refused_for_a_day_is_given_up_and_nothing_else(tmp_path):
    play = Play(tmp_path, refused(), refused(), again(), refused())
    now = play.clock.wall()
    for number, made in ((1, now - REFUSED_FOR + 1.0), (2, now - REFUSED_FOR + 1.0), (3, now)):
        os.utime(str(play.folder / f"{number:012}.json"), (made, made))
    name = play.id_of(2)
    assert play.steps(1).left() == [1, 2, 3]
    play.clock.sleep(2.0)
    assert play.steps(1).left() == [3]
    why = "HTTP 401 Unauthorized, and made more than a day ago"
    assert (4, f"to-one: 2 reports are given up, the last one {name} (scheduled): {why}") in play.logged
    assert read_last_try(str(play.folder)).given_up == 2
    play.clock.sleep(2 * REFUSED_FOR)
    assert play.steps(1).left() == [3], "who does not answer, or is busy, gets it however old it is"
    play.steps(1)
    assert play.left() == [] and read_last_try(str(play.folder)).given_up == 3


def test_what_was_given_up_is_counted_over_restarts(tmp_path):
    play = Play(tmp_path, Outcome(GIVEN_UP, "HTTP 422", status=422)).steps(1)
    play.outcomes = [Outcome(GIVEN_UP, "HTTP 422", status=422)]
    QueueConsumer(str(play.folder), "to-one", play.send, play.clock, play.log).step()
    assert read_last_try(str(play.folder)).given_up == 2


def test_put_out_while_it_was_sent(tmp_path):
    play = Play(tmp_path, reports=1)
    send = play.delivery._send
    play.delivery._send = lambda body, path: (os.unlink(path), send.__self__.outcomes, Outcome(TAKEN, "x"))[2]
    assert play.steps(1).pauses == [0.0]
    assert play.left() == []


def test_one_that_was_sent_and_stays_is_not_sent_without_end(tmp_path, monkeypatch):
    play = Play(tmp_path, reports=1)

    def refuse(path):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "unlink", refuse)
    play.steps(3)
    assert play.pauses == [1, 2, 4]
    assert "was sent and can't be removed: Read-only file system" in play.logged[0][1]


def test_nothing_is_there_yet(tmp_path):
    delivery = QueueConsumer(str(tmp_path / "none"), "to-one", None, ScriptedClock(), None)
    assert delivery.step() == 1.0


@pytest.mark.parametrize(
    "status, what",
    [(200, TAKEN), (202, TAKEN), (204, TAKEN)]
    + [(status, GIVEN_UP) for status in (413, 422)]
    + [(status, REFUSED) for status in (400, 401, 403, 404, 406, 407, 410, 415, 431)]
    + [(status, AGAIN) for status in (408, 429, 500, 503, 301, 307, 0)],
)
def test_what_an_answer_means(status, what):
    refused_with = status if what in (GIVEN_UP, REFUSED) else 0
    assert outcome_of(Posted(status, "words")) == Outcome(what, "words", status=refused_with)


def test_when_to_come_again():
    assert outcome_of(Posted(429, "words", 30.0)) == Outcome(AGAIN, "words", 30.0)
