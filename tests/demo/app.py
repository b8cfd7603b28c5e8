# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The application of one "virtual machine": a web server that can be asked to drain, and to serve again.

python app.py NAME PORT FOLDER

    GET  /        what visitors ask for; takes a moment
    GET  /health  what the proxy asks for: 200, or 503 while it drains
    POST /drain   stop being healthy; it stays so over a restart, until
    POST /resume
    GET  /status  {"draining": ..., "idle": drained, and no visitor came any more, "serving": visitors are answered}

What happened when is appended to FOLDER/app.log, as JSON lines.
"""

import json
import pathlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

QUIET = 1.5  # seconds without a visitor, after which the proxy has certainly understood


class App:
    """What the application knows of itself."""

    def __init__(self, name: str, folder: pathlib.Path) -> None:
        self.name = name
        self._mark, self._log = folder / "draining", folder / "app.log"
        self._lock = threading.Lock()
        self._under_way = self._answered = 0
        self._last_visit = time.monotonic()
        self.note("started")

    def note(self, what: str) -> None:
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps({"at": time.time(), "what": what}) + "\n")

    def draining(self) -> bool:
        return self._mark.exists()

    def visit(self) -> str:
        with self._lock:
            self._under_way += 1
        time.sleep(0.05)
        with self._lock:
            self._under_way -= 1
            self._answered += 1
            self._last_visit = time.monotonic()
        return self.name

    def drain(self) -> None:
        self._mark.touch()
        self.note("drain")

    def resume(self) -> None:
        self._mark.unlink(missing_ok=True)
        with self._lock:
            self._answered = 0
        self.note("resume")

    def status(self) -> dict:
        draining = self.draining()
        with self._lock:
            quiet = not self._under_way and time.monotonic() - self._last_visit >= QUIET
            serving = not draining and self._answered > 0
        if draining and quiet:
            self.note("idle")
        return {"draining": draining, "idle": draining and quiet, "serving": serving}


class Handler(BaseHTTPRequestHandler):
    app: App

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(503 if self.app.draining() else 200, "draining" if self.app.draining() else "healthy")
        elif self.path == "/status":
            self._answer(200, json.dumps(self.app.status()))
        elif self.path == "/":
            self._answer(200, self.app.visit())
        else:
            self._answer(404, "not found")

    def do_POST(self) -> None:
        order = {"/drain": self.app.drain, "/resume": self.app.resume}.get(self.path)
        if order:
            order()
        self._answer(200 if order else 404, json.dumps(self.app.status()))

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments) -> None:
        """Nobody reads it."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # visitors wait here while the machine is frozen


if __name__ == "__main__":
    Handler.app = App(sys.argv[1], pathlib.Path(sys.argv[3]))
    Server(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
