# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection to a machine with a Windows shell and no Windows: the modules by which role watcher installs are played in Python, on a folder
that is the machine's disk. What is there is installed for real, the services and the access lists are notes in a file.

This shows what the role asks for, in which order, and what it makes of the answers; not that Windows does it.
"""

import base64
import fnmatch
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import zipfile

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

# Ansible loads this file as a plugin, from where it can't import the tests of a collection.
STANDIN = pathlib.Path(__file__).with_name("standin.py")
spec = importlib.util.spec_from_file_location("standin", STANDIN)
standin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(standin)

DOCUMENTATION = """
name: installing
short_description: Plays a Windows machine that the watcher is installed on
description: For the tests of cloudops.azure_maintenance.
extends_documentation_fragment:
  - connection_pipelining
options:
  folder:
    description: Folder of the controller that has the machine's disk, its state and the log of calls
    vars:
      - name: installing_folder
"""

ENVIRONMENT = {"ProgramData": r"C:\ProgramData", "ProgramFiles": r"C:\Program Files", "SystemRoot": r"C:\Windows"}
ADMINISTRATOR = {"sid": "S-1-5-32-544", "attributes": ["Mandatory", "Enabled by default", "Enabled", "Owner"]}


class Connection(ConnectionBase):
    # as winrm and psrp have it
    transport = "psrp"
    module_implementation_preferences = (".ps1", ".exe", "")
    allow_executable = False
    has_pipelining = True
    has_native_async = True
    always_pipeline_modules = True

    def __init__(self, *args, **kwargs):
        self._shell_type = "powershell"
        super().__init__(*args, **kwargs)

    def _connect(self):
        self._connected = True
        return self

    @property
    def _machine(self):
        return Machine(pathlib.Path(self.get_option("folder")))

    def exec_command(self, cmd, in_data=None, sudoable=True):
        if self.become is not None:
            raise AnsibleConnectionFailure(f"become by {self.become.name} on a Windows machine")
        said = standin.in_runspace(cmd, self._machine.look)
        if said is not None:
            return 0, said, b""
        try:
            given = standin.module_arguments(in_data or b"{}")
        except ValueError:  # it is no module: a folder for what is put there, or its removal
            return 0, rb"C:\Temp\ansible", b""
        name = given["_ansible_module_name"]
        arguments = {key: value for key, value in given.items() if not key.startswith("_ansible")}
        result = self._machine.call(name, arguments, given["_ansible_check_mode"])
        return 0, json.dumps(result).encode(), b""

    def put_file(self, in_path, out_path):
        target = self._machine.path(out_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(in_path, target)

    def fetch_file(self, in_path, out_path):
        raise NotImplementedError

    def close(self):
        self._connected = False


class Machine:
    """A Windows machine, all of whose state is in a folder.

    What a test wants to be otherwise than usual stands in ``says.json``: ``groups`` of the user, ``python`` and what it says, ``open`` (files and
    folders that others could change, until their owner is set), ``processes``, ``looking`` (whether the watcher polls)
    """

    def __init__(self, folder):
        self.folder = folder
        self.disk = folder / "disk"
        path = folder / "says.json"
        self.says = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path = folder / "state.json"
        self.state = {"services": {}, "owned": []}
        if path.exists():
            self.state = json.loads(path.read_text(encoding="utf-8"))

    def path(self, windows):
        """Where a file of the machine is here."""
        return self.disk.joinpath(*windows.replace("%", "").replace(":", "").replace("\\", "/").strip("/").split("/"))

    def call(self, name, arguments, is_check):
        with open(self.folder / "calls", "a", encoding="utf-8") as log:
            log.write(json.dumps([name, arguments, is_check]) + "\n")
        module = name.rpartition(".")[2]
        found = dict({"changed": False}, **getattr(self, f"_{module}")(arguments, is_check))
        (self.folder / "state.json").write_text(json.dumps(self.state), encoding="utf-8")
        return found

    def look(self, requests):
        """What look.ps1 makes of these."""
        machine = standin.played.PlayedMachine(self.disk, standin.booted())
        machine.boot_id = "boot-1"
        return machine.result(requests)

    # --- what the machine is ---

    def _setup(self, given, is_check):
        return {"ansible_facts": {"ansible_env": ENVIRONMENT}}

    def _win_whoami(self, given, is_check):
        return {"account": {"account_name": "deploy"}, "groups": self.says.get("groups", [ADMINISTRATOR])}

    def _win_powershell(self, given, is_check):
        parameters = given.get("parameters") or {}
        found = {"error": [], "failed": False, "warning": []}
        if is_check:
            return dict(found, changed=True, result={})
        if "Package" not in parameters:
            lines = "\n".join(self.says.get("processes", [])).lower()
            return dict(found, result=[path for path in parameters["Earlier"] if path.lower() in lines])
        package = self.path(parameters["Package"])
        if hashlib.sha256(package.read_bytes()).hexdigest() != parameters["Sha256"]:
            return dict(found, failed=True, msg="another SHA-256")
        with zipfile.ZipFile(package) as archive:
            archive.extractall(self.path(parameters["Target"]))
        return dict(found, changed=True, result={})

    # --- files ---

    def _win_stat(self, given, is_check):
        path = self.path(given["path"])
        return {"stat": {"exists": path.exists(), "isdir": path.is_dir()}}

    def _slurp(self, given, is_check):
        path = self.path(given["src"])
        if not path.is_file():
            return {"failed": True, "msg": f"Path {given['src']} is not found"}
        return {"content": base64.b64encode(path.read_bytes()).decode(), "encoding": "base64"}

    def _win_file(self, given, is_check):
        path = self.path(given["path"])
        is_there = given["state"] == "directory"
        if path.exists() == is_there:
            return {}
        if not is_check and is_there:
            path.mkdir(parents=True)
        elif not is_check:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return {"changed": True}

    def _win_copy(self, given, is_check):
        if given["_copy_mode"] == "query":
            return {
                "files": [file for file in given["files"] if not self._is_the_same(given["dest"], file)],
                "directories": [],
                "symlinks": [],
            }
        target = self.path(given["dest"])
        if not target.parent.is_dir():
            return {"failed": True, "msg": f"there is no folder for {given['dest']}"}
        shutil.copyfile(self.path(given["src"]), target)
        return {"changed": True, "operation": "file_copy"}

    def _is_the_same(self, folder, file):
        path = self.path(folder) / file["dest"]
        return path.is_file() and hashlib.sha1(path.read_bytes()).hexdigest() == file["checksum"]

    def _win_find(self, given, is_check):
        patterns = given.get("patterns") or ["*"]
        patterns = [patterns] if isinstance(patterns, str) else patterns
        found = []
        for root in [given["paths"]] if isinstance(given["paths"], str) else given["paths"]:
            folder = self.path(root)
            if not folder.is_dir():
                return {"failed": True, "msg": f"there is no {root}"}  # a warning, to the real one
            for path in sorted(folder.rglob("*") if given.get("recurse") else folder.iterdir()):
                wanted = path.is_file() == (given.get("file_type", "file") == "file")
                if wanted and any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns):
                    inside = str(path.relative_to(folder)).replace("/", "\\")
                    found.append({"path": f"{root}\\{inside}", "filename": path.name, "isdir": path.is_dir()})
        return {"files": found, "matched": len(found)}

    def _win_wait_for(self, given, is_check):
        return {"failed": self.path(given["path"]).exists(), "msg": "it is still there"}

    # --- owners and access lists ---

    def _win_owner(self, given, is_check):
        self.state["owned"].append(given["path"])
        return {"changed": True}

    def _win_acl(self, given, is_check):
        return {"changed": True}

    def _win_acl_inheritance(self, given, is_check):
        return {"changed": True}

    # --- services ---

    def _win_service_info(self, given, is_check):
        found = self.state["services"].get(given["name"])
        return {"exists": found is not None, "services": [found] if found else []}

    def _win_service(self, given, is_check):
        services, name = self.state["services"], given["name"]
        before = services.get(name)
        if given.get("state") == "absent":
            if before and not is_check:
                del services[name]
            return {"changed": before is not None}
        after = dict(before or {"state": "stopped"}, **given)
        after["state"] = {"restarted": "started"}.get(given.get("state"), given.get("state")) or (before or {}).get(
            "state", "stopped"
        )
        if not is_check:
            services[name] = after
        return {"changed": after != before or given.get("state") == "restarted"}

    # --- the program ---

    def _win_command(self, given, is_check):
        words = given["argv"]
        if not self.path(words[0]).exists():
            return {"rc": 2, "failed": True, "msg": f"the system can't find {words[0]}", "stdout": "", "stderr": ""}
        if "-c" in words:
            found = self.says.get("python", {"version": [3, 11, 9], "is_virtual": False, "is_32_bit": False})
            return {"rc": 0, "stdout": json.dumps(found), "stderr": "", "changed": True}
        rest = words[4:] if words[1:3] == ["-I", "-S"] else words[1:]
        code, printed = getattr(self, "_program_" + rest[0].replace("-", "_"))(rest[1:])
        return {"rc": code, "stdout": printed, "stderr": "", "changed": True, "failed": code != 0}

    def _program_folders(self, words):
        made = [path for kind, path in zip(words[::2], words[1::2], strict=True) if kind == "--folder"]
        made = [path for path in made if not self.path(path).is_dir()]
        for path in made:
            self.path(path).mkdir(parents=True)
        found = [
            {"path": path, "why": f"{path} is not trusted: {why}"}
            for path, why in sorted(self.says.get("open", {}).items())
            if self.path(path).exists() and path in words and path not in self.state["owned"]
        ]
        return 0, json.dumps({"made": made, "open": found})

    def _program_check_config(self, words):
        why = self.says.get("refused", "")
        return (1, why) if why else (0, "it is fine")

    def _program_status(self, words):
        runs = self.state["services"].get("azure-maintenance", {}).get("state") == "started"
        return 0, json.dumps(
            {
                "looking": runs and self.says.get("looking", True),
                "health": [],
                "health_problem": self.says.get("unseen", ""),
            }
        )

    def _program_recover(self, words):
        (self.path(os.path.join(ENVIRONMENT["ProgramData"], "AzureMaintenance")) / "mark.json").unlink()
        return 0, "recovered"
