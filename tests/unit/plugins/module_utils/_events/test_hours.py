# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import calendar
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events import hours as zones
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.hours import (
    Hours,
    hours_of,
    is_open,
    opens,
    parse_zone,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


def knows_names():
    try:
        parse_zone("Europe/Zurich")
    except ValueError:
        return False
    return True


NAMES = pytest.mark.skipif(not knows_names(), reason="no time zone data")


def unix(text):
    whole, _dot, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))


def check(case):
    several = [hours_of(rule) for rule in case["rules"]]
    at, wanted = unix(case["at"]), case["opens"] and unix(case["opens"])
    assert opens(several, at, unix(case["until"])) == wanted
    assert all(is_open(hours, at) for hours in several) is (wanted == at)


@pytest.mark.parametrize("case", cases("hours.json", lambda case: not case["name"].startswith("named")))
def test_when_they_open(case):
    check(case)


@NAMES
@pytest.mark.parametrize("case", cases("hours.json", lambda case: case["name"].startswith("named")))
def test_when_they_open_in_zones_by_name(case):
    check(case)


@pytest.fixture
def local(monkeypatch):
    """The machine is in a zone that is given as POSIX has it, which needs no data."""

    def is_in(text):
        monkeypatch.setenv("TZ", text)
        time.tzset()

    yield is_in
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of this process can't be set")
@pytest.mark.parametrize("case", cases("hours.json", lambda case: "Europe/Zurich" in str(case["rules"])))
def test_local_time_changes_with_the_season(case, local):
    local("CET-1CEST,M3.5.0,M10.5.0/3")
    check(dict(case, rules=[dict(rule, zone="local") for rule in case["rules"]]))


@pytest.mark.parametrize(
    "rule",
    [
        {"hours": "09:15-23:00", "weekdays": ["sat", "sun"]},
        {"hours": ["22:00-05:00", "12:00-13:00"], "zone": "+05:30"},
        {"hours": "22:00-24:00", "weekdays": "fri-mon", "zone": "-03:00"},
    ],
)
def test_two_weeks_are_as_the_clock_shows_them(rule):
    """Against another way to say it: the text of the day and of the hour."""
    hours = hours_of(rule)
    spans = [rule["hours"]] if isinstance(rule["hours"], str) else rule["hours"]
    offset = {"+05:30": 19800, "-03:00": -10800}.get(rule.get("zone"), 0)
    days = [("mon", "tue", "wed", "thu", "fri", "sat", "sun")[day] for day in hours.weekdays]
    began = unix("2026-02-23T00:00:00Z")
    open_before = None
    for number in range(14 * 288, -1, -1):  # every five minutes
        at = began + number * 300
        shows = []
        for span in spans:
            first, last = span.split("-")
            clock = time.strftime("%H:%M", time.gmtime(at + offset))
            today = time.strftime("%a", time.gmtime(at + offset)).lower() in days
            yesterday = time.strftime("%a", time.gmtime(at + offset - 86400)).lower() in days
            if first < last:
                shows.append(today and first <= clock < last)
            else:
                shows.append(today and clock >= first or yesterday and clock < last)
        assert is_open(hours, at) is any(shows)
        if any(shows):
            open_before = at
        if open_before is not None:
            assert opens([hours], at, at + 1e7) == open_before


def test_words():
    assert hours_of({"hours": "22:00-05:00"}).words == "22:00-05:00 UTC"
    rule = {"hours": ["9:00-24:00", "1:05-2:00"], "weekdays": ["sun", "Saturday"], "zone": "local"}
    assert hours_of(rule).words == "09:00-24:00, 01:05-02:00 local time on sat, sun"
    assert hours_of({"weekdays": "sat"}).moment_words(unix("2026-11-22T20:05:59Z")) == "Sun 20:05 UTC"
    assert hours_of({"zone": "+05:30"}).moment_words(unix("2026-11-22T20:05:59Z")) == "Mon 01:35 +05:30"


def test_they_are_the_same_out_of_their_own_words():
    for rule in (
        {"hours": ["22:00-05:00", "12:00-24:00"], "weekdays": "fri-mon", "zone": "local"},
        {"weekdays": "sat", "zone": "-05:00"},
        {},
    ):
        hours = hours_of(rule)
        again = hours_of(hours.as_rule())
        assert again[:2] == hours[:2] and again.zone.text == hours.zone.text
    assert hours_of({}) == Hours()


def test_a_fraction_of_a_second_is_no_reason_to_go_on_for_ever():
    for wall in (2**31 - 0.2, 2**31 + 0.3, 1795384799.9999998):
        found = opens([hours_of({"hours": "22:00-22:01", "zone": "+05:30"})], wall, wall + 1e6)
        assert found == int(found) and is_open(hours_of({"hours": "22:00-22:01", "zone": "+05:30"}), found)


@NAMES
@pytest.mark.parametrize("text", ["Europe", "../etc/passwd", "europe/zurich", "Nowhere/Land", "", " "])
def test_what_is_no_zone(text):
    with pytest.raises(ValueError) as caught:
        parse_zone(text)
    assert "such as Europe/Zurich" in str(caught.value)


@NAMES
def test_the_zone_that_was_meant():
    with pytest.raises(ValueError) as caught:
        parse_zone("Europe/Zuerich")
    assert "did you mean 'Europe/Zurich'?" in str(caught.value)


def test_names_need_a_python_that_has_them(monkeypatch):
    monkeypatch.setattr(zones, "zoneinfo", None)
    with pytest.raises(ValueError) as caught:
        parse_zone("Europe/Zurich")
    assert "knows no zones by name" in str(caught.value)
    assert [parse_zone(text).text for text in ("utc", "Local", "+02:00")] == ["UTC", "local", "+02:00"]


@pytest.mark.skipif(sys.version_info < (3, 9), reason="no zones by name")
def test_names_need_time_zone_data(monkeypatch):
    def nothing(*_args):
        raise zones.zoneinfo.ZoneInfoNotFoundError

    monkeypatch.setattr(zones.zoneinfo, "ZoneInfo", nothing)
    monkeypatch.setattr(zones.zoneinfo, "available_timezones", set)
    with pytest.raises(ValueError) as caught:
        parse_zone("Europe/Zurich")
    assert "package tzdata" in str(caught.value)
