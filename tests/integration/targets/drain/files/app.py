# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An application that can be drained over HTTP, and that holds its connections as long as its clients do.

POST /drain and /resume; GET /status says how many jobs are left: one less at each look while it drains.
GET /hold answers after the next POST /release; GET /log says what was asked.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STATE = {"draining": False, "jobs": 2}
LOG = []
LOCK = threading.Lock()
RELEASED = threading.Condition()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        with LOCK:
            if self.path != "/log" and self.path != "/":
                LOG.append(["GET", self.path])
            if self.path == "/status" and STATE["draining"] and STATE["jobs"]:
                STATE["jobs"] -= 1
        if self.path == "/hold":
            with RELEASED:
                RELEASED.wait(900)
        self.answer(200, LOG if self.path == "/log" else {"state": STATE})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with LOCK:
            LOG.append(["POST", self.path, self.headers.get("X-Token", ""), body])
            if self.path in ("/drain", "/resume"):
                STATE["draining"] = self.path == "/drain"
                STATE["jobs"] = 2
        if self.path == "/release":
            with RELEASED:
                RELEASED.notify_all()
        self.answer(200 if self.path in ("/drain", "/resume", "/release") else 404, {"state": STATE})

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
