# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What look.ps1 does with files, under a real PowerShell: the same as its part is played in all other tests."""

import base64
import pathlib
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.played import (
    PlayedMachine,
)

ONE, TWO = (base64.b64encode(content).decode() for content in (b'{"number": 1}\n', b"\x00\xff\r\n"))
EMPTY = ""
ENDS = {"message"}  # what is not the same in both


def read(path="mark.json", stop=False, **expect):
    return {"Do": "read", "Path": path, "Stop": stop, "Expect": expect}


def edit(body, known=None, path="mark.json", compare=True, stop=False, within=(0, 0)):
    request = {"Do": "edit", "Path": path, "Known": known, "Body": body, "Compare": compare, "Stop": stop, "Expect": {}}
    return dict(request, FromMs=within[0], UntilMs=within[1])


LONG_AGO, FROM_NOW_ON, BEFORE_ITS_START = (0, 1), (1, 2**60), (2**60, 2**61)


def folder(path="yes", stop=False, **expect):
    return {"Do": "folder", "Path": path, "Stop": stop, "Expect": expect}


LISTS = [
    [read(), folder()],
    [edit(None, ONE), read()],
    [edit(ONE), read(), edit(TWO)],
    [edit(TWO, TWO), edit(TWO, ONE), read(body=TWO), read(body=ONE)],
    [read(body=TWO, stop=True), folder(count=0, stop=True), edit(ONE, TWO, stop=True), read(), edit(TWO)],
    [edit(TWO), read(body=ONE, stop=True), edit(ONE, TWO), read()],
    [folder(count=1, stop=True), edit(ONE, TWO)],
    [read("none.json", stop=True, body=None), edit(ONE, TWO), read(), edit(TWO)],
    [edit(ONE, "nonsense", stop=True), read(), folder()],
    [edit(EMPTY, TWO), read(), edit(ONE), edit(ONE, EMPTY)],
    [edit(ONE, path="yes/a.json", compare=False), edit(TWO, path="yes/b.json", compare=False), folder()],
    [edit(ONE, path="yes/b.json", compare=False), edit(None, path="yes/a.json", compare=False), folder(), folder("no")],
    [edit(None, ONE), read(), edit(None), edit(ONE, compare=False), read(path="mark.json/x")],
    [edit(TWO, ONE, within=LONG_AGO, stop=True), read(), folder()],
    [edit(TWO, ONE, within=BEFORE_ITS_START), read(), edit(TWO, ONE, within=FROM_NOW_ON), read(), edit(ONE, TWO)],
    [{"Do": "boot", "Stop": False, "Expect": {}}],
]


def within(place, requests):
    """Names are of the folder; what is a whole path stays."""
    return [
        dict(request, Path=f"{place}/{request['Path']}") if request.get("Path", "%")[:1] not in "%/" else request
        for request in requests
    ]


@pytest.fixture(scope="module")
def carried_out(look, tmp_path_factory):
    """The answers to each of the lists, and the folder that all of them worked in."""
    place = tmp_path_factory.mktemp("files")
    return answers_of(look, place, LISTS), place / "AzureMaintenance"


def answers_of(look, place, requests_lists):
    return [look(within(place / "AzureMaintenance", requests))["answers"] for requests in requests_lists]


def test_it_answers_as_it_is_played(carried_out, tmp_path):
    played = PlayedMachine(tmp_path)
    for requests, found in zip(LISTS[:-1], carried_out[0][:-1], strict=True):
        expected = played.result(within("AzureMaintenance", requests))["answers"]
        assert [{key: said[key] for key in said if key not in ENDS} for said in found] == [
            {key: said[key] for key in said if key not in ENDS} for said in expected
        ], requests


