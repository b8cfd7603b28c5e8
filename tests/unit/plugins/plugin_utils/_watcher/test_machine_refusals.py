# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines the watcher refuses to be installed on, and in which words."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.refusals import refusals

OPTIONS = {"systemd": True, "image": False, "health": False, "python": "/usr/bin/python3"}
PROBED = {"python": [3, 11, 2], "uid": 0, "systemd": 252, "container": "", "arc": False, "no_users": []}
HELLO = {"resource_name": "web_1", "vm_id": "02AAB8A4", "problem": ""}
READY = {"mark": "", "lacks": {}}


def answer(hello=None, ready=None, **more):
    return {"lost": "", "answers": [{**HELLO, **(hello or {})}, {**READY, **(ready or {})}], "mark": None, **more}


def said(probed=None, answered=..., **options):
    found = refusals(
        "web1", {**OPTIONS, **options}, {**PROBED, **(probed or {})}, answer() if answered is ... else answered
    )
    assert all(sentence.startswith("web1 ") for sentence in found)
    return found


def only(*args, **options):
    (sentence,) = said(*args, **options)
    return sentence


def test_a_machine_of_azure_with_systemd_is_not_refused():
    assert said() == []
    assert said({"systemd": 239, "python": [3, 6, 8]}) == []


def test_a_machine_of_the_tests_is_not_refused():
    assert said({"container": "systemd-nspawn"}) == []


@pytest.mark.parametrize(
    "probed, words",
    [
        (
            {"python": [2, 7, 5]},
            "Python 2.7 (/usr/bin/python3), and it needs 3.6 or later: say where there is one, with watcher_python",
        ),
        ({"python": [3, 5, 9]}, "Python 3.5"),
        ({"uid": 1000}, "user number 1000, and only root installs a service: set become to true"),
        ({"container": "docker"}, "is a container (docker)"),
        ({"container": "kubernetes", "systemd": 0}, "For AKS use what AKS has"),
        ({"systemd": 0}, "has no systemd"),
        ({"systemd": 238}, "has systemd 238, and the watcher needs 239 or later"),
        ({"no_users": ["app", "db"]}, "has no user app, db, as which hooks are to run"),
    ],
)
def test_what_a_machine_lacks(probed, words):
    assert words in only(probed)


def test_a_python_that_the_sandbox_hides():
    assert "which its sandbox hides" in only(python="/home/ops/venv/bin/python")
    assert said(python="/home/ops/venv/bin/python", systemd=False) == []


def test_a_plain_process_answers_no_load_balancers():
    assert "can't answer load balancers (watcher_health) without systemd" in only(systemd=False, health=True)
    assert said(health=True) == []


def test_a_plain_process_needs_neither_root_nor_systemd():
    assert said({"uid": 1000, "systemd": 0, "container": "docker"}, systemd=False) == []
    assert "can't have it in an image as a plain process" in only(systemd=False, image=True, answered=None)


@pytest.mark.parametrize(
    "problem",
    ["At http://169.254.169.254/... answered the metadata service of Amazon EC2.", "Connection refused."],
)
def test_what_is_not_azure_is_refused_by_its_name(problem):
    words = only(answered=answer({"problem": problem}))
    assert words.startswith("web1 is no virtual machine of Azure") and problem in words


def test_azure_arc_is_named():
    words = only({"arc": True}, answered=answer({"problem": "Connection refused."}))
    assert words.startswith("web1 is a machine that Azure Arc manages, not a virtual machine of Azure")
    assert said({"arc": True}) == []  # a virtual machine of Azure may have Arc's agent, too


def test_without_a_name_or_an_id_it_is_not_azure():
    for lacking in ("resource_name", "vm_id"):
        assert "it gives no name or no vmId" in only(answered=answer({lacking: ""}))


def test_an_image_need_not_be_in_azure():
    assert said(answered=None, image=True) == []


def test_a_machine_that_could_not_be_asked():
    assert "could not be asked for its metadata service: too slow" in only(
        answered={"lost": "too slow", "answers": None}
    )


def test_what_keeps_it_from_being_prepared():
    lacking = answer(ready={"lacks": {"service ngnix": "there is no service ngnix"}})
    assert only(answered=lacking) == "web1 can't do the step service ngnix: there is no service ngnix"
    assert "can't be marked" not in only(answered=answer(ready={"mark": "the disk is full"}))
    assert "could not be marked as out of service: the disk is full" in only(
        answered=answer(ready={"mark": "the disk is full"})
    )
    assert "an unreadable mark: broken" in only(answered=answer(mark={"unreadable": "broken"}))


# ---- Windows ----

ADMINISTRATORS = {"sid": "S-1-5-32-544", "attributes": ["Mandatory", "Enabled by default", "Enabled", "Owner"]}
USER = {"account": {"account_name": "deploy"}, "groups": [ADMINISTRATORS]}
PYTHON = {"version": [3, 11, 9], "is_virtual": False, "is_32_bit": False}


def on_windows(user=None, python=PYTHON, **options):
    probed = {"user": user or USER, "python": python}
    return refusals("win1", {**OPTIONS, "windows": True, "python": r"C:\python.exe", **options}, probed, answer())


def test_a_windows_machine_of_azure_is_not_refused():
    assert on_windows() == on_windows(python=None) == []


@pytest.mark.parametrize("groups", [[], [dict(ADMINISTRATORS, attributes=["Use for deny only"])]])
def test_who_is_no_administrator_there_installs_no_service(groups):
    (words,) = on_windows(dict(USER, groups=groups))
    assert words.startswith("win1 is spoken to as deploy, who is no administrator there")


@pytest.mark.parametrize(
    "given, words",
    [
        ({"python": dict(PYTHON, version=[3, 10, 1])}, r"with Python 3.10 (C:\python.exe), and it needs 3.11 or later"),
        ({"python": dict(PYTHON, is_virtual=True)}, "which is of a virtual environment and begins another Python"),
        (
            {"python": dict(PYTHON, is_32_bit=True)},
            "with a 32-bit Python (C:\\python.exe), which Windows shows another registry",
        ),
        ({"systemd": False}, "can have it as a service only: set watcher_systemd to true"),
    ],
)
def test_what_speaks_against_a_windows_machine(given, words):
    (sentence,) = on_windows(**given)
    assert words in sentence
