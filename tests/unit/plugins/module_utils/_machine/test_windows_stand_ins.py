# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of a Windows machine whose programs are played: appcmd.exe by what it is documented to print, PowerShell by what the script says."""

import contextlib
import json
import sys
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    FAILED,
    RunnerFailed,
    StepRun,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import (
    jobs,
    platform,
    services,
    step_runners,
    trust,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import step

APPCMD = """
import json, sys
with open(FOLDER + "/iis.json") as file:
    state = json.load(file)
with open(FOLDER + "/calls", "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
verb, what, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
if "say" in state:
    print(state["say"])
    sys.exit(state["code"])
lines = []
if verb == "list" and what == "site":
    lines = ['<SITE SITE.NAME="%s" SITE.ID="%d" bindings="http/*:80:" state="%s" />' % (name, number, found)
             for number, (name, found) in enumerate(sorted(state["sites"].items()), 1)]
elif verb == "list" and what == "apppool":
    lines = ['<APPPOOL APPPOOL.NAME="%s" PipelineMode="Integrated" state="%s" />' % one for one in sorted(state["pools"].items())]
elif verb == "list":
    if state["requests"]:
        lines = ['<REQUEST REQUEST.NAME="fb1" Url="/" SITE.ID="1" APPPOOL.NAME="pool" />'] * state["requests"].pop(0)
else:
    kind = "sites" if what == "site" else "pools"
    name = rest[0].split(":", 1)[1]
    if name in state["refuse"]:
        print("ERROR ( message:Access is denied. )")
        sys.exit(5)
    state[kind][name] = "Stopped" if verb == "stop" else "Started"
print('<?xml version="1.0" encoding="UTF-8"?>')
print("<appcmd>%s</appcmd>" % "".join(lines))
with open(FOLDER + "/iis.json", "w") as file:
    json.dump(state, file)
"""


class Iis:
    """IIS, as its appcmd.exe knows it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "appcmd.py").write_text(APPCMD.replace("FOLDER", repr(str(folder))))
        self.put(
            sites={"Shop": "Started", "Old": "Stopped"},
            pools={"pool": "Started", "other": "Started"},
            requests=[],
            refuse=[],
        )

    def put(self, **keys):
        (self.folder / "iis.json").write_text(json.dumps(keys))

    def get(self):
        return json.loads((self.folder / "iis.json").read_text())

    def change(self, **keys):
        self.put(**dict(self.get(), **keys))

    def changes(self):
        calls = (self.folder / "calls").read_text().splitlines()
        return [call for call in calls if not call.startswith("list")]


@pytest.fixture
def web(tmp_path, monkeypatch):
    found = Iis(tmp_path)
    monkeypatch.setattr(step_runners, "APPCMD", [sys.executable, str(tmp_path / "appcmd.py")])
    return found


def wanted(**keys):
    return dict(step("web", "iis", sites=["Shop"], app_pools=["pool"], at_limit="fail", interval=0.01), **keys)


def work(runner, kind, direction, limit=30.0):
    return runner(None).work(StepRun(kind, direction, "job", limit, 0.0, {}))()


def test_what_runs_before(web):
    assert step_runners.IisRunner(None).before(wanted()) == {"sites": ["Shop"], "app_pools": ["pool"]}
    assert step_runners.IisRunner(None).before(wanted(sites=["Old"])) == {"sites": [], "app_pools": ["pool"]}


def test_what_is_not_there(web):
    with pytest.raises(RunnerFailed, match="IIS has no site named Shup"):
        step_runners.IisRunner(None).before(wanted(sites=["Shup"]))


def test_sites_are_stopped_then_their_requests_waited_for_then_pools_stopped(web):
    web.change(requests=[2, 1])
    assert work(step_runners.IisRunner, wanted(), "do")["state"] == DONE
    assert web.changes() == ["stop site /site.name:Shop", "stop apppool /apppool.name:pool"]
    assert work(step_runners.IisRunner, wanted(), "undo")["state"] == DONE
    assert web.changes()[2:] == ["start apppool /apppool.name:pool", "start site /site.name:Shop"]
    assert web.get()["pools"]["other"] == "Started"


def test_requests_that_do_not_end(web):
    web.change(requests=[1] * 1000)
    failed = work(step_runners.IisRunner, wanted(), "do", limit=0.5)
    assert failed["state"] == FAILED and "1 requests are still running" in failed["note"]
    assert web.get()["pools"]["pool"] == "Started"


def test_one_that_is_refused(web):
    web.change(refuse=["Shop"])
    with pytest.raises(RunnerFailed, match="site Shop could not be stopped: .*Access is denied"):
        work(step_runners.IisRunner, wanted(), "do")


@pytest.mark.parametrize(
    "said, code, words",
    [
        ("", 0, "no element found"),
        ("garbage", 0, "syntax error"),
        ("<html/>", 0, "its answer begins with html"),
        ("ERROR ( message:Configuration error )", 1, "exit code 1, .*Configuration error"),
    ],
)
def test_no_answer_is_no_empty_list(web, said, code, words):
    web.change(say=said, code=code)
    with pytest.raises(RunnerFailed, match=words):
        step_runners.IisRunner(None).before(wanted())


def test_appcmd_is_not_there(web, monkeypatch):
    monkeypatch.setattr(step_runners, "APPCMD", [str(web.folder / "no such")])
    with pytest.raises(RunnerFailed, match="can't be run"):
        step_runners.IisRunner(None).before(wanted())


def test_it_does_not_answer(web, monkeypatch):
    monkeypatch.setattr(step_runners, "APPCMD", [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(step_runners, "WITHIN", 0.2)
    with pytest.raises(RunnerFailed, match="did not answer within 0.2 s"):
        step_runners.IisRunner(None).before(wanted())


POWERSHELL = """
import json, os, sys
with open(FOLDER + "/calls", "a") as file:
    file.write(os.environ["AZURE_MAINTENANCE_PARAMETERS"] + "\\n")
with open(FOLDER + "/answers.json") as file:
    answers = json.load(file)
print("WARNING: something else")
print(answers.pop(0))
with open(FOLDER + "/answers.json", "w") as file:
    json.dump(answers, file)
"""


@pytest.fixture
def node(tmp_path, monkeypatch):
    (tmp_path / "powershell.py").write_text(POWERSHELL.replace("FOLDER", repr(str(tmp_path))))
    monkeypatch.setattr(step_runners, "POWERSHELL", [sys.executable, str(tmp_path / "powershell.py")])
    monkeypatch.setattr(step_runners, "script", lambda: "the script")

    def put(*answers):
        texts = [one if isinstance(one, str) else "azure-maintenance:" + json.dumps(one) for one in answers]
        (tmp_path / "answers.json").write_text(json.dumps(texts))

    put.calls = lambda: [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    return put


def cluster_step(**keys):
    return dict(
        step("node", "failover_cluster", node="", cluster="", force_drain=False, fail_back="immediate", interval=0.01),
        **keys,
    )


def seen(state, drain, done, asked=False, problem=""):
    return {"node": "N1", "state": state, "drain": drain, "done": done, "asked": asked, "problem": problem}


@pytest.mark.parametrize("state, paused", [("Up", False), ("Paused", True)])
def test_whether_a_node_was_paused_before(node, state, paused):
    node(seen(state, "Completed", paused))
    assert step_runners.ClusterRunner(None).before(cluster_step()) == {"paused": paused}
    assert [call["Begins"] for call in node.calls()] == [False], "the cluster is asked to change nothing"


def test_a_node_that_does_not_say_whether_it_was_paused_before(node):
    node(seen("", "", False, problem="The cluster service is not running"))
    with pytest.raises(RunnerFailed, match="the state of node N1 is not known. The cluster service is not running"):
        step_runners.ClusterRunner(None).before(cluster_step())


def test_a_node_is_drained(node):
    node(
        seen("Up", "NotInitiated", False, True), seen("Paused", "InProgress", False), seen("Paused", "Completed", True)
    )
    assert work(step_runners.ClusterRunner, cluster_step(), "do")["state"] == DONE
    calls = node.calls()
    assert [call["Begins"] for call in calls] == [True, False, False], "the cluster is asked once"
    assert calls[0]["Action"] == "suspend" and calls[0]["FailBack"] == "immediate"


def test_its_drain_fails(node):
    node(seen("Paused", "Failed", False, problem="no room for a role"))
    failed = work(step_runners.ClusterRunner, cluster_step(), "do")
    assert failed["state"] == FAILED and "its drain is Failed. no room for a role" in failed["note"]


def test_it_is_resumed(node):
    node(seen("Up", "NotInitiated", True, True))
    assert work(step_runners.ClusterRunner, cluster_step(), "undo")["state"] == DONE
    assert node.calls()[0]["Action"] == "resume"


def test_its_time_is_over(node):
    node(*[seen("Paused", "InProgress", False)] * 1000)
    failed = work(step_runners.ClusterRunner, cluster_step(interval=0.4), "do", limit=0.5)
    assert failed["state"] == FAILED and "its drain is InProgress" in failed["note"]


@pytest.mark.parametrize(
    "said", ["", "garbage", "azure-maintenance:{}", "azure-maintenance:null", "azure-maintenance:{"]
)
def test_powershell_that_does_nothing_has_not_done_it(node, said):
    """As under Wine, whose powershell.exe ends with 0."""
    node(said)
    with pytest.raises(RunnerFailed, match="did not run the cluster's cmdlets .exit code 0.*policy of the domain"):
        work(step_runners.ClusterRunner, cluster_step(), "do")


def test_what_a_program_writes_is_read_in_utf_8_or_in_the_code_page(monkeypatch):
    assert platform.text_of("Größe".encode()) == "Größe"
    assert platform.text_of(b"Gr\xf6\xdfe").startswith("Gr")
    monkeypatch.setattr(platform, "CODE_PAGE", "cp850")
    assert platform.text_of("Größe".encode("cp850")) == "Größe"
    assert platform.text_of("Größe".encode()[:-2], is_whole=False) == "Grö"


@pytest.mark.parametrize("encoding", ["utf-8", "cp850"])
def test_so_is_what_a_hook_writes_though_only_its_end_is_kept(monkeypatch, tmp_path, encoding):
    monkeypatch.setattr(platform, "CODE_PAGE", "cp850")
    monkeypatch.setattr(jobs, "MOST", 40)
    (tmp_path / "said").write_bytes(("ä" * 40 + "Größe\r\n").encode(encoding))
    with open(tmp_path / "said", "rb") as pipe:
        said = jobs.Stream(pipe).end()
    assert said.endswith("äGröße\n") and set(said) == set("äGröße\n")


def test_powershell_is_started_by_its_whole_path():
    """By its name alone the current folder and each folder of PATH decide what runs as SYSTEM."""
    command = platform.argv_of("C:/hooks/10 a.PS1")
    assert command == [*platform.POWERSHELL, "-File", "C:/hooks/10 a.PS1"]
    assert [*platform.POWERSHELL, "-Command"] == step_runners.POWERSHELL
    assert "WindowsPowerShell" in command[0] and platform.SYSTEM32 in command[0]


@pytest.mark.parametrize("name", ["10-a&b.cmd", "10-a^b.BAT", "%TEMP%/10-a.cmd", "a b&c.cmd"])
def test_a_batch_file_whose_name_cmd_would_take_apart_is_not_run(name):
    assert "cmd.exe takes the characters & ^ % for its own" in trust.unfit_name(f"C:/hooks/{name}")
    assert trust.unfit_name(f"C:/hooks/{name}".replace(".cmd", ".ps1").replace(".BAT", ".exe")) == ""
    assert trust.unfit_name("C:/hooks (x86)/10-a.cmd") == ""
    assert "its name must end in one of" in trust.unfit_name("C:/hooks/10-a.sh")


@pytest.mark.parametrize(
    "states, words", [([7], "it is paused"), ([2, 7], "it is paused"), ([2, 1], "it has ended"), ([2, 4], "")]
)
def test_a_service_that_does_not_start_is_not_waited_for_to_the_limit(monkeypatch, states, words):
    left = [1, *states]  # what the service manager says, one after the other; nothing more may be asked
    played = types.SimpleNamespace(
        status=lambda: types.SimpleNamespace(state=left.pop(0), code=0, own_code=0), ask_to_start=lambda: None
    )

    @contextlib.contextmanager
    def opened(*_arguments):
        yield played

    monkeypatch.setattr(services, "Service", opened)
    monkeypatch.setattr(services.time, "sleep", lambda _seconds: None)
    with pytest.raises(OSError, match=words) if words else contextlib.ExitStack():
        services.start("W3SVC")
    assert left == []
