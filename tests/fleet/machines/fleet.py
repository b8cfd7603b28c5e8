# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All machines together: up, down, and what Ansible and SSH need to know to reach them."""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator

from . import balancer, cgroups, network, rootfs, settings
from .host import FleetError, ensure_inotify, run
from .machine import Machine

_LOCK = settings.RUN / "lock"  # one fleet of a name: its names are the box's
_KEY = settings.WORK / "ssh_key"
_SSH_CONFIG = settings.WORK / "ssh_config"


class Fleet:
    def __init__(self) -> None:
        self.machines: dict[str, Machine] = {spec.name: Machine(spec) for spec in settings.MACHINES}
        self.ssh_config = _SSH_CONFIG
        self.outside = ""  # the namespace that the tests were started in, as a file for nsenter

    def __getitem__(self, name: str) -> Machine:
        return self.machines[name]

    def boot_ids(self) -> dict[str, str]:
        return {name: machine.boot_id() for name, machine in self.machines.items()}

    def left_behind(self) -> dict[str, list[str]]:
        """What the product has left on machines that are on."""
        left = {name: machine.left_behind() for name, machine in self.machines.items() if machine.is_wanted()}
        return {name: files for name, files in left.items() if files}

    def up(self) -> None:
        """Fresh machines, booted and answering; whatever an earlier run left is removed first."""
        self.down()
        settings.WORK.mkdir(parents=True, exist_ok=True)
        base = rootfs.ensure()
        ensure_inotify(len(self.machines))
        public_key = self._ssh_files(base)
        network.up()
        for name, machine in self.machines.items():
            network.plug_machine(name, machine.spec.address)
            machine.make_disk(base, public_key)
            machine.power_on()
        with network.entered(settings.CONTROLLER):
            self._wait_until_serving()

    def down(self) -> None:
        """Processes, mounts and namespaces of ours, from this run or any other. The disks stay for a look."""
        for name in cgroups.names():
            cgroups.clear(name)
        for mount in _our_mounts():
            run("umount", "--lazy", mount, check=False)
        network.down()

    def restore(self) -> None:
        """Every machine on, reachable and serving, whatever a test did to it. Call it in the controller's namespace."""
        for machine in self.machines.values():
            network.set_cable(machine.spec.name, True)
            machine.forget()
            machine.power_on()
        self._wait_until_serving()

    def _wait_until_serving(self) -> None:
        for machine in self.machines.values():
            machine.start_services()
            machine.wait_for_ssh()
        balancer.all_ready(self["lb1"])

    def _ssh_files(self, base: pathlib.Path) -> str:
        """The key pair and a configuration for ssh. Answers the public key."""
        if not _KEY.exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "fleet", "-f", str(_KEY))
        host_key = (base / "etc/ssh/ssh_host_ed25519_key.pub").read_text(encoding="ascii")
        known_hosts = settings.WORK / "known_hosts"
        known_hosts.write_text(
            "".join(f"{spec.name},{spec.address} {host_key}" for spec in settings.MACHINES), encoding="ascii"
        )
        lines = [f"Host {spec.name}\n  HostName {spec.address}\n" for spec in settings.MACHINES]
        lines.append(
            "Host *\n"
            f"  User {settings.USER}\n  IdentityFile {_KEY}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {known_hosts}\n  StrictHostKeyChecking yes\n  ConnectTimeout 5\n  LogLevel ERROR\n"
        )
        _SSH_CONFIG.write_text("".join(lines), encoding="ascii")
        return _KEY.with_suffix(".pub").read_text(encoding="ascii")


def _our_mounts() -> list:
    with open("/proc/mounts", encoding="utf-8") as handle:
        return [words[1] for words in (line.split() for line in handle) if words[0].startswith(settings.PREFIX)]


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Only one run has the fleet; a second one gets its name."""
    settings.RUN.mkdir(exist_ok=True)
    with open(_LOCK, "a+", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise FleetError(f"another run has the fleet: process {handle.read().strip()} (see {_LOCK})") from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
