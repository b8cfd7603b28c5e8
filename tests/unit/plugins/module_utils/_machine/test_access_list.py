# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files and folders of a Windows machine are its administrators' alone."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.access_list import (
    ABOVE,
    HEALTH_SID,
    READ_FILE,
    READING,
    REPORTS_SID,
    SEE,
    WRITING,
    allowed,
    distrust,
    service_sid,
    with_entries,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.trust import way
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


@pytest.mark.parametrize("case", cases("windows_folders.json"))
def test_who_may_write_there(case):
    assert distrust(case["sddl"], case["link"], case["user"], case.get("what", WRITING)) == case["distrust"]


def test_each_folder_on_the_way_is_looked_at():
    assert way(r"C:\ProgramData\AzureMaintenance\hooks\10-app.cmd", READING) == [
        (r"C:\ProgramData\AzureMaintenance\hooks\10-app.cmd", READING),
        (r"C:\ProgramData\AzureMaintenance\hooks", WRITING),
        (r"C:\ProgramData\AzureMaintenance", ABOVE),
        (r"C:\ProgramData", ABOVE),
        ("C:\\", ABOVE),
    ]
    assert way(r"C:\ProgramData\AzureMaintenance") == [
        (r"C:\ProgramData\AzureMaintenance", WRITING),
        (r"C:\ProgramData", ABOVE),
        ("C:\\", ABOVE),
    ]


def test_the_account_of_a_service_follows_from_its_name():
    """TrustedInstaller's is documented: S-1-5-80-956008885-..."""
    known = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
    assert service_sid("TrustedInstaller") == service_sid("TRUSTEDINSTALLER") == known


OF_ADMINISTRATORS = "O:BAD:P(A;;FA;;;SY)(A;;FA;;;BA)"


@pytest.mark.parametrize(
    ("entry", "distrusted"),
    [
        (f"(A;;FR;;;{REPORTS_SID})", False),
        (f"(A;;0x1200a9;;;{REPORTS_SID})", False),
        (f"(A;;FW;;;{REPORTS_SID})", True),
        (f"(A;;0x1301bf;;;{REPORTS_SID})", True),
        (f"(A;;FR;;;{HEALTH_SID})", True),
        (f"(A;;0x100080;;;{HEALTH_SID})", False),
    ],
)
def test_a_secret_is_read_by_the_sender_of_reports_and_no_other_service(entry, distrusted):
    assert bool(distrust(OF_ADMINISTRATORS + entry, False, "", READING)) == distrusted


@pytest.mark.parametrize(
    ("entries", "of_folder", "of_files"),
    [
        ("", 0, 0),
        (f"(A;;0x1000a0;;;{HEALTH_SID})(A;OINPIO;0x100080;;;{HEALTH_SID})", SEE, SEE),
        (f"(A;OICI;FR;;;{HEALTH_SID})", SEE | READ_FILE, SEE | READ_FILE),
        ("(A;OICIIO;GR;;;BU)", 0, SEE | READ_FILE),
        (f"(D;OICI;FR;;;BU)(A;OICI;FA;;;{HEALTH_SID})", 0, 0),
        (f"(A;;FA;;;{HEALTH_SID})(D;;FR;;;WD)", SEE | READ_FILE, 0),
        (f"(A;;FA;;;{REPORTS_SID})", 0, 0),
        ("(A;;ZZ;;;S-1-5-21-1-2-3-1002)", 0, 0),
    ],
)
def test_what_a_service_of_its_own_account_may(entries, of_folder, of_files):
    given = OF_ADMINISTRATORS + entries
    assert allowed(given, HEALTH_SID) & (SEE | READ_FILE) == of_folder
    assert allowed(given, HEALTH_SID, for_files=True) & (SEE | READ_FILE) == of_files


def test_without_a_list_it_may_do_all_and_of_what_is_not_known_nothing():
    assert allowed("O:BAD:NO_ACCESS_CONTROL", HEALTH_SID) & READ_FILE
    assert allowed("", HEALTH_SID) == 0


WANTED = f"D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;;0x1200a0;;;{HEALTH_SID})(A;OINPIO;0x120089;;;{REPORTS_SID})"
OTHERS = "(A;OICI;0x1200a9;;;S-1-5-21-1-2-3-1002)"


@pytest.mark.parametrize(
    ("there", "lacking"),
    [
        ("", f"(A;;0x1200a0;;;{HEALTH_SID})(A;OINPIO;0x120089;;;{REPORTS_SID})"),
        (OTHERS, f"(A;;0x1200a0;;;{HEALTH_SID})(A;OINPIO;0x120089;;;{REPORTS_SID})"),
        (f"(A;;0x1200a0;;;{HEALTH_SID})", f"(A;OINPIO;0x120089;;;{REPORTS_SID})"),
        (f"(A;OINP;FR;;;{REPORTS_SID})(A;;0x1200a0;;;{HEALTH_SID})", f"(A;OINPIO;0x120089;;;{REPORTS_SID})"),
        (f"(A;NPOIIOID;FR;;;{REPORTS_SID})(A;;0x1200A0;;;{HEALTH_SID})", ""),
    ],
)
def test_a_list_gets_what_it_lacks_and_keeps_what_it_has(there, lacking):
    """As Windows writes lists: rights by another name, flags in another order."""
    given = "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)" + there
    assert with_entries("O:BA" + given, WANTED) == (given + lacking if lacking else "")
    assert with_entries(f"O:BA{given}S:AI", WANTED) == (given + lacking if lacking else "")


@pytest.mark.parametrize("sddl", ["", "O:BA", "O:BAD:NO_ACCESS_CONTROL"])
def test_a_list_that_can_not_be_read_is_left_as_it_is(sddl):
    assert with_entries(sddl, WANTED) == ""
