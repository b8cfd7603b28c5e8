# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-playbook of the Ansible that runs the tests, against an emulator on loopback. tests/windows uses it, too."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

COLLECTION = pathlib.Path(__file__).parents[4]
EMULATOR = COLLECTION / "roles" / "emulator" / "files"
CONFIGURATION = COLLECTION / "tests" / "integration" / "integration.cfg"


def collections_path():
    """Where the collections are: this one, and those that it depends on."""
    folders = [folder for folder in os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(os.pathsep) if folder]
    for name in ("cloudops/azure_maintenance", "ansible/windows"):
        if not any(pathlib.Path(folder, "ansible_collections", name).is_dir() for folder in folders):
            pytest.skip(f"no collection {name.replace('/', '.')}: set ANSIBLE_COLLECTIONS_PATH")
    return os.pathsep.join(folders)


def only_ours():
    """The folder of this collection, which has no other."""
    (folder,) = [
        folder
        for folder in collections_path().split(os.pathsep)
        if pathlib.Path(folder, "ansible_collections", "cloudops", "azure_maintenance").is_dir()
    ]
    return folder


@contextlib.contextmanager
def emulator(folder, scenario, *options):
    """An emulator that plays a scenario; yields the addresses of its metadata service and of its control API."""
    addresses = folder / "addresses.json"
    (folder / "scenario.json").write_text(json.dumps(scenario))
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "imds_emulator",
            "serve",
            "--scenario",
            str(folder / "scenario.json"),
            "--listen",
            "127.0.0.1:0",
            "--control",
            "127.0.0.1:0",
            "--addresses",
            str(addresses),
            "--journal",
            str(folder / "journal"),
            "--log-requests",
            *options,
        ],
        cwd=EMULATOR,
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            for _dummy in range(2400):
                if addresses.exists():
                    break
                assert process.poll() is None, f"the emulator ended with {process.returncode}"
                time.sleep(0.05)
            found = json.loads(addresses.read_text())
            yield found["metadata"][0], found["control"]
        finally:
            process.terminate()


def start(folder, play, hosts, variables, *arguments, **environment):
    """Begin a play, in a session of its own; returns the process, whose output is a pipe.

    :arg arguments: more of them, such as ``--check``
    """
    (folder / "hosts").write_text(hosts)
    (folder / "variables").write_text(json.dumps(variables))
    settings = dict(
        os.environ,
        ANSIBLE_CONFIG=str(CONFIGURATION),
        ANSIBLE_COLLECTIONS_PATH=collections_path(),
        ANSIBLE_HOME=str(folder / "ansible"),
        ANSIBLE_LOCAL_TEMP=str(folder / "local"),
        ANSIBLE_REMOTE_TMP=str(folder / "remote"),
        ANSIBLE_ASYNC_DIR=str(folder / "async"),
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_STDOUT_CALLBACK="default",
        ANSIBLE_RETRY_FILES_ENABLED="0",
        ANSIBLE_LOCALHOST_WARNING="0",
        PYTHONDONTWRITEBYTECODE="1",
    )
    settings.update(environment)
    return subprocess.Popen(
        [
            str(pathlib.Path(sys.executable).with_name("ansible-playbook")),
            "-i",
            str(folder / "hosts"),
            "-e",
            "@" + str(folder / "variables"),
            str(play),
            *arguments,
        ],
        env=settings,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # Whoever runs these tests in the background has them ignore it, and what is ignored is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def playbook(folder, play, hosts, variables, *arguments, **environment):
    """Run a play; returns what it printed, and the status it ended with."""
    with start(folder, play, hosts, variables, *arguments, **environment) as process:
        try:
            printed = process.communicate(timeout=900)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return printed.decode("utf-8", "replace"), process.returncode
