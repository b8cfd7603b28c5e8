# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine serves: nginx on the web machines, HAProxy in front of those in scope "web"."""

from collections.abc import Callable

from . import settings

STATISTICS_PORT = 8404
BACKEND = "web"
ADMIN_SOCKET = "/run/haproxy/admin.sock"


def configure(spec: settings.Spec, write: Callable[[str, str], object]) -> None:
    """Write the service's files with `write(path, text)`."""
    if spec.service == "nginx":
        write("etc/nginx/nginx.conf", _template("nginx.conf").replace("@NAME@", spec.name))
        write("var/www/fleet/slow", f"{spec.name}\n" + "." * 40_000)
        write("var/www/fleet/index.html", f"{spec.name}\n")
    if spec.service == "haproxy":
        servers = "\n".join(
            f"    server {web.name} {web.address}:80 check" for web in settings.MACHINES if web.scope == "web"
        )
        write("etc/haproxy/haproxy.cfg", _template("haproxy.cfg").replace("@SERVERS@", servers))


def _template(name: str) -> str:
    return (settings.FILES / name).read_text(encoding="utf-8")
