# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What whoever comes from outside learns of a machine's own watcher."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.beside_mark import published, watched

AZURE = "http://169.254.169.254"
STEPS = [
    {"key": "service nginx", "does": "stop the service nginx"},
    {"key": "command sync", "does": "run sync"},
]
SAYS = {
    "format": 1,
    "mode": "manage",
    "version": "0.2.0",
    "boot_id": "b",
    "uptime": 900.0,
    "metadata": {"endpoint": AZURE},
    "steps": [{"key": "service nginx"}],
}


def asked(folder, says="what it should", uptime=1000.0, boot_id="b"):
    says = SAYS if says == "what it should" else says
    if says is not None:
        (folder / "watcher.json").write_text(says if isinstance(says, str) else json.dumps(says))
    return watched(published(str(folder)), Moment(0.0, uptime, boot_id), STEPS)


def test_one_that_lives_says_what_it_does_and_what_it_lacks(tmp_path):
    found = asked(tmp_path)
    assert found == {
        "mode": "manage",
        "version": "0.2.0",
        "endpoint": AZURE,
        "alive": True,
        "lacks": ["run sync"],
        "prepares": False,
    }


@pytest.mark.parametrize(
    "says, prepares",
    [
        ({"steps": [{"key": "service nginx", "does": "stop the service nginx"}]}, True),
        ({"steps": [{"key": "command note", "does": "", "undoes": "run note"}]}, False),
        ({"hooks": ["prepare.d/50-app"]}, True),
        ({"hooks": ["prepare.d/Reboot/50-app"]}, True),
        ({"hooks": ["recover.d/50-app", "notify.d/50-app"]}, False),
        ({"hooks": None}, False),
        ({"hooks": [3]}, False),
    ],
)
def test_whether_it_has_anything_to_prepare_the_machine_by(tmp_path, says, prepares):
    assert asked(tmp_path, dict(SAYS, **says))["prepares"] is prepares


def test_why_it_does_not_approve_an_event(tmp_path):
    shown = [
        {"id": "e-1", "waits": "it lists other machines, too", "ends_by": "run maintain"},
        {"id": "E-2", "waits": ""},
    ]
    found = asked(tmp_path, dict(SAYS, shown=shown))
    assert found["waits"] == {"E-1": ["it lists other machines, too", "run maintain"]}


@pytest.mark.parametrize("shown", [None, 3, {}, [None, 3, {}], [{"id": None, "waits": ""}]])
def test_what_it_says_of_events_may_be_damaged(tmp_path, shown):
    assert "waits" not in asked(tmp_path, dict(SAYS, shown=shown))


@pytest.mark.parametrize("metadata", [None, [], {}, {"endpoint": None}])
def test_where_it_looks_may_not_be_known(tmp_path, metadata):
    assert asked(tmp_path, dict(SAYS, metadata=metadata))["endpoint"] == ""


@pytest.mark.parametrize("uptime, boot_id", [(1020.1, "b"), (910.0, "another")])
def test_one_that_has_not_been_heard_of_is_down(tmp_path, uptime, boot_id):
    assert asked(tmp_path, uptime=uptime, boot_id=boot_id)["alive"] is False


@pytest.mark.parametrize("says", [None, "", "[]", "{", dict(SAYS, format=2)])
def test_where_nothing_can_be_read_there_is_none(tmp_path, says):
    assert asked(tmp_path, says) is None


@pytest.mark.parametrize("odd", [{"uptime": None}, {"uptime": "x"}, {"steps": None}, {"steps": [3]}])
def test_odd_content_is_no_watcher_that_has_all(tmp_path, odd):
    found = asked(tmp_path, dict(SAYS, **odd))
    assert not found["alive"] or len(found["lacks"]) == 2
