# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose module creates an object of AWX. (With real modules: tests/awx.)"""

from __future__ import annotations

import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import controller_object


class Found:
    def __init__(self, resolved):
        self.resolved = resolved


@pytest.fixture
def action(monkeypatch):
    """What comes of it where these collections are installed, and which module ran with what."""

    def installed(*collections, fields=None, **ends):
        monkeypatch.setattr(
            controller_object.module_loader,
            "find_plugin_with_context",
            lambda name: Found(name.rpartition(".")[0] in collections),
        )
        ran = []

        def execute(module_name, module_args, task_vars):
            ran.append((module_name, module_args))
            return {"changed": True, "invocation": {"module_args": module_args}, **ends}

        task = types.SimpleNamespace(_execute_module=execute)
        return controller_object.work(task, {}, {"kind": "label", "fields": fields or {"name": "a"}}), ran

    return installed


@pytest.mark.parametrize(
    "collections, module",
    [
        (("awx.awx",), "awx.awx.label"),
        (("ansible.controller",), "ansible.controller.label"),
        (("awx.awx", "ansible.controller"), "ansible.controller.label"),
    ],
)
def test_the_module_of_an_installed_collection_gets_the_fields(action, collections, module):
    assert action(*collections) == ({"changed": True}, [(module, {"name": "a"})])


def test_where_neither_is_installed_it_says_what_to_do(action):
    result, ran = action()
    assert (result["failed"], ran) == (True, [])
    assert "ansible.controller.label and awx.awx.label were looked for" in result["msg"]
    assert "ansible-galaxy collection install awx.awx" in result["msg"]


def test_what_an_entry_needs_is_no_option_of_the_module(action):
    assert action("awx.awx", fields={"name": "a", "needs": ["B"]})[1] == [("awx.awx.label", {"name": "a"})]


@pytest.mark.parametrize(
    "said, hint",
    [
        ("There was an unknown error when trying to connect to https://127.0.0.1/api/: x", "set CONTROLLER_HOST"),
        ("Request to credentials returned 0 items, expected 1", "leave galaxy_credentials out"),
        ("Project update failed", "Projects, the project, its last job"),
        ("There was a network error of some kind (h): timed out", "CONTROLLER_REQUEST_TIMEOUT=60"),
        ("You don't have permission to POST to /api/controller/v2/teams/ (HTTP 403).", "platform's gateway"),
        ("Anything else", ""),
    ],
)
def test_what_a_message_of_the_modules_leaves_open_is_added(action, said, hint):
    result = action("awx.awx", failed=True, msg=said)[0]
    assert result["failed"] and result["msg"].startswith(said)
    assert hint in result["msg"] and (hint or result["msg"] == said)
