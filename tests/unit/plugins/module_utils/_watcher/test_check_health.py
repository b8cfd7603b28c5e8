# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the commands see the health endpoint: they ask it as a load balancer does."""

import contextlib
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import (
    check_system,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_report import FAIL, OK
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import Read
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.status import (
    StatusView,
    as_json,
    entries,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health import main
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.addresses import Address
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.client import (
    Asked,
    ask,
    closed_folders,
    health_problem,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.machine_state import (
    MachineState,
    answer_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.test_health_server import (
    listening,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import (
    WORDS,
    assert_well_said,
)

WITHIN = 30.0


@contextlib.contextmanager
def an_endpoint(folder):
    """The addresses of one that runs: of HTTP, and of the agent-check."""
    here = Address("0.0.0.0", 0)
    options = main.Options(http=(here,), agent=(here,), folder=str(folder), run_folder=str(folder))
    listeners = main.listeners_of(options, {})
    poller, stop = main.serve(options, listeners, Clock()), threading.Event()

    def run():
        while not stop.is_set():
            poller.turn(0.05)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield [f"0.0.0.0:{one.socket.getsockname()[1]}" for one in listeners]
    finally:
        stop.set()
        thread.join()
        for one in listeners:
            one.socket.close()


def test_it_is_asked_as_a_load_balancer_asks(tmp_path):
    with an_endpoint(tmp_path) as (http, agent):
        assert ask(http, False, WITHIN) == Asked(http, True, "in service")
        assert ask(agent, True, WITHIN) == Asked(agent, True, "weight 100%")
        (tmp_path / "mark.json").write_text("{}")
        found = ask(http, False, WITHIN)
        assert found.is_in_service is False and found.words.startswith("out of service for maintenance: ")
        assert ask(agent, True, WITHIN) == Asked(agent, False, "weight 0%")


def test_where_nobody_answers():
    with listening() as one:
        address = f"127.0.0.1:{one.getsockname()[1]}"
        assert ask(address, False, 0.05)[:2] == (address, None)  # it listens, and says nothing
    assert ask(address, True, WITHIN) == Asked(address, None, "Connection refused")


def a_view(health, mark=None):
    published = {"looking": True, "problems": []}
    return StatusView(1.0, published, True, 1.0, Read(mark, ""), Read(None, ""), [], 0, health)


ADDRESS = "127.0.0.1:8009"
ANSWERS, UNSEEN, OUT, SILENT = (
    Asked(ADDRESS, True, "in service"),
    Asked(ADDRESS, *answer_of(MachineState(problem="Permission denied"))),
    Asked(ADDRESS, False, "out of service for maintenance: prepared"),
    Asked(ADDRESS, None, "Connection refused"),
)


@pytest.mark.parametrize(
    ("asked", "mark", "state", "words"),
    [
        (ANSWERS, None, OK, "127.0.0.1:8009: in service"),
        (OUT, {"phase": "prepared"}, OK, "127.0.0.1:8009: out of service for maintenance: prepared"),
        (SILENT, None, FAIL, "127.0.0.1:8009: Connection refused"),
        (
            UNSEEN,
            {"phase": "prepared"},
            FAIL,
            "127.0.0.1:8009: in service, but its maintenance mark can't be checked: Permission denied",
        ),
        (
            ANSWERS,
            {"phase": "prepared"},
            FAIL,
            "127.0.0.1:8009 answers that the machine is in service, and it is marked",
        ),
    ],
)
def test_what_doctor_says_of_it(asked, mark, state, words):
    (found,) = check_system.health(a_view([asked], mark), "/")
    assert (found.state, found.words) == (state, words)


def test_a_folder_that_its_user_can_not_pass(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir(mode=0o711)
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_uid and not above.stat().st_mode & 0o001:
            pytest.skip("the folder of the tests itself is closed")
    tmp_path.chmod(0o700)
    closed = closed_folders(str(folder / "not-there-yet"))
    assert closed[-1] == str(tmp_path) and str(folder) not in closed
    found = check_system.health(a_view([ANSWERS]), str(folder))
    assert [one.state for one in found] == [OK, FAIL] and "always answers that the machine is in service" in found[
        1
    ].words
    assert check_system.health(a_view([]), str(folder)) == []
    problem = health_problem([ANSWERS], str(folder))
    assert problem.startswith("its user can't enter /") and problem.endswith(str(tmp_path))
    assert health_problem([], str(folder)) == ""


def test_an_endpoint_that_says_that_it_does_not_see_the_mark():
    """Its folders are open, and something else keeps its user off."""
    assert health_problem([ANSWERS, UNSEEN], "/") == UNSEEN.words
    assert health_problem([ANSWERS], "/") == ""


@pytest.mark.parametrize("words", WORDS)
def test_its_findings_are_well_said(words, tmp_path):
    tmp_path.chmod(0o700)
    health = [Asked(ADDRESS, state, words) for state in (True, False, None)]
    for mark in (None, {"phase": "prepared"}):
        for finding in check_system.health(a_view(health, mark), str(tmp_path)):
            assert_well_said(finding.words)
            assert_well_said(finding.advice or finding.words)


class Here:
    version, folder = "0.2.0", "/"


def test_status_shows_what_each_address_answers():
    found = entries(a_view([ANSWERS, SILENT]), Here())
    place = found.index(("Health", "127.0.0.1:8009 answers: in service"))
    assert found[place + 1] == ("", "127.0.0.1:8009 DOES NOT ANSWER: Connection refused")
    assert "Health" not in dict(entries(a_view([]), Here()))
    shown = as_json(a_view([OUT, UNSEEN]), Here())
    assert shown["health"][0] == dict(OUT._asdict()) and shown["health_problem"] == UNSEEN.words
