# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the steps of all types are checked with."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps import step_type

SPEC = {
    "url": {"type": "str"},
    "seconds": {"type": "float"},
    "codes": {"type": "list", "elements": "int"},
    "until": {"type": "dict", "options": {"status": {"type": "int"}}},
    "body": {"type": "raw"},
}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"url": "x", "seconds": "5", "codes": [1, 2], "until": {"status": 1}, "body": {"a": [1]}},
        {"url": None, "until": None, "codes": None},
        {"codes": "1,2"},
    ],
)
def test_keys_that_are_fine(given):
    step_type.check_keys(given, SPEC)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"ulr": 1}, r"key 'ulr' is unknown \(did you mean 'url'\?\); it takes body, codes, seconds, until, url"),
        ({5: 1}, "key '5' is unknown;"),
        ({"until": {"stauts": 1}}, r"key 'until.stauts' is unknown \(did you mean 'status'\?\); it takes status"),
        ({"url": {"a": 1}}, "url is a dictionary, where a text belongs"),
        ({"seconds": [5]}, "seconds is a list, where a number belongs"),
        ({"until": "x"}, "until is a text, where a dictionary belongs"),
        ({"until": {"status": [1]}}, "until.status is a list, where a number belongs"),
        ({"codes": {"a": 1}}, "codes is not a list of numbers"),
        ({"codes": [[1]]}, "codes is not a list of numbers"),
    ],
)
def test_keys_that_are_not(given, words):
    with pytest.raises(step_type.StepError, match=words):
        step_type.check_keys(given, SPEC)


def test_seconds():
    assert step_type.positive(5, "timeout") == 5.0
    for value in (0, -1, float("inf"), float("nan")):
        with pytest.raises(step_type.StepError, match="it is a number of seconds, more than 0"):
            step_type.positive(value, "timeout")
    step_type.at_least_one(1, "interval")
    with pytest.raises(step_type.StepError, match="interval is 0; it is a number of seconds, at least 1"):
        step_type.at_least_one(0, "interval")


@pytest.mark.parametrize(
    "value, words",
    [
        (None, "empty"),
        ({}, "a dictionary"),
        ((), "a list"),
        (True, "true or false"),
        ("", "a text"),
        (0.5, "a number"),
    ],
)
def test_what_a_value_is(value, words):
    assert step_type.kind_of(value) == words
