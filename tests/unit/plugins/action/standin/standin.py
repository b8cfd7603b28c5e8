# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection to a machine with a Windows shell and no PowerShell: what core sends to it is taken apart, and the modules and
the script that the collection uses are played in Python. This shows the way through Ansible, not that look.ps1 works.

To the collection it is a connection like psrp, which holds a runspace open.
"""

import base64
import importlib.util
import json
import os
import pathlib
import re
import time

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

# Ansible loads this file as a plugin, from where it can't import the tests of a collection.
PLAYED = pathlib.Path(__file__).parents[2] / "plugin_utils" / "_windows" / "played.py"
spec = importlib.util.spec_from_file_location("played", PLAYED)
played = importlib.util.module_from_spec(spec)
spec.loader.exec_module(played)

DOCUMENTATION = """
name: standin
short_description: Plays a Windows machine
description: For the tests of cloudops.azure_maintenance.
extends_documentation_fragment:
  - connection_pipelining
options:
  host:
    description: The inventory's name
    vars:
      - name: ansible_host
"""


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

    def exec_command(self, cmd, in_data=None, sudoable=True):
        said = in_runspace(cmd, self._looked)
        if said is not None:
            return 0, said, b""
        arguments = module_arguments(in_data)
        name = arguments["_ansible_module_name"]
        kept = {key: value for key, value in arguments.items() if not key.startswith("_ansible") and key != "script"}
        self._note(name, kept, arguments["_ansible_check_mode"])
        result = {"changed": False, "error": [], "failed": False, "warning": []}
        if name.endswith("win_ping"):
            result["ping"] = "pong"
        elif name.endswith("win_powershell"):
            result["result"] = "2026-03-02T08:00:00.0000000Z"
        elif name.endswith("win_service"):
            result.update(changed=True, ansible_job_id=f"job-{arguments['state']}", started=True, finished=False)
        return 0, json.dumps(result).encode(), b""

    def _looked(self, requests):
        """What look.ps1 makes of these."""
        about_step = self._about_step(requests[0])
        if about_step:
            return {"answers": [about_step]}
        self._note("look.ps1", requests, False)
        host = self.get_option("host")
        disk = pathlib.Path(os.environ["STANDIN_LOG"]).parent / "disks" / host
        machine = played.PlayedMachine(disk, booted())
        machine.boot_id = "boot-1"
        return {} if host == "mute" else machine.result(requests)

    def _about_step(self, request):
        """What is asked in the place of a module: the state of a service, a job's file, and to have that removed; and endpoints."""
        given = request.get("Parameters", {})
        if "Folder" in given:
            self._note("remove", {"jid": given["Name"]}, False)
            return {"changed": True, "result": None}
        if "DhcpInterfaceOptions" in request.get("Text", ""):
            self._note("interfaces.ps1", given, False)
            kept = base64.b64encode(bytes.fromhex(os.environ["STANDIN_OPTIONS"])).decode()
            return {"changed": False, "result": {"options": [kept], "problems": []}}
        if "Name" in given:
            self._note("service.ps1", given, False)
            return {
                "changed": False,
                "result": {
                    "services": [
                        {"name": given["Name"], "start_mode": "delayed", "state": self._state_of(given["Name"])}
                    ]
                },
            }
        if ".ansible_async" not in request.get("Path", ""):
            return None
        jid = request["Path"].rpartition("\\")[2]
        self._note("job", {"jid": jid}, False)
        said = {"state": "as it was to be"} if self._looks_at(jid) > 1 else {"started": 1, "finished": 0}
        return {"body": base64.b64encode(json.dumps(dict(said, ansible_job_id=jid)).encode()).decode()}

    def _state_of(self, service):
        """As a module has left it; it runs where none has done anything to it."""
        sent = map(json.loads, pathlib.Path(os.environ["STANDIN_LOG"]).read_text(encoding="utf-8").splitlines())
        states = [
            given["state"]
            for host, name, given, _check in sent
            if host == self.get_option("host") and name.endswith("win_service") and given["name"] == service
        ]
        return states[-1] if states else "started"

    def _note(self, name, arguments, is_check):
        host = self.get_option("host")
        with open(os.environ["STANDIN_LOG"], "a", encoding="utf-8") as log:
            log.write(json.dumps([host, name, arguments, is_check]) + "\n")
        if host == "hang":
            time.sleep(300)
        if host == "lost":
            raise AnsibleConnectionFailure("the machine is gone")

    def _looks_at(self, job):
        """How often a job has been looked at, which ends at the second look."""
        sent = pathlib.Path(os.environ["STANDIN_LOG"]).read_text(encoding="utf-8").splitlines()
        kept = [json.loads(line)[2] for line in sent]
        return sum(isinstance(one, dict) and one.get("jid") == job for one in kept)

    def put_file(self, in_path, out_path):
        raise NotImplementedError

    def fetch_file(self, in_path, out_path):
        raise NotImplementedError

    def close(self):
        self._connected = False


def booted():
    """When the machine was started, which is this one, and the milliseconds since then."""
    seconds = time.monotonic()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - seconds)), int(seconds * 1000)


def in_runspace(command, look):
    """What a command prints that is the collection's own; None for one of Ansible's.

    :arg look: what look.ps1 makes of requests
    """
    hello = re.search(r"^'(\{\"line\": .*\})'\Z", command, re.MULTILINE)
    if hello and "[scriptblock]::Create" in command:
        return hello[1].encode()
    asked = re.match(r"& \$global:\w+ '(.*)'\Z", command)
    if not asked:
        return None
    line = json.loads(asked[1].replace("''", "'"))
    result = look(line["requests"]) if line["requests"] else {"answers": []}
    return json.dumps({"id": line["id"], "result": result}).encode()


def module_arguments(payload):
    """The module's arguments, wherever this core's payload has them."""
    found = [json.loads(payload.split(b"\x00\x00\x00\x00")[-1])]
    while found:
        value = found.pop()
        if isinstance(value, dict):
            if "_ansible_module_name" in value:
                return value
            found.extend(value.values())
        elif isinstance(value, list):
            found.extend(value)
    raise ValueError("no module's arguments in the payload")
