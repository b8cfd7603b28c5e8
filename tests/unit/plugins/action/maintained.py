# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole run of role maintain through one event that is announced while it waits, and what it prints."""

import json
import re
import threading
import urllib.request

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, start

RUN = "Poll, prepare, approve, watch and recover"
"""The one task of a run."""


def announce(control, event):
    """Have the event announced."""
    request = urllib.request.Request(
        f"{control}/events", json.dumps(event).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).close()


def maintained(folder, hosts, scenario, event, variables, **settings):
    """What was printed, and the status it ended with.

    :arg variables: of the addresses of the emulator's metadata service and of its control API
    """
    with emulator(folder, scenario, "--speed", "10") as (address, control):
        environment = dict(settings, ANSIBLE_DISPLAY_SKIPPED_HOSTS="false", PYTHONUNBUFFERED="1")
        given = dict(variables(control), emulator=address)
        with start(folder, "cloudops.azure_maintenance.maintain", hosts, given, **environment) as process:
            ending = threading.Timer(900, process.kill)
            ending.start()
            printed, announced = "", False
            for line in process.stdout:
                printed += line.decode()
                if b"  waits  " in line and not announced:
                    announce(control, event)
                    announced = True
            ending.cancel()
    return printed, process.returncode


def tasks_of(printed):
    """The banners of the run, until it says what became of each machine."""
    return re.findall(r"TASK \[(?:.* : )?(?:[\w ]+ \| )?(.*?)\] ", printed.partition("After | Say what became")[0])


def happened(printed):
    """What happened to machines and events, in order."""
    return re.findall(r"(?m)^\S+Z  (prepared|approved|recovered) ", printed)
