# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An application that step ``http`` talks to: a program of its own, on loopback. Prints its port, logs what it is asked.

``/status/N`` answers with this status, ``/jobs`` has three jobs, then two, one, none, ``/hangs`` never answers,
``/endless`` never stops, ``/broken`` hangs up.
"""

import http.server
import json
import socketserver
import ssl
import sys
import time

JOBS = [3, 2, 1, 0]


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8")
        headers = {key.lower(): value for key, value in self.headers.items()}
        asked = {"method": self.command, "path": self.path, "headers": headers, "body": body}
        with open(sys.argv[1], "a", encoding="utf-8") as log:
            log.write(json.dumps(asked) + "\n")
        kind, _slash, more = self.path.partition("?")[0].lstrip("/").partition("/")
        if kind == "broken":
            self.close_connection = True
        elif kind == "hangs":
            time.sleep(60)
        elif kind == "jobs":
            self.say(200, json.dumps({"state": {"jobs": JOBS.pop(0) if JOBS[1:] else JOBS[0]}}))
        elif kind == "endless":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                self.wfile.write(b"5\r\nagain\r\n")
                time.sleep(0.05)
        else:
            self.say(int(more) if kind == "status" else 200, "fine", Location="/status/200")

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def say(self, status, text, **headers):
        self.send_response(status)
        content = text.encode("utf-8")
        for key, value in dict(headers, **{"Content-Length": str(len(content))}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    if sys.argv[2:]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()
