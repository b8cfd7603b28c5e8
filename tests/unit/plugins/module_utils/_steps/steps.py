# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps as the types get them: every default filled in, as Ansible's validator would do it."""

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import COMMON, Host
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES

GROUPS = {"all": ["web1", "web2", "lb1", "lb2", "win1"], "web": ["web1", "web2"], "lb": ["lb1", "lb2"], "empty": []}
FILES = ("/files/before.yml", "/files/after.yml")


def host(name="web1", system="linux"):
    def find_file(path):
        return next((known for known in FILES if known.endswith("/" + path) or known == path), None)

    return Host(name, system, GROUPS, lambda other: "linux", find_file)


def with_defaults(options, spec):
    filled = {key: option["default"] for key, option in spec.items() if "default" in option}
    for key, value in options.items():
        inside = spec[key].get("options")
        filled[key] = with_defaults(value, inside) if inside and isinstance(value, dict) else value
    return filled


def step(kind, **options):
    """A step of this type, checked but not complete."""
    spec = dict(COMMON, **TYPES[kind].options)
    return with_defaults(dict({"type": kind, "name": ""}, **options), spec)


def completed(kind, system="linux", on=None, **options):
    """The step when its type has completed it, and its words."""
    made = step(kind, **options)
    words = TYPES[kind].complete(made, on or host(system=system), system)
    return made, words


def ours(kind, case, **options):
    """The step as far as it is ours by the initial state."""
    made, _words = completed(kind, **options)
    return TYPES[kind].before(made, case)


def judged(kind, about, result, direction="do", **options):
    made, _words = completed(kind, **options)
    return TYPES[kind].judges[about](made, direction, result)
