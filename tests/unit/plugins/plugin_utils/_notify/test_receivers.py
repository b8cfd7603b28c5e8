# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""maintain_notify is checked before a run begins, and what is said about it shows no secret."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.notifications import refused_receivers
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.receivers import (
    NotifyError,
    receivers_of,
)

URL = "https://user:pass-word@example.com:8443/services/TOKEN?key=TOKEN"


def test_each_kind_of_entry():
    found = receivers_of(
        [
            # The argument spec adds what is not given
            {"url": URL, "secret": "s", "proxy": None, "hook": None, "vars": None},
            {"hook": "/opt/tell"},
            {"tasks": "/opt/tell.yml", "vars": {"token": "t"}},
        ]
    )
    assert [one.kind for one in found] == ["url", "hook", "tasks"]
    assert found[0].secret == "s" and found[2].vars == {"token": "t"}


class Encrypted:
    """An inline text out of a vault, as ansible-core before 2.19 hands it over: AnsibleVaultEncryptedUnicode."""

    __ENCRYPTED__ = True

    def __str__(self):
        return "decrypted"


def test_a_text_out_of_a_vault_is_one_like_others():
    found = receivers_of(
        [{"url": URL, "secret": Encrypted()}, {"tasks": "/opt/tell.yml", "vars": {"token": Encrypted()}}]
    )
    assert found[0].secret == "decrypted" and str(found[1].vars["token"]) == "decrypted"


def test_what_everybody_reads_has_no_token():
    (one,) = receivers_of([{"url": URL}])
    assert one.words == "https://example.com:8443/..."


@pytest.mark.parametrize("given", [None, "", []])
def test_nobody_is_told(given):
    assert receivers_of(given) == []


@pytest.mark.parametrize(
    "given, words",
    [
        ("https://TOKEN", "must be a list, not 'str'"),
        (["https://TOKEN"], "entry 1: it must be a dictionary with url, hook, tasks."),
        ([{}], "it must have exactly one of url, hook, tasks; it has none."),
        ([{"url": URL, "hook": "/opt/tell"}], "it has url, hook."),
        (
            [{"hook": "/opt/tell"}, {"url": URL, "secert": "TOKEN"}],
            "entry 2: an entry with url has no key 'secert' (did you mean 'secret'?)",
        ),
        ([{"hook": "tell"}], "hook must be the whole path of a file on the controller"),
        ([{"url": "ftp://TOKEN"}], "it does not begin with http:// or https://"),
        ([{"url": URL}, {"url": URL}], "entry 2: the same url is named by an earlier entry"),
        ([{"tasks": "/opt/tell.yml", "vars": ["TOKEN"]}], "vars must be a dictionary"),
    ],
)
def test_what_is_wrong_is_said_without_its_value(given, words):
    with pytest.raises(NotifyError) as caught:
        receivers_of(given)
    assert words in caught.value.message
    assert "TOKEN" not in caught.value.message and "pass-word" not in caught.value.message


def test_a_file_that_is_not_there_or_not_executable_ends_the_run_before_it_begins(tmp_path):
    tasks, hook = tmp_path / "tell.yml", tmp_path / "tell"
    tasks.touch()
    hook.touch()
    assert refused_receivers([{"tasks": str(tasks)}, {"hook": str(hook)}]) == [
        f"maintain_notify: the controller has no executable file {hook}."
    ]
    hook.chmod(0o700)
    tasks.unlink()
    assert refused_receivers([{"tasks": str(tasks)}, {"hook": str(hook)}]) == [
        f"maintain_notify: the controller has no file {tasks}."
    ]
    assert refused_receivers([{}])[0].startswith("maintain_notify, entry 1")
