# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Linux with systemd, as the watcher's messages speak of it.

Private to this collection.
"""

from .host import Host, Service

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
    start_command="systemctl start {unit}",
    restart_command="systemctl restart {unit}",
    status_command="systemctl status {unit}",
    enable_command="systemctl enable {unit}",
    log_command="journalctl -u {unit}",
    log_end_command="journalctl -u {unit} -n 50",
    others_log_command="journalctl -u {unit} -n 50",
    close_command="chmod go-w {path}",
    close_private_command="chown root {path} && chmod 0700 {path}",
    private_file_advice="make it root's, with mode 0600",
    close_folder_command="chown root {path} && chmod 0711 {path}",
    room_command="df -h {path}; df -i {path}",
    look_command="ls -ld {path}",
    clock_advice="timedatectl, chronyc tracking",
    firewall_advice="iptables -S OUTPUT, nft list ruleset",
)
