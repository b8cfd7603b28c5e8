# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for HAProxy's stats socket, whatever it is asked: server web1 is up in backend www. `stats.py SOCKET`"""

import socketserver
import sys


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        self.wfile.write(b"# pxname,svname,status,\nwww,web1,UP,\n\n")


if __name__ == "__main__":
    socketserver.ThreadingUnixStreamServer(sys.argv[1], Handler).serve_forever()
