# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Linux with systemd, as the watcher's messages speak of it.

Private to this collection.
"""

from .host import Host, Service, command

LINUX = Host(
    name="linux",
    watcher=Service("azure-maintenance", "root", "run"),
    reports=Service("azure-maintenance-reports", "root", "send"),
    health=Service("azure-maintenance-health.service", "a user of its own", "health"),
    health_units="'azure-maintenance-health*'",
    settings="/etc/azure-maintenance/watcher.json",
    state="/var/lib/azure-maintenance",
    run_folder="/run/azure-maintenance",
    hooks_folder="/etc/azure-maintenance/hooks",
    command="/usr/local/bin/azure-maintenance",
    path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    has_drives=False,
    hook_endings=(),
    admin="root",
    run_as_admin="run it again with sudo",
    start=command("systemctl start {0}"),
    restart=command("systemctl restart {0}"),
    status=command("systemctl status {0}"),
    enable=command("systemctl enable {0}"),
    log=command("journalctl -u {0}"),
    log_end=command("journalctl -u {0} -n 50"),
    others_log=command("journalctl -u {0} -n 50"),
    close=command("chmod go-w {0}"),
    close_private=command("chown root {0} && chmod 0700 {0}"),
    private_file_advice="make it root's, with mode 0600",
    close_folder=command("chown root {0} && chmod 0711 {0}"),
    room=command("df -h {0}; df -i {0}"),
    look=command("ls -ld {0}"),
    clock_advice="timedatectl, chronyc tracking",
    firewall_advice="iptables -S OUTPUT, nft list ruleset",
)
