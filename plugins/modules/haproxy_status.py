#!/usr/bin/python
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: haproxy_status
short_description: What HAProxy shows of a server (private)
version_added: 0.2.0
description:
  - Private to this collection. Role P(cloudops.azure_maintenance.drain#role) asks it for the initial state of a server before it takes that out;
    C(community.general.haproxy) can't read a state without setting one.
  - Changes nothing.
author:
  - cloudops.azure_maintenance contributors (@cloudops)
attributes:
  check_mode:
    description: Runs in check mode as it does without.
    support: full
options:
  server:
    description: The server's name; all servers by default.
    type: str
  backend:
    description: The backend that has it; all that have a server of this name by default.
    type: str
  socket:
    description: HAProxy's stats socket.
    type: path
    default: /run/haproxy/admin.sock
"""

EXAMPLES = r"""
- name: Ask a load balancer what it shows
  cloudops.azure_maintenance.haproxy_status:
    server: web1
  delegate_to: lb1
"""

RETURN = r"""
servers:
  description: The server in each backend that has it, or all of them.
  returned: success
  type: list
  elements: dict
  sample: [{"backend": "web", "server": "web1", "status": "UP"}]
"""

import csv
import socket

from ansible.module_utils.basic import AnsibleModule

SECONDS = 5
COMMAND = b"show stat -1 4 -1\n"  # of all proxies the servers


def asked(path):
    """What HAProxy answers."""
    answer = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stats:
        stats.settimeout(SECONDS)
        stats.connect(path)
        stats.sendall(COMMAND)
        while True:
            part = stats.recv(65536)
            if not part:
                return answer.decode("utf-8", "replace")
            answer += part


def found(text, server, backend):
    """The server's rows, or those of all servers, of a table that HAProxy has answered with."""
    rows = csv.DictReader(text.lstrip("# ").splitlines())
    return [
        {"backend": row["pxname"], "server": row["svname"], "status": row["status"]}
        for row in rows
        if server in (None, row.get("svname")) and row.get("status") is not None and backend in (None, row["pxname"])
    ]


def main():
    module = AnsibleModule(
        argument_spec=dict(
            server=dict(type="str"),
            backend=dict(type="str"),
            socket=dict(type="path", default="/run/haproxy/admin.sock"),
        ),
        supports_check_mode=True,
    )
    server, backend, path = (module.params[name] for name in ("server", "backend", "socket"))
    try:
        text = asked(path)
    except OSError as error:
        module.fail_json(msg=f"HAProxy's socket {path} gives no answer: {error}")
    servers = found(text, server, backend)
    if not servers and server is None:
        module.fail_json(msg=f"HAProxy's socket {path} shows no server; it said: {text.strip()[:200] or 'nothing'}")
    if not servers:
        where = f"backend {backend} of HAProxy has no" if backend else "no backend of HAProxy has a"
        module.fail_json(msg=f"{where} server named {server}")
    module.exit_json(changed=False, servers=servers)


if __name__ == "__main__":
    main()