def test_what_somebody_else_has_open_is_busy_and_not_broken(look, tmp_path):
    """The lock: held by this process, as another run of the script would."""
    fcntl = pytest.importorskip("fcntl")
    place = tmp_path / "AzureMaintenance"
    place.mkdir()
    with open(place / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ((answer,),) = answers_of(look, tmp_path, [[edit(ONE)]])
    assert answer["failure"] == "Busy" and not (place / "mark.json").exists()


def test_nothing_is_changed_too_late_after_a_wait_for_what_has_a_file_open(look, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    place = tmp_path / "AzureMaintenance"
    place.mkdir()
    (place / "mark.json").write_bytes(base64.b64decode(TWO))
    ((clock,),) = answers_of(look, tmp_path, [[boot()]])
    with open(place / "mark.json.new", "wb") as scanned:
        fcntl.flock(scanned, fcntl.LOCK_EX)
        released = threading.Timer(1.0, fcntl.flock, (scanned, fcntl.LOCK_UN))
        released.start()
        request = edit(ONE, compare=False, within=(0, clock["clock_ms"] + 500))
        ((answer,),) = answers_of(look, tmp_path, [[request]])
        released.join()
    assert answer["part"] == "late" and (place / "mark.json").read_bytes() == base64.b64decode(TWO)
    assert sorted(path.name for path in place.iterdir()) == ["lock", "mark.json"]


def test_where_the_disk_is_full_nothing_is_left_behind(look, tmp_path):
    place = tmp_path / "AzureMaintenance"
    place.mkdir()
    (place / "mark.json.new").symlink_to("/dev/full")
    ((answer,),) = answers_of(look, tmp_path, [[edit(ONE)]])
    assert answer["failure"] and sorted(path.name for path in place.iterdir()) == ["lock"]


def test_what_is_too_large_to_be_ours_is_not_read(look, tmp_path):
    place = tmp_path / "AzureMaintenance"
    (place / "yes").mkdir(parents=True)
    with open(place / "mark.json", "wb") as file:
        file.truncate(1 << 30)
    for number in range(3):
        (place / "yes" / f"{number}.json").write_bytes(bytes(500_000))
    ((mark, yes),) = answers_of(look, tmp_path, [[read(), folder()]])
    assert "1073741824 bytes" in mark["message"] and "over 1048576 bytes" in yes["message"]


def test_it_knows_when_the_machine_was_started(carried_out):
    (boot,) = carried_out[0][-1]
    assert boot["id"] == pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert (
        0 < boot["clock_ms"] <= boot["uptime_ms"] + 60000
        and boot["uptime_ms"] > 0
        and boot["booted"][4] == "-"
        and "T" in boot["booted"]
    )


def test_the_folder_of_windows_is_where_the_environment_says(windows, look, tmp_path):
    path = "%ProgramData%\\AzureMaintenance\\mark.json"
    request = dict(edit(ONE), Path=path)
    (answers,) = answers_of(look, tmp_path, [[request, dict(read(), Path=path)]])
    assert [answer["body"] for answer in answers] == [ONE, ONE]
    assert pathlib.Path(windows.environment["ProgramData"], "AzureMaintenance", "mark.json").is_file()


def test_whose_a_folder_is(look, tmp_path):
    """As far as that can be shown here: whether it is there, and a link."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    asked = [trust(tmp_path / name) for name in ("none", "there", "link")]
    (answers,) = answers_of(look, tmp_path, [asked])
    assert [(answer["sddl"] is None, answer["link"]) for answer in answers] == [
        (True, False),
        (False, False),
        (False, True),
    ]


def test_a_disk_is_told_from_an_earlier_one_by_when_the_lock_was_made(look, tmp_path):
    place = tmp_path / "AzureMaintenance"
    (answers,) = answers_of(look, tmp_path, [[trust(place), edit(ONE), trust(place), edit(TWO, ONE), trust(place)]])
    none, _made, first, _changed, second = answers
    assert "lock" not in none and first["lock"] == second["lock"] > 0


def trust(path, **expect):
    return {"Do": "trust", "Path": str(path), "Stop": bool(expect), "Expect": expect}


def boot(**expect):
    return {"Do": "boot", "Stop": bool(expect), "Expect": expect}


def test_nothing_is_done_unless_the_machine_is_what_it_was(look, tmp_path):
    """Every kind of answer that is compared: as it is, and as it is not; by PowerShell's own comparison of texts, numbers and nothing."""
    place = tmp_path / "AzureMaintenance"
    place.mkdir()
    identity = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    ((found,),) = answers_of(look, tmp_path, [[trust(place)]])
    known = {key: found[key] for key in ("sddl", "link", "user")}
    same = [trust(place, **known), boot(id=identity), trust(tmp_path / "none", sddl=None, link=False, user="")]
    others = [
        trust(place, **dict(known, link=True)),
        trust(place, **dict(known, sddl="O:BUD:")),
        trust(place, **dict(known, sddl=None)),
        trust(tmp_path / "none", sddl="", link=False, user=""),
        boot(id=identity.upper()),
        boot(id=""),
    ]
    (went, *held) = answers_of(look, tmp_path, [[*same, edit(ONE)], *([one, edit(TWO, ONE)] for one in others)])
    assert [answer.get("failure") for answer in went] == [None] * 4
    assert [[answer["failure"] for answer in answers] for answers in held] == [["Changed", "Skipped"]] * len(others)
    assert (place / "mark.json").read_bytes() == base64.b64decode(ONE)


def test_it_leaves_no_other_files_behind(carried_out):
    place = carried_out[1]
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()) == [
        "lock",
        "mark.json",
        "yes/b.json",
        "yes/lock",
    ]
