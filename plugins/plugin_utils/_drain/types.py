# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of every type of step of role ``drain``, in the words of an Ansible argument spec."""

from typing import Any, NamedTuple

SYSTEMS = ("linux", "windows")

_LIST = {"type": "list", "elements": "str"}
_AT_LIMIT = {"type": "str", "choices": ["fail", "continue"], "default": "fail"}
_INTERVAL = {"type": "int", "default": 1}

COMMON = {
    "type": {"type": "str", "required": True},
    "name": {"type": "str"},
    "hosts": _LIST,
    "systems": {"type": "list", "elements": "str", "choices": list(SYSTEMS)},
    "timeout": {"type": "float"},
    "undo_timeout": {"type": "float"},
}

_UNTIL = {
    "type": "dict",
    "options": {
        "url": {"type": "str"},
        "method": {"type": "str", "default": "GET"},
        "status": {"type": "list", "elements": "int", "default": [200]},
        "contains": {"type": "str"},
        "json": {
            "type": "dict",
            "options": {"path": {"type": "str", "required": True}, "equals": {"type": "raw", "required": True}},
        },
        "interval": {"type": "int", "default": 2},
        "request_timeout": {"type": "int", "default": 5},
    },
}

_REQUEST = {
    "type": "dict",
    "options": {
        "url": {"type": "str", "required": True},
        "method": {"type": "str", "default": "POST"},
        "body": {"type": "raw"},
        "status": {"type": "list", "elements": "int", "default": [200, 201, 202, 204]},
        "until": _UNTIL,
    },
}


class StepType(NamedTuple):
    """A type of step: its options, the systems it is for, and the role's task files for both directions."""

    options: dict[str, Any]
    files: tuple[str, str]  # doing, undoing; {system} is filled in
    systems: tuple[str, ...] = SYSTEMS
    one_of: tuple[str, ...] = ()


TYPES = {
    "service": StepType(
        {"service": {"type": "str"}, "become": {"type": "bool"}},
        ("service/{system}.yml", "service/{system}.yml"),
        one_of=("service", "name"),
    ),
    "command": StepType(
        {
            "do": {"type": "raw"},
            "undo": {"type": "raw"},
            "creates": {"type": "str"},
            "chdir": {"type": "str"},
            "environment": {"type": "dict", "default": {}},
            "ok_codes": {"type": "list", "elements": "int", "default": [0]},
            "become": {"type": "bool"},
            "delegate_to": {"type": "str"},
            "no_log": {"type": "bool", "default": False},
        },
        ("command/{system}.yml", "command/{system}.yml"),
        one_of=("do", "undo"),
    ),
    "http": StepType(
        {
            "do": _REQUEST,
            "undo": _REQUEST,
            "headers": {"type": "dict", "default": {}},
            "user": {"type": "str"},
            "password": {"type": "str", "no_log": True},
            "validate_certs": {"type": "bool", "default": True},
            "use_proxy": {"type": "bool", "default": False},
            "delegate_to": {"type": "str"},
            "no_log": {"type": "bool", "default": False},
        },
        ("http/{system}.yml", "http/{system}.yml"),
        one_of=("do", "undo"),
    ),
    "connections": StepType(
        {
            "port": {"type": "int", "required": True},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "at_limit": _AT_LIMIT,
            "interval": _INTERVAL,
            "listen_again": {"type": "bool", "default": False},
            "listen_address": {"type": "str", "default": "127.0.0.1"},
        },
        ("connections/{system}_gone.yml", "connections/{system}_listen.yml"),
    ),
    "haproxy": StepType(
        {
            "load_balancers": dict(_LIST, required=True),
            "server": {"type": "str"},
            "backends": dict(_LIST, default=[]),
            "socket": {"type": "str", "default": "/run/haproxy/admin.sock"},
            "mode": {"type": "str", "choices": ["drain", "maint"], "default": "drain"},
            "at_limit": _AT_LIMIT,
            "interval": _INTERVAL,
            "wait_up": {"type": "bool", "default": True},
            "become": {"type": "bool"},
        },
        ("haproxy/drain.yml", "haproxy/ready.yml"),
    ),
    "iis": StepType(
        {
            "sites": dict(_LIST, default=[]),
            "app_pools": dict(_LIST, default=[]),
            "at_limit": _AT_LIMIT,
            "interval": _INTERVAL,
        },
        ("iis/stop.yml", "iis/start.yml"),
        systems=("windows",),
        one_of=("sites", "app_pools"),
    ),
    "failover_cluster": StepType(
        {
            "node": {"type": "str"},
            "cluster": {"type": "str"},
            "force_drain": {"type": "bool", "default": False},
            "fail_back": {"type": "str", "choices": ["immediate", "policy", "none"], "default": "immediate"},
            "interval": _INTERVAL,
        },
        ("failover_cluster/suspend.yml", "failover_cluster/resume.yml"),
        systems=("windows",),
    ),
    "tasks": StepType(
        {"do": {"type": "str"}, "undo": {"type": "str"}},
        ("tasks/include.yml", "tasks/include.yml"),
        one_of=("do", "undo"),
    ),
}
