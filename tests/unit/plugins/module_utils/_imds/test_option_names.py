# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of roles name variables, not options of the modules."""

import pathlib
import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import client
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.option_names import (
    VARIABLES,
    answers_with_variables,
    with_variables,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.retries import ADVICE, ELSEWHERE

COLLECTION = pathlib.Path(client.__file__).resolve().parents[3]
NAMED = re.compile(r"option ([a-z][a-z_]*)")


@pytest.mark.parametrize("words", [*ADVICE.values(), ELSEWHERE])
def test_no_advice_names_an_option(words):
    assert not NAMED.search(with_variables(words))


def test_every_option_that_a_message_of_the_client_names_is_known():
    named = set()
    for room in ("_imds", "_operations"):
        for path in (COLLECTION / "plugins" / "module_utils" / room).glob("*.py"):
            lines = [
                line for line in path.read_text(encoding="utf-8").splitlines() if '"' in line and ":arg" not in line
            ]
            named.update(found for line in lines for found in NAMED.findall(line))
    assert {"endpoint", "resource_name", "first_timeout"} <= named and named - {"is", "of", "out"} <= set(VARIABLES)


@pytest.mark.parametrize("role", ["maintain", "watcher"])
def test_every_variable_is_one(role):
    specs = (COLLECTION / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    assert [name for name in VARIABLES.values() if name and f" {name}:" not in specs] == []


@pytest.mark.parametrize(
    "text, said",
    [
        ("For another address, set the option endpoint.", "set azure_maintenance_endpoint."),
        ("two minutes (option first_timeout), any", "two minutes, any"),
        ("The option resource_name says", "azure_maintenance_resource_name says"),
        ("an optional endpoint, no options timeout", "an optional endpoint, no options timeout"),
    ],
)
def test_the_words(text, said):
    assert with_variables(text).endswith(said)


def test_of_answers_only_the_sentences_are_changed():
    words = "set the option endpoint"
    answer = [{"msg": words, "id": words, "not_approved": [{"message": words, "id": words}], "failure": None}]
    (found,) = answers_with_variables(answer)
    assert found["msg"] == found["not_approved"][0]["message"] == "set azure_maintenance_endpoint"
    assert found["id"] == found["not_approved"][0]["id"] == words
