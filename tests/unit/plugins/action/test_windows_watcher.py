# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watcher and its playbooks over a Windows machine, by ansible-playbook: what is done on a stand-in for the machine (standin/installing.py),
and that each call is one that the modules of ansible.windows take."""

import hashlib
import json
import re
import shutil
import zipfile

import pytest
import yaml
from ansible.release import __version__

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.windows_host import WINDOWS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.windows_host import (
    folders as windows_folders,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import configured
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action import windows_specs
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import PLAYS
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import (
    COLLECTION,
    emulator,
    playbook,
)

DEPLOY, REMOVE = (f"cloudops.azure_maintenance.{name}_watcher" for name in ("deploy", "remove"))
PROGRAMS, DATA = r"C:\Program Files\AzureMaintenance", r"C:\ProgramData\AzureMaintenance"
SETTINGS = DATA + r"\config\watcher.json"
HOOKS = [
    {"name": "app.cmd", "phase": "prepare", "content": "@echo off\n@exit 0\n"},
    {"name": "app.ps1", "phase": "recover", "types": ["Reboot"], "content": "'é'\n"},
]
INTERNAL = {"_copy_mode", "_original_basename", "files", "directories", "symlinks"}
"""What the action of win_copy adds."""
once = pytest.mark.skipif(not __version__.startswith("2.21"), reason="minutes long: on one core only")
TASKS = COLLECTION / "roles" / "watcher" / "tasks" / "windows"


class Deployed:
    """A machine, and plays over it. ``calls`` are those of the last play: module, arguments, check mode."""

    def __init__(self, folder, endpoint):
        self.folder, self.endpoint = folder, endpoint
        self.machine = folder / "machine"
        self.machine.mkdir()
        package = folder / "python-3.11.9-embed-amd64.zip"
        with zipfile.ZipFile(package, "w") as archive:
            for name in ("python.exe", "python311.zip", "python311._pth"):
                archive.writestr(zipfile.ZipInfo(name), name)
        self.sha256 = hashlib.sha256(package.read_bytes()).hexdigest()
        self.python = {"watcher_python_zip": package.name, "watcher_python_zip_sha256": self.sha256}
        self.calls, self.printed, self.changed = [], "", 0

    def says(self, **what):
        (self.machine / "says.json").write_text(json.dumps(what), encoding="utf-8")

    def run(self, play=DEPLOY, check=False, status=0, python=None, **variables):
        """Run a play that is to end with this status; returns what was changed."""
        log = self.machine / "calls"
        log.unlink(missing_ok=True)
        line = f"win1 ansible_connection=installing ansible_shell_type=powershell installing_folder={self.machine}\n"
        given = {
            "azure_maintenance_hosts": "win1",
            "azure_maintenance_endpoint": self.endpoint,
            "watcher_hooks": HOOKS,
            **(self.python if python is None else python),
            **variables,
        }
        self.printed, ended = playbook(
            self.folder,
            play,
            line,
            given,
            *(["--check"] if check else []),
            ANSIBLE_CONNECTION_PLUGINS=str(PLAYS),
            COLUMNS="100000",
        )
        assert ended == status, self.printed
        self.calls = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        for name, arguments, _check in self.calls:
            module = name.rpartition(".")[2]
            wrong = windows_specs.wrong_arguments(
                module, {key: arguments[key] for key in arguments if key not in INTERNAL}
            )
            assert wrong == [], (name, arguments)
        found = re.search(r"win1 +: ok=\d+ +changed=(\d+)", self.printed)
        self.changed = int(found.group(1)) if found else 0
        return self.changed

    def called(self, module):
        """The arguments of each call of a module of ansible.windows."""
        return [arguments for name, arguments, _check in self.calls if name == f"ansible.windows.{module}"]

    def path(self, windows):
        return self.machine.joinpath("disk", *windows.replace(":", "").split("\\"))

    def text(self, windows):
        return self.path(windows).read_bytes().decode("utf-8")

    @property
    def services(self):
        return json.loads((self.machine / "state.json").read_text(encoding="utf-8"))["services"]


@pytest.fixture(name="endpoint", scope="module")
def _endpoint(tmp_path_factory):
    scenario = {"settings": {"rate_limit": 0}, "vms": [{"name": "win1", "scope": "web"}]}
    with emulator(tmp_path_factory.mktemp("azure"), scenario) as addresses:
        yield f"{addresses[0]}/vm/win1"


@pytest.fixture(name="win1")
def _win1(tmp_path, endpoint):
    return Deployed(tmp_path, endpoint)


@pytest.fixture(name="first", scope="module")
def _first(tmp_path_factory, endpoint):
    """A machine on which it was installed for the first time."""
    first = Deployed(tmp_path_factory.mktemp("first"), endpoint)
    assert first.run() > 0
    return first


@pytest.fixture(name="installed")
def _installed(win1, first):
    """Another one, which is the same."""
    shutil.copytree(first.machine, win1.machine, dirs_exist_ok=True)
    return win1


def test_check_mode_installs_nothing(win1):
    assert win1.run(check=True) > 0
    assert not win1.path(PROGRAMS).exists() and not win1.path(DATA).exists()


def test_it_is_installed_once_and_removed(installed):
    win1 = installed
    service = win1.services["azure-maintenance"]
    folder = f"{PROGRAMS}\\python-3.11-{win1.sha256[:12]}"
    (program,) = [path.name for path in win1.path(PROGRAMS).glob("*.pyz")]
    assert service["path"] == f'"{folder}\\python.exe" -I -S "{PROGRAMS}\\{program}" run --settings {SETTINGS}'
    assert (service["state"], service["start_mode"], service["username"]) == ("started", "auto", "LocalSystem")
    assert [action["type"] for action in service["failure_actions"]] == ["restart"] * 3
    assert win1.text(f"{folder}\\python.exe") == "python.exe" and not win1.path(f"{folder}.zip").exists()
    with zipfile.ZipFile(win1.path(f"{PROGRAMS}\\{program}")) as bundle:
        assert "azure_maintenance/_machine/windows/services.py" in bundle.namelist()
    settings, wrong = configured(json.loads(win1.text(SETTINGS)), WINDOWS)
    assert wrong == [] and (settings.folder, settings.endpoint) == (DATA, win1.endpoint)
    assert win1.text(DATA + r"\config\hooks\prepare.d\50-app.cmd") == "@echo off\r\n@exit 0\r\n"
    assert win1.text(DATA + r"\config\hooks\recover.d\Reboot\50-app.ps1") == "\ufeff'é'\r\n"
    command = win1.text(PROGRAMS + r"\azure-maintenance.cmd")
    assert f'"{folder}\\python.exe" -I -S "{PROGRAMS}\\{program}" %*' in command.splitlines()

    assert win1.run() == 0
    assert {given.get("state") for given in win1.called("win_service")} == {None, "absent", "started"}, "not restarted"
    assert not [path for given in win1.called("win_command") for path in given["argv"] if "\\\\" in path]
    assert win1.run(check=True) == 0

    assert win1.run(REMOVE, check=True) > 0
    assert win1.services and win1.path(PROGRAMS).exists()
    assert win1.run(REMOVE) > 0
    assert win1.services == {} and not win1.path(PROGRAMS).exists() and not win1.path(DATA).exists()
    assert win1.run(REMOVE) == 0


@once
def test_reports_and_health_are_services_of_accounts_of_their_own(win1):
    reports = [{"url": "https://reports.test/x", "secret": "geheim"}]
    win1.says(unseen="in service, but its maintenance mark can't be checked: Access is denied")
    win1.run(status=2, watcher_reports=reports, watcher_health={"http": ["127.0.0.1:8009"]})
    assert "win1 can't see whether the machine is marked" in win1.printed and "Access is denied." in win1.printed
    win1.says()
    win1.run(watcher_reports=reports, watcher_health={"http": ["127.0.0.1:8009"]})
    accounts = {name: service["username"] for name, service in win1.services.items()}
    assert accounts == {service.name: service.account for service in (WINDOWS.watcher, WINDOWS.reports, WINDOWS.health)}
    assert {service["state"] for service in win1.services.values()} == {"started"}
    words = {name: service["path"].partition(".pyz")[2] for name, service in win1.services.items()}
    assert words[WINDOWS.reports.name] == f'" send --settings {SETTINGS}'
    assert words[WINDOWS.health.name] == f'" health --folder {DATA} --run-folder {DATA}\\run --http 127.0.0.1:8009'
    (secret,) = win1.path(DATA + r"\config\secrets").iterdir()
    assert secret.read_text() == "geheim" and "geheim" not in win1.printed
    folders = {path for given in win1.called("win_command") for path in given["argv"] if path.startswith(DATA)}
    assert set(windows_folders(DATA)) <= folders, "each has an access list of its own"

    win1.run(watcher_hooks=[dict(HOOKS[0], phase="notify")])
    assert set(win1.services) == {WINDOWS.watcher.name, WINDOWS.reports.name}
    assert list(secret.parent.iterdir()) == []
    win1.run()
    assert set(win1.services) == {WINDOWS.watcher.name}


@once
def test_a_machine_that_is_out_of_service_keeps_its_watcher(installed):
    win1 = installed
    mark = win1.path(DATA + r"\mark.json")
    mark.write_text(json.dumps({"format": 1, "holder": {"kind": "watcher"}, "steps": []}))
    win1.run(REMOVE, status=2)
    assert "win1 is out of service by the watcher, which is to recover it" in win1.printed and win1.changed == 0
    assert win1.run(REMOVE, watcher_force=True) > 0
    assert [given["argv"][1:] for given in win1.called("win_command")] == [["recover", "--force"]]
    assert not mark.exists() and not win1.path(DATA).exists()


@once
def test_another_python_goes_beside_the_one_that_runs_and_hooks_of_others_stay(win1):
    win1.run(watcher_image=True, azure_maintenance_endpoint="http://127.0.0.1:9")
    assert win1.services["azure-maintenance"]["state"] == "stopped"
    assert [path.name for path in win1.path(DATA).iterdir()] == ["config"], "an image has no state"

    former = win1.path(PROGRAMS + r"\0.0.1.pyz")
    former.write_text("a version that runs a hook")
    unused = win1.path(PROGRAMS + r"\0.0.2.pyz")
    unused.write_text("")
    win1.says(
        processes=["", r"c:\program files\azuremaintenance\python-x\python.exe -I " + PROGRAMS + r"\0.0.1.pyz job"]
    )
    others = win1.path(DATA + r"\config\hooks\prepare.d\99-theirs.exe")
    others.write_text("")
    there = r"D:\Python311\python.exe"
    win1.path(there).parent.mkdir(parents=True)
    win1.path(there).write_text("")
    win1.run(python={"watcher_python": there}, watcher_hooks=HOOKS[:1])
    assert win1.services["azure-maintenance"]["path"].startswith(f"{there} -I -S ")
    assert win1.services["azure-maintenance"]["state"] == "started"
    assert former.exists() and not unused.exists() and not list(win1.path(PROGRAMS).glob("python-*"))
    assert not win1.path(DATA + r"\config\hooks\recover.d\Reboot\50-app.ps1").exists()

    win1.run(REMOVE)
    assert others.exists() and not win1.path(SETTINGS).exists() and not win1.path(PROGRAMS).exists()


@once
def test_what_others_could_change_is_closed_or_refused(win1):
    config = DATA + r"\config"
    win1.says(open={config: "its owner is S-1-5-21-1-2-3-1001"})
    win1.run()
    assert [given["path"] for given in win1.called("win_owner")] == [config]
    assert {given["user"] for given in win1.called("win_acl")} == {"S-1-5-32-544", "S-1-5-18"}
    assert win1.services["azure-maintenance"]["state"] == "started"

    win1.says(open={DATA: "Users (BU) may write there"})
    win1.run(REMOVE)
    win1.run(status=2)
    assert "is not trusted: Users (BU) may write there" in win1.printed
    assert win1.services == {} and win1.called("win_owner") == []


@once
def test_settings_that_the_program_refuses_leave_the_former_ones_and_what_they_name(installed):
    win1 = installed
    secret = win1.path(DATA + r"\config\secrets\report-former")
    secret.write_text("")
    before, hook = win1.text(SETTINGS), DATA + r"\config\hooks\recover.d\Reboot\50-app.ps1"
    win1.says(refused=f"{SETTINGS}.new: the hook is not trusted")
    win1.run(status=2, watcher_hooks=[HOOKS[0], dict(HOOKS[0], name="new.cmd")])
    assert rf"win1: {SETTINGS}: the hook is not trusted".replace("\\", 2 * "\\") in win1.printed
    (checked,) = (given["argv"] for given in win1.called("win_command") if "check-config" in given["argv"])
    assert checked[-4:] == ["--settings", f"{SETTINGS}.new", "--without", "recover.d/Reboot/50-app.ps1"]
    assert win1.text(SETTINGS) == before and win1.path(hook).exists() and secret.exists()
    assert not win1.path(f"{SETTINGS}.new").exists()
    assert [path.name for path in win1.path(DATA + r"\config\hooks\prepare.d").iterdir()] == ["50-app.cmd"]

    win1.says()
    win1.run(watcher_hooks=HOOKS[:1])
    assert win1.text(SETTINGS) != before and not win1.path(hook).exists() and not secret.exists()


@once
def test_what_is_refused_before_the_machine_is_touched(win1):
    win1.run(status=2, python={}, watcher_hooks=[dict(HOOKS[0], user="app")])
    assert "nothing says which Python runs the watcher on Windows" in win1.printed and win1.changed == 0
    assert "on Windows the watcher runs everything as SYSTEM" in win1.printed
    assert [name for name, _arguments, _check in win1.calls] == ["ansible.windows.setup"]


@once
def test_what_speaks_against_the_machine_is_said_before_it_is_touched(win1):
    there = r"D:\Python311\python.exe"
    win1.path(there).parent.mkdir(parents=True)
    win1.path(there).write_text("")
    nobody = {"sid": "S-1-5-32-544", "attributes": ["Use for deny only"]}
    win1.says(groups=[nobody], python={"version": [3, 9, 1], "is_virtual": True, "is_32_bit": False})
    win1.run(status=2, python={"watcher_python": there})
    assert "as deploy, who is no administrator there" in win1.printed and win1.changed == 0
    assert "would run it with Python 3.9" in win1.printed


# ---- what each task asks of a module ----


def tasks():
    pending = [
        task for path in sorted(TASKS.glob("*.yml")) for task in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]
    pending += yaml.safe_load((TASKS.parents[1] / "handlers" / "main.yml").read_text(encoding="utf-8"))
    while pending:
        task = pending.pop()
        pending += [inner for part in ("block", "rescue", "always") for inner in task.get(part) or ()]
        for key, given in task.items():
            if key.startswith("ansible.windows."):
                yield pytest.param(key.rpartition(".")[2], given or {}, id=task["name"])


@pytest.mark.parametrize("module, given", list(tasks()))
def test_a_task_asks_what_its_module_takes(module, given):
    """What stands there as it is; what templates make of the rest is checked where the plays above have run it."""
    assert set(given) <= windows_specs.options_of(module)
    # A template may become anything that is wanted
    wrong = [words for words in windows_specs.wrong_arguments(module, given) if "{{" not in words]
    assert wrong == []
