# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrows between the rooms of plugins/ point one way, few rooms know Ansible or the network, and the figure is true."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit import rooms

# From the top to the ground: a room imports rooms of its own floor and of lower ones.
FLOORS = (
    ("action", "callback", "filter", "lookup", "modules", "test"),
    (
        "plugin_utils/_action",
        "plugin_utils/_notify",
        "plugin_utils/_preflight",
        "plugin_utils/_tasks",
    ),
    ("plugin_utils/_fleet", "plugin_utils/_watcher"),
    ("plugin_utils/_drain", "plugin_utils/_lines", "plugin_utils/_machine", "plugin_utils/_windows"),
    ("plugin_utils/_ansible", "plugin_utils/_bounds", "plugin_utils/_variables"),
    ("module_utils/_module",),
    ("module_utils/_watcher",),
    ("module_utils/_machine",),
    ("module_utils/_core", "module_utils/_operations"),
    ("module_utils/_imds", "module_utils/_steps"),
    ("module_utils/_events",),
    (rooms.BASICS,),
)
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}
# The same of the watcher; nothing but its entry lies beside its rooms.
WATCHER = "module_utils/_watcher"
WATCHER_FLOORS = (
    ("main",),
    ("commands",),
    ("service",),
    ("metrics",),
    ("imds", "reports"),
    ("engine",),
    ("settings",),
    ("health",),
    ("host",),
)
WATCHER_FLOOR = {room: number for number, floor in enumerate(WATCHER_FLOORS) for room in floor}
KNOW_ANSIBLE = ("action/", "callback/", "filter/", "lookup/", "test/", "plugin_utils/", "module_utils/_module.py")
LOAD_BALANCERS = "modules/haproxy_status.py"  # runs on them, a module like any other
HEALTH = (
    "module_utils/_watcher/health/"  # answers load balancers over its own sockets, and uses nothing else of the network
)
LINE = "plugin_utils/_lines/line.py"  # a pair of sockets between two processes
NETWORK = ("http.client", "http.server", "requests", "socket", "socketserver", "ssl", "urllib.request", "urllib3")

ARROWS = rooms.arrows()
FILES = {path.relative_to(rooms.PLUGINS).as_posix(): names for path, names in rooms.files().items()}


def imported(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(module + ".") for module in modules)


@pytest.mark.parametrize("room", sorted(set(ARROWS) - {"doc_fragments"}))
def test_arrows_point_down(room):
    assert room in FLOOR, "a new room: which floor is it on?"
    assert [other for other in sorted(ARROWS[room]) if FLOOR[other] < FLOOR[room]] == []


def test_no_circle():
    assert rooms.circle(ARROWS) == []


def test_no_circle_of_files_within_the_watcher():
    assert rooms.circle(rooms.within(WATCHER)) == []


def test_arrows_within_the_watcher_point_down():
    def floor(file):
        return WATCHER_FLOOR[file.split("/")[0]]

    found = rooms.within(WATCHER).items()
    assert [f"{file} -> {other}" for file, others in found for other in others if floor(other) < floor(file)] == []


@pytest.mark.parametrize("file", sorted(FILES))
def test_who_knows_ansible(file):
    if not file.startswith((*KNOW_ANSIBLE, LOAD_BALANCERS)):
        assert [name for name in FILES[file] if imported(name, ("ansible",))] == []


@pytest.mark.parametrize("file", sorted(FILES))
def test_only_a_transport_uses_the_network(file):
    if not file.endswith(("transport.py", LOAD_BALANCERS)):
        has_sockets = file.startswith(HEALTH) or file == LINE
        others = tuple(module for module in NETWORK if module != "socket") if has_sockets else NETWORK
        assert [name for name in FILES[file] if imported(name, others)] == []


@pytest.mark.parametrize("file", sorted(file for file in FILES if file.startswith("module_utils/")))
def test_machines_need_nothing_but_python(file):
    theirs = ("ansible", "ansible_collections") + (("requests", "urllib3") if file.endswith("_transport.py") else ())
    known = (*sys.stdlib_module_names, *theirs)
    assert [name for name in FILES[file] if not imported(name, known)] == []


def test_the_figure_is_true():
    page = rooms.PAGE.read_text(encoding="utf-8")
    assert rooms.page_with(rooms.figure(), page) == page, "make figure draws it anew"
