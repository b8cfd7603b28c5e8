# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The root file system that all machines share: debootstrap, once, from the mirror that this box's own apt uses."""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
from typing import NamedTuple

from . import settings
from .host import FleetError, run

ROOTFS = settings.IMAGE / "rootfs"
_STAMP = settings.IMAGE / "rootfs.stamp"
_LOCK = settings.IMAGE / "rootfs.lock"
_DEBS = settings.IMAGE / "debs"

# What a machine has no use for, and what would delay its boot or its login.
_MASKED = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
    "console-getty.service",
    "getty.target",
    "systemd-networkd.service",
    "systemd-resolved.service",
)
_DISABLED = ("nginx.service", "haproxy.service")  # each machine turns its own on


class _Mirror(NamedTuple):
    url: str
    suite: str


def ensure() -> pathlib.Path:
    """The path of the root file system, built when it is not there or was built from another recipe."""
    stamp = _fingerprint()
    settings.IMAGE.mkdir(parents=True, exist_ok=True)
    with _LOCK.open("a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a fleet beside this one builds it as well
        if _STAMP.exists() and _STAMP.read_text(encoding="ascii") == stamp:
            return ROOTFS
        _STAMP.unlink(missing_ok=True)
        if ROOTFS.exists():
            shutil.rmtree(ROOTFS)
        _debootstrap()
        _prepare()
        _STAMP.write_text(stamp, encoding="ascii")
    return ROOTFS


def _fingerprint() -> str:
    recipe = [
        settings.PACKAGES,
        _MASKED,
        _DISABLED,
        settings.USER,
        _codename(),
        pathlib.Path(__file__).read_text(encoding="utf-8"),
    ]
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()


def _debootstrap() -> None:
    _DEBS.mkdir(parents=True, exist_ok=True)
    mirror = _mirror()
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    proxy = run("apt-config", "shell", "PROXY", "Acquire::http::Proxy").stdout
    if "PROXY='" in proxy:
        environment["http_proxy"] = proxy.split("'")[1]
    done = run(
        "debootstrap",
        "--variant=minbase",
        f"--include={','.join(settings.PACKAGES)}",
        f"--cache-dir={_DEBS}",
        mirror.suite,
        str(ROOTFS),
        mirror.url,
        check=False,
        timeout=900,
        env=environment,
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise FleetError(
            f"debootstrap from {mirror.url} failed; its log is {ROOTFS}/debootstrap/debootstrap.log:\n{tail}"
        )


def _mirror() -> _Mirror:
    """Where apt on this box gets this release from."""
    suite = _codename()
    listed = run("apt-get", "indextargets", "--format", "$(REPO_URI)|$(RELEASE)", "Identifier: Packages").stdout
    for line in listed.splitlines():
        url, release = line.partition("|")[::2]
        if release == suite:
            return _Mirror(url, suite)
    raise FleetError(f"apt on this box has no source for {suite!r}; it has:\n{listed}")


def _codename() -> str:
    with open("/etc/os-release", encoding="utf-8") as handle:
        fields = dict(line.rstrip("\n").split("=", 1) for line in handle if "=" in line)
    return fields.get("VERSION_CODENAME", "").strip('"')


def _prepare() -> None:
    """Alike on every machine: the user, no timers, no password anywhere."""
    chroot = ("chroot", str(ROOTFS))
    run(*chroot, "useradd", "--create-home", "--shell", "/bin/bash", settings.USER)
    sudoers = ROOTFS / "etc/sudoers.d/fleet"
    sudoers.write_text(f"{settings.USER} ALL=(ALL) NOPASSWD: ALL\n", encoding="ascii")
    sudoers.chmod(0o440)
    run("systemctl", f"--root={ROOTFS}", "mask", *_MASKED)
    run("systemctl", f"--root={ROOTFS}", "disable", *_DISABLED)
    # Tests open many short SSH sessions; sshd's defaults would refuse some of them at random.
    (ROOTFS / "etc/ssh/sshd_config.d/fleet.conf").write_text(
        "MaxStartups 300\nMaxSessions 100\nUseDNS no\nPasswordAuthentication no\n", encoding="ascii"
    )
    (ROOTFS / "etc/resolv.conf").unlink(missing_ok=True)
    (ROOTFS / "etc/resolv.conf").write_text("# these machines resolve names from /etc/hosts only\n", encoding="ascii")
