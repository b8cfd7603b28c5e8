# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines the watcher refuses to be installed on, and in which words."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import refusals

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
