# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server on loopback that takes reports, keeps what it got, and answers as a test wants."""

import contextlib
import http.server
import json
import threading


class Receiver:
    """Answers each request with the next of these: a status, (status, headers), or a function that plays with the handler."""

    def __init__(self, *answers, otherwise=200, context=None):
        self.requests = []  # (headers, body)
        self._answers = list(answers)
        self._otherwise = otherwise
        self._lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = 20

            def do_POST(self):
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:  # its sender was killed in the middle: nothing has come
                    self.close_connection = True
                    return
                with receiver._lock:
                    receiver.requests.append((dict(self.headers), body, self.path))
                    answer = receiver._answers.pop(0) if receiver._answers else receiver._otherwise
                if callable(answer):
                    with contextlib.suppress(OSError):
                        answer(self)
                    self.close_connection = True
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words):
                pass

        class Server(http.server.HTTPServer):
            def process_request(self, request, client_address):
                thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
                thread.start()

            def _serve(self, request, client_address):
                with contextlib.suppress(Exception):
                    if context:
                        request = context.wrap_socket(request, server_side=True)
                    self.finish_request(request, client_address)
                with contextlib.suppress(OSError):
                    self.shutdown_request(request)

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def ids(self):
        """Of the reports that it got, in order."""
        with self._lock:
            return [json.loads(body.decode("ascii"))["id"] for _headers, body, _path in self.requests]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exc_info):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
