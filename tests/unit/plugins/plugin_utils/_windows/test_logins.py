# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often an account is tried. tests/windows has an endpoint that counts."""

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows import logins as module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.logins import Logins
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import WindowsProblem

REJECTED = "ntlm: the specified credentials were rejected by the server"
SHARED, OWN = "CORP\\ops", "Administrator"


@pytest.fixture
def now(monkeypatch, tmp_path):
    """The time, to be set."""
    moment = [1000.0]
    monkeypatch.setattr(module, "steady", lambda: moment[0])
    monkeypatch.setattr(module.constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    return moment


def login(user, machine, error=""):
    """What a login came to: "tried", or the words of why it was not."""
    try:
        with Logins(user, machine).turn():
            if error:
                raise AnsibleConnectionFailure(error)
    except AnsibleConnectionFailure:
        pass
    except WindowsProblem as problem:
        return problem.message
    return "tried"


def test_an_account_that_nobody_has_let_in_is_tried_twice(now):
    assert login(SHARED, "win1", REJECTED) == login(SHARED.upper(), "win2", REJECTED) == "tried"
    now[0] += 10000
    assert login(SHARED, "win3") == (
        "The user CORP\\ops was refused by win1, win2, and is not tried any more in this run, as that may lock the account. Correct "
        "ansible_user and ansible_password, see that the account is neither locked nor expired, and run this again."
    )


@pytest.mark.parametrize("user", [OWN, ".\\Administrator"])
def test_one_without_a_domain_is_each_machine_s_own(now, user):
    assert login(user, "win1", REJECTED) == login(user, "win1", REJECTED) == "tried"
    assert login(user, "win1").startswith(f"The user {user} was refused by win1") and login(user, "win2") == "tried"


def test_one_that_others_let_in_is_tried_again_but_seldom(now):
    """A machine that has just been started may not reach its domain yet."""
    assert login(SHARED, "win1") == "tried"
    assert login(SHARED, "win2", REJECTED) == login(SHARED, "win2", REJECTED) == "tried"
    assert login(SHARED, "win2").startswith("win2 refuses the user CORP\\ops, who was let in before")
    assert login(SHARED, "win1") == "tried", "it is about that machine"
    now[0] += module.AGAIN
    assert login(SHARED, "win2", REJECTED) == "tried" and login(SHARED, "win2").startswith("win2 refuses")
    now[0] += module.AGAIN
    assert login(SHARED, "win2") == login(SHARED, "win2") == "tried"


@pytest.mark.parametrize("words", ["Password incorrect", "Preauthentication failed"])
def test_kerberos_refuses_as_well(now, words):
    error = f"Kerberos auth failure for principal ops@CORP with subprocess: kinit: {words} while getting initial credentials"
    assert login(SHARED, "win1", error) == login(SHARED, "win2", error) == "tried"
    assert login(SHARED, "win3").startswith("The user CORP")


def test_what_is_no_refusal_does_not_count(now):
    assert {login(SHARED, "win1", "Connection refused") for _try in range(5)} == {"tried"}


def test_one_that_nobody_has_let_in_is_tried_by_one_after_the_other(now, monkeypatch):
    monkeypatch.setattr(module, "TURN", 0.1)
    waited = []
    monkeypatch.setattr(module.time, "sleep", waited.append)
    with Logins(SHARED, "win1").turn():
        times = iter(range(10))
        monkeypatch.setattr(module.time, "monotonic", lambda: 0.04 * next(times))
        assert login(SHARED, "win2") == "tried" and waited, "not for longer than a moment, as win1 may hang"
        waited.clear()
        assert login(SHARED, "win3") == "tried" and not waited, "win2 has let it in"
