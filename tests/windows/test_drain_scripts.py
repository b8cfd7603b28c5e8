# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PowerShell of roles drain and watcher through a real PowerShell, with stand-ins for the cmdlets that only Windows has."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import zipfile

import pytest
import yaml

HERE = pathlib.Path(__file__).resolve().parent
PWSH = os.environ.get("PWSH") or shutil.which("pwsh") or ""
pytestmark = pytest.mark.skipif(not PWSH, reason="no PowerShell 7: put pwsh on PATH, or name it in PWSH")
ROLES = HERE.parent.parent / "roles"
FILES = ROLES / "drain" / "files"

UP = {"State": "Up", "DrainStatus": "NotInitiated"}
DRAINING = {"State": "Paused", "DrainStatus": "InProgress"}
DRAINED = {"State": "Paused", "DrainStatus": "Completed"}
FAILED = {"State": "Paused", "DrainStatus": "Failed"}
DOWN = {"throw": "The cluster service is not running"}


def run(script, answers, **parameters):
    command = [PWSH, "-NoProfile", "-NonInteractive", "-File", str(HERE / "drain_standin.ps1")]
    command += [str(FILES / script), json.dumps(parameters), json.dumps(answers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def node(action, *answers, **more):
    return run("cluster_node.ps1", list(answers), Action=action, Node="n1", **more)


def test_a_node_is_suspended_and_waited_for():
    found = node("suspend", UP, DRAINING, DRAINED, ForceDrain=True)
    assert found["calls"] == ["look n1 ", "suspend n1 True", "wait 1", "look n1 ", "wait 1", "look n1 "]
    assert found["changed"] and found["result"]["done"] and found["result"]["drain"] == "Completed"


def test_a_node_that_is_drained_is_left_alone():
    found = node("suspend", DRAINED, Cluster="c1")
    assert found["calls"] == ["look n1 c1"] and not found["changed"] and found["result"]["done"]


@pytest.mark.parametrize("state", [UP, DRAINED, FAILED])
def test_one_look_changes_nothing(state):
    found = node("suspend", state, Begins=False, Limit=1)
    assert found["calls"] == ["look n1 "] and not found["changed"] and found["result"]["state"] == state["State"]


def test_a_drain_that_fails_is_told_at_once():
    found = node("suspend", UP, FAILED)
    assert found["changed"] and not found["result"]["done"] and found["result"]["drain"] == "Failed"
    assert [call.split()[0] for call in found["calls"]] == ["look", "suspend", "wait", "look"]


def test_a_node_that_somebody_paused_without_a_drain_is_drained():
    paused = {"State": "Paused", "DrainStatus": "NotInitiated"}
    assert "suspend n1 False" in node("suspend", paused, DRAINED)["calls"]


@pytest.mark.parametrize("name, cmdlet", [("immediate", "Immediate"), ("policy", "Policy"), ("none", "NoFailback")])
def test_a_node_is_resumed_with_its_fail_back(name, cmdlet):
    found = node("resume", DRAINED, UP, FailBack=name)
    assert found["calls"] == ["look n1 ", "resume n1 " + cmdlet, "wait 1", "look n1 "]
    assert found["changed"] and found["result"]["done"]


def test_a_node_that_is_up_is_left_alone():
    assert node("resume", UP)["calls"] == ["look n1 "]


def test_a_cluster_that_is_not_there_yet_is_waited_for():
    found = node("resume", DOWN, DRAINED, UP)
    assert [call.split()[0] for call in found["calls"]] == ["look", "wait", "look", "resume", "wait", "look"]
    assert found["result"]["done"] and found["result"]["problem"] == ""


def test_a_limit_is_kept_and_says_what_was_seen():
    found = node("resume", DOWN, Limit=1)
    assert not found["result"]["done"] and found["result"]["problem"] == "The cluster service is not running"
    assert not found["changed"]


def rows(*addresses):
    return {"rows": [{"RemoteAddress": address} for address in addresses]}


def test_connections_are_waited_for():
    found = run("connections.ps1", [rows("10.0.0.4", "10.0.0.5"), rows("10.0.0.4"), rows()], Port=443)
    assert found["calls"] == ["look 443", "wait 1", "look 443", "wait 1", "look 443"]
    assert found["result"]["left"] == 0 and not found["changed"]


@pytest.mark.parametrize(
    "excluded, there",
    [
        ("10.0.0.4,10.0.0.5", ["10.0.0.5", "10.0.0.4"]),
        ("10.0.0.5", ["::ffff:10.0.0.5"]),  # over a socket of IPv6
        ("::ffff:10.0.0.5", ["10.0.0.5"]),
        ("0:0:0:0:0:0:0:1,FE80::A", ["::1", "fe80::a%7"]),
        ("localhost", ["127.0.0.1"]),
    ],
)
def test_known_clients_do_not_count(excluded, there):
    found = run("connections.ps1", [rows(*there)], Port=443, Exclude=excluded)
    assert (found["calls"], found["problem"]) == (["look 443"], "")


def test_connections_that_stay():
    found = run("connections.ps1", [rows("10.0.0.4", "::1")], Port=443, Exclude="10.0.0.40,::2", Limit=1)
    assert found["result"]["left"] == 2


def test_a_client_that_nobody_knows_is_an_error():
    found = run("connections.ps1", [rows()], Port=443, Exclude="nobody.invalid")
    assert found["result"] is None and found["problem"].startswith("host nobody.invalid of exclude is not known: ")


NO_MATCH = {"error": "ObjectNotFound", "message": "No MSFT_NetTCPConnection objects found"}
DENIED = {"error": "PermissionDenied", "message": "Access denied"}


def test_only_an_error_that_says_there_are_none_means_no_connections():
    assert run("connections.ps1", [NO_MATCH], Port=443)["result"]["left"] == 0
    for answer in (DENIED, dict(DENIED, rows=[])):
        found = run("connections.ps1", [answer], Port=443)
        assert found["result"] is None
        assert found["problem"] == "The connections of port 443 could not be listed: Access denied"


def requests(*sites):
    return {"rows": [{"SiteId": site} for site in sites]}


def test_requests_of_a_whole_pool_and_of_a_site_in_a_shared_one():
    found = run(
        "iis_requests.ps1", [requests(1, 2), requests(3, 4), requests()], Pools="P", SitePools="S\nP", SiteIds="3"
    )
    assert found["calls"] == ["look P", "look S", "wait 1", "look P", "look S"]
    assert found["result"]["left"] == 0 and not found["changed"]
    assert run("iis_requests.ps1", [requests(3, 3, 4)], SitePools="S", SiteIds="3", Limit=1)["result"]["left"] == 2


def unpack(folder, *names, sha256=None):
    """Unpack a package with these files to ``python-3.11``; why that failed."""
    package = folder / "python.zip"
    with zipfile.ZipFile(package, "w") as archive:
        for name in names:
            archive.writestr(name, f"new {name}")
    given = {"Package": str(package), "Sha256": sha256 or hashlib.sha256(package.read_bytes()).hexdigest()}
    script = ROLES / "watcher" / "files" / "unpack.ps1"
    return run(script, [rows()], Target=str(folder / "python-3.11"), Program="python.exe", **given)["problem"]


@pytest.mark.parametrize("there", [(), ("python311.zip", "old")])  # as a virus scanner leaves it
def test_a_package_is_unpacked_in_the_place_of_what_is_there(tmp_path, there):
    target = tmp_path / "python-3.11"
    if there:
        target.mkdir()
    for name in there:
        (target / name).write_text("old")
    assert unpack(tmp_path, "python.exe", "python311.zip") == ""
    found = {path.name: path.read_text() for path in target.iterdir()}
    assert found == {"python.exe": "new python.exe", "python311.zip": "new python311.zip"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["python-3.11", "python.zip"]


def test_a_package_without_its_program_or_with_another_sha256_is_an_error(tmp_path):
    words = "python.exe is not there: see whether a virus scanner has removed it"
    assert words in unpack(tmp_path, "python311.zip")
    assert unpack(tmp_path, "python.exe") == "", "it is tried again"
    shutil.rmtree(tmp_path / "python-3.11")
    assert f"not {'0' * 64}" in unpack(tmp_path, "python.exe", sha256="0" * 64)
    assert not (tmp_path / "python-3.11").exists()


def test_what_processes_run_stays_on_the_machine(tmp_path):
    """Command lines have other programs' secrets in them: only which versions are in use is said."""
    (block,) = [
        task["block"]
        for task in yaml.safe_load((ROLES / "watcher/tasks/windows/cleanup.yml").read_text())
        if "block" in task
    ]
    call = block[0]["ansible.windows.win_powershell"]
    script = tmp_path / "cleanup.ps1"
    script.write_text(call["script"])
    used, unused = r"C:\Program Files\AM\1.0.pyz", r"C:\Program Files\AM\2.0.pyz"
    lines = ["other.exe --password geheim", None, rf'"c:\program files\am\python.exe" -I -S "{used.lower()}" job']
    answer = {"rows": [{"CommandLine": line} for line in lines]}
    (parameter,) = call["parameters"]
    assert run(script, [answer], **{parameter: [used, unused]})["result"] == [used]
    assert run(script, [answer], **{parameter: [unused]})["result"] == []
    assert run(script, [{"rows": []}], **{parameter: [used]})["result"] == []


def test_powershell_7_can_not_list_the_requests_of_iis():
    """Its objects have no methods there, and what they hold may be less than there is."""
    command = f"try {{ . '{FILES / 'iis_requests.ps1'}' -Pools P }} catch {{ $_.Exception.Message }}"
    done = subprocess.run(
        [PWSH, "-NoProfile", "-Command", command], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("running requests of IIS can be listed by Windows PowerShell only")
