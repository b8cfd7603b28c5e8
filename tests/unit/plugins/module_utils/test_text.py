# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils import _text


@pytest.mark.parametrize(
    "given, limit, wanted",
    [
        ("one\n two\t\x1b[31mthree\x00", 200, "one two [31mthree"),
        ("\u202eevil", 200, "evil"),
        (None, 200, ""),
        (0, 200, "0"),
        ("x" * 20, 10, "x" * 7 + "..."),
        ("x" * 10, 10, "x" * 10),
    ],
)
def test_one_line(given, limit, wanted):
    assert _text.one_line(given, limit) == wanted


@pytest.mark.parametrize("given, first, last", [("\n one \r\n two\n\n", "one", "two"), (" \n", "", ""), (None, "", "")])
def test_first_and_last_line(given, first, last):
    assert (_text.first_line(given), _text.last_line(given)) == (first, last)


@pytest.mark.parametrize(
    "word, wanted",
    [
        ("prepar", " (did you mean 'prepare'?)"),
        ("PREPARE", " (did you mean 'prepare'?)"),
        ("freeze", " (did you mean 'Freeze'?)"),
        ("xyz", ""),
        (5, ""),
    ],
)
def test_did_you_mean(word, wanted):
    assert _text.did_you_mean(word, ["prepare", "Freeze", 7]) == wanted


def test_small_words():
    assert _text.listed(["a", 2]) == "a, 2"
    assert _text.listed(range(5), most=5) == "0, 1, 2, 3, 4"
    assert _text.listed((number for number in range(6)), most=4) == "0, 1, 2, 3 and 2 more"
    assert _text.sentence("azure's events") == "Azure's events"
    assert _text.shown("x" * 90) == "'" + "x" * 56 + "..."


@pytest.mark.parametrize("text, wanted", [("0", 0), ("007", 7), ("9" * 12, 10**12 - 1)])
def test_digits(text, wanted):
    assert _text.digits(text) == wanted


@pytest.mark.parametrize("text", ["", " 1", "1\n", "+1", "-1", "1_0", "0x1", "\u00b2", "\u0663", "9" * 13, "9" * 5000])
def test_what_are_no_digits(text):
    assert _text.digits(text) is None


@pytest.mark.parametrize(
    "text, wanted", [("It broke.", "It broke"), ("a ...", "a"), ("two\nlines. ", "two lines"), (None, "")]
)
def test_a_clause_has_no_stop(text, wanted):
    assert _text.clause(text) == wanted


@pytest.mark.parametrize("left, wanted", [(40.2, "in 40 s"), (0.4, "at any moment"), (-107253135.0, "at any moment")])
def test_seconds_until(left, wanted):
    assert _text.seconds_until(left) == wanted
