# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in of AWX: the five requests that ansible-rulebook 1.3.2 sends to launch a job template. It shows what was asked of it, no more."""

import http.server
import json
import re
import threading
import time
from urllib.parse import parse_qs, urlsplit

TEMPLATE = {
    "id": 7,
    "type": "job_template",
    "name": "Azure maintenance: maintain",
    "summary_fields": {"organization": {"name": "Azure maintenance"}},
    "related": {"launch": "/api/v2/job_templates/7/launch/"},
    "ask_limit_on_launch": True,
    "ask_labels_on_launch": False,
    "ask_inventory_on_launch": False,
    "ask_variables_on_launch": True,
}


class Controller:
    """``launched`` has what each launch was asked for, and when (monotonic); a job goes on until ``end`` is called for its limit.

    ``status`` is what it answers to everything instead, as long as it is not 0; ``refused`` counts that.
    """

    def __init__(self):
        self.launched = []
        self.status = 0
        self.refused = 0
        self._ended = set()
        self._lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self._answer(200, outer.shown(urlsplit(self.path)))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert self.path == TEMPLATE["related"]["launch"] and self.headers["Authorization"] == "Bearer t0ken"
                self._answer(201, None if outer.status else outer.launch(body))

            def _answer(self, status, body):
                if outer.status:
                    outer.refused += 1
                    status, body = outer.status, {"detail": "not now"}
                whole = json.dumps(body).encode("ascii")
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                self.wfile.write(whole)

            def log_message(self, *_words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def shown(self, asked):
        if asked.path == "/api/v2/config/":
            return {"version": "24.6.1"}
        if asked.path == "/api/v2/unified_job_templates/":
            return {"results": [TEMPLATE], "next": None}
        assert asked.path == "/api/v2/jobs/", asked
        wanted = parse_qs(asked.query)["id__in"][0].split(",")
        return {"results": [self._job(int(number)) for number in wanted]}

    def launch(self, body):
        with self._lock:
            self.launched.append((time.monotonic(), body))
            number = len(self.launched)
        return self._job(number)

    def _job(self, number):
        limit = re.sub("^all:&", "", self.launched[number - 1][1]["limit"])
        status = "successful" if limit in self._ended else "running"
        created = "2026-01-01T00:00:00.000000Z"
        return {"id": number, "url": f"/api/v2/jobs/{number}/", "status": status, "created": created, "artifacts": {}}

    def end(self, *limits):
        self._ended.update(limits)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
