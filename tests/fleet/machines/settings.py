# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fleet is: its machines, its addresses, and where it keeps its files. Nothing here does anything."""

import os
import pathlib
from typing import NamedTuple

COLLECTION = pathlib.Path(__file__).resolve().parents[3]
FILES = pathlib.Path(__file__).resolve().parent / "files"
WORK = pathlib.Path(os.environ.get("AZM_FLEET_DIR") or COLLECTION / "build" / "fleet")
IMAGE = pathlib.Path(os.environ.get("AZM_FLEET_IMAGE") or WORK)  # the root file system, which several fleets may share

# Every namespace, link and cgroup of ours begins with this: it is how a later run finds what a killed one left. Fleets side by side
# have a name each.
PREFIX = os.environ.get("AZM_FLEET_NAME", "azm") + "-"
RUN = pathlib.Path("/run") / (PREFIX + "fleet")  # the lock, and ssh's control sockets, whose paths must be short
SWITCH = PREFIX + "switch"  # holds the bridge, and nothing else
CONTROLLER = PREFIX + "ctl"  # where ansible-playbook, ssh and the test's own requests run
AZURE = PREFIX + "imds"  # holds the metadata address; the emulator runs here

IMDS_ADDRESS = "169.254.169.254"
NETWORK = "10.77.0.0/24"
CONTROLLER_ADDRESS = "10.77.0.2"
CONTROL_ADDRESS = "10.77.0.3"  # the emulator's control API, in the namespace AZURE
CONTROL_PORT = 8081

USER = "ops"  # an ordinary user with sudo, as on most real fleets

# --variant=minbase, plus these. A changed list rebuilds the root file system.
PACKAGES: tuple[str, ...] = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "openssh-server",
    "sudo",
    "procps",
    "iproute2",
    "curl",
    "python3",
    "python3-requests",
    "nginx-light",
    "haproxy",
)


class Spec(NamedTuple):
    """One machine as it is wanted. `resource` is the name Azure has for it: never the hostname."""

    name: str
    address: str
    resource: str
    scope: str
    service: str = ""  # "haproxy", "nginx" or nothing


MACHINES: tuple[Spec, ...] = (
    Spec("lb1", "10.77.0.10", "prod-lb_0", "lb", "haproxy"),
    Spec("web1", "10.77.0.11", "prod_web_1", "web", "nginx"),
    Spec("web2", "10.77.0.12", "prod_web_2", "web", "nginx"),
    Spec("web3", "10.77.0.13", "prod_web_3", "web", "nginx"),
    Spec("web10", "10.77.0.20", "prod_web_10", "web", "nginx"),  # its name starts with web1's
    Spec("lone1", "10.77.0.30", "Lone-VM", "lone", "nginx"),
)

UNKNOWN_VM = "prod_db_7"  # a VM of scope "web" that no inventory knows; there is no machine for it


def by_name() -> dict[str, Spec]:
    return {spec.name: spec for spec in MACHINES}
