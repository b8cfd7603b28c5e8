# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be said of look.ps1 without a PowerShell. That it works is for tests/windows to show."""

import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import REQUESTS_PER_SECOND
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows import transport as windows_transport
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.scripts import SCRIPT
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.test_windows_calls import (
    KEYS,
)

TEXT = SCRIPT.read_bytes().decode("utf-8")
LINE = SCRIPT.with_name("line.ps1").read_bytes().decode("utf-8")


def code_of(text):
    return "\n".join(re.sub(r"(^|\s)#.*", "", line) for line in text.splitlines())


CODE = code_of(TEXT)


@pytest.mark.parametrize(("text", "lines"), [(TEXT, 390), (LINE, 70)])
def test_small_plain_ascii(text, lines):
    assert text.isascii()
    assert "\r" not in text and "\t" not in text
    assert len(text.splitlines()) <= lines
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize(
    "newer",
    [
        r"\?\?",
        r"\?\.",
        r"&&",
        r"\|\|",
        r" \? ",
        r"-Parallel",
        r"\bclass\b",
        r"\benum\b",
        r"\busing\b",
        r"Invoke-WebRequest",
        r"Invoke-RestMethod",
        r"-NoProxy",
        r"-SkipHttpErrorCheck",
        r"-AsHashtable",
        r"\bclean\b",
        r"Join-String",
        r"\$IsWindows",
    ],
)
def test_nothing_that_only_one_of_the_powershells_has(newer):
    assert not re.search(newer, CODE) and not re.search(newer, code_of(LINE))


def test_no_proxy_and_no_redirect():
    assert "$web.Proxy = $null" in CODE
    assert "$web.AllowAutoRedirect = $false" in CODE


def test_five_requests_a_second_at_most():
    # there is a pause between any two requests, also before the one at the limit
    (least,) = re.findall(r"\$pause = \[Math\]::Max\((\d+), ", CODE)
    assert CODE.count("-Milliseconds $pause") == CODE.count("Wait-Line $pause") == 1
    (between,) = re.findall(
        r"if \(\$asked -and \$request\['Do'\] -eq 'http'\) { Start-Sleep -Milliseconds (\d+) }", CODE
    )
    assert min(int(least), int(between)) * REQUESTS_PER_SECOND >= 1000


@pytest.mark.parametrize("text", [TEXT, LINE])
def test_its_brackets_match(text):
    text = re.sub(r"'[^']*'|\"(?:[^\"$]|\$\([^)]*\)|\$)*\"", "''", code_of(text))
    open_ones = []
    for char in text:
        if char in "([{":
            open_ones.append(char)
        elif char in ")]}":
            assert open_ones and open_ones.pop() + char in ("()", "[]", "{}")
    assert not open_ones


def test_it_reads_every_key_that_is_sent_and_no_other():
    assert set(re.findall(r"\$request\['(\w+)'\]", CODE, re.IGNORECASE)) == set().union(*KEYS.values())
    assert set(re.findall(r"\$Request\['Do'\] -eq '(\w+)'", CODE)) | {"read"} == set(KEYS)


def test_every_failure_it_makes_up_is_known():
    made_up = set(re.findall(r"failure = '(\w+)'", CODE))
    assert made_up == {"PowerShell", "Timeout", "TooLarge", "Unknown", "Skipped", "Changed", "Busy", "InvalidResponse"}
    known = windows_transport._TOO_SLOW | windows_transport._NOT_HTTP | windows_transport._ENDED
    assert made_up <= known | {"TooLarge", "PowerShell", "Skipped", "Changed", "Busy"}
    assert set(re.findall(r"\$failure = '(\w+)'", CODE)) == {"Unknown"}


def test_sharing_and_lock_violations_are_told_from_other_failures():
    """32 and 33; 1175 to 1177 when a file is replaced that something has open. A disk that is full (112) is none."""
    (numbers,) = re.findall(r"\$busy = (\d[\d, ]+)\n", CODE)
    assert numbers.split(", ") == ["32", "33", "1175", "1176", "1177"]
    assert "($Cause.HResult -band 0xFFFF)" in CODE


def test_the_boot_has_the_id_that_a_watcher_of_the_machine_has():
    path = "plugins/module_utils/_machine/windows/platform.py"
    watchers = (SCRIPT.parents[3] / path).read_text(encoding="ascii")
    (key,) = re.findall(r'^KEY = r"(.+)"$', watchers, re.MULTILINE)
    (value,) = re.findall(r'^_VALUE = "(.+)"$', watchers, re.MULTILINE)
    assert f"$name = '{key}'" in CODE and "[Microsoft.Win32.RegistryOptions]::Volatile" in CODE
    assert set(re.findall(r"[GS]etValue\('(\w+)'", CODE)) == {value}


def test_where_it_is_tested_paths_of_windows_mean_something():
    """tests/windows runs it under a Unix PowerShell, with ProgramData in the environment."""
    assert "'Win32NT') { $path = $path.Replace('\\', '/') }" in CODE


def test_every_key_it_gives_is_read():
    keys = set(re.findall(r"[{;] (\w+) = ", CODE))
    assert keys == {
        "failure",
        "message",
        "part",
        "status",
        "headers",
        "body",
        "polls",
        "files",
        "count",
        "booted",
        "uptime_ms",
        "clock_ms",
        "id",
        "sddl",
        "link",
        "user",
        "lock",
        "changed",
        "Changed",  # of a script, as win_powershell has it
        "Result",
        "answers",
        "result",
        "error",
    }
