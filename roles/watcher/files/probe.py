# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher has to know of a machine before it changes anything, as a line of JSON. Changes nothing; any Python runs it.

python -I -c PROBE [USER ...]    users are those as which hooks are to run
"""

import json
import os
import pwd
import re
import subprocess
import sys

ARC = ("/opt/azcmagent", "/var/opt/azcmagent")


def systemd():
    """Its version; 0 where it does not run the machine."""
    if not os.path.isdir("/run/systemd/system") and not os.path.exists("/lib/systemd/systemd"):
        return 0
    try:
        said = subprocess.check_output(["systemctl", "--version"]).decode("ascii", "replace")
    except (OSError, subprocess.CalledProcessError):
        return 0
    found = re.match(r"systemd (\d+)", said)
    return int(found.group(1)) if found else 0


def container():
    """What kind of container this is; "" for none."""
    for path, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if os.path.exists(path):
            return kind
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if not os.path.exists("/run/systemd/container"):
        return ""
    with open("/run/systemd/container") as kind:
        return kind.read().strip()


def has_no(user):
    try:
        pwd.getpwnam(user)
    except KeyError:
        return True
    return False


print(
    json.dumps(
        {
            "python": list(sys.version_info[:3]),
            "uid": os.geteuid(),
            "systemd": systemd(),
            "container": container(),
            "arc": any(os.path.exists(path) for path in ARC),
            "no_users": [user for user in sys.argv[1:] if has_no(user)],
        }
    )
)
