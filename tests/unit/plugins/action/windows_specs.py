# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules of ansible.windows take, read from the collection that is installed for the tests: names, types, choices and what is required
from their documentation, which options exclude each other from their PowerShell."""

import functools
import os
import pathlib
import re

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

_LISTS = ("mutually_exclusive", "required_one_of", "required_together")
_KEYS = ("type", "elements", "choices", "required", "aliases", "default")


def modules_folder():
    for folder in os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(os.pathsep):
        path = pathlib.Path(folder, "ansible_collections", "ansible", "windows", "plugins", "modules")
        if path.is_dir():
            return path
    return pytest.skip("no collection ansible.windows: set ANSIBLE_COLLECTIONS_PATH")


@functools.cache
def validator(name):
    """Of a module, by its name without that of the collection."""
    folder = modules_folder()
    options = _documentation(folder, name)["options"] or {}
    script = folder / f"{name}.ps1"
    text = script.read_text(encoding="utf-8") if script.exists() else ""
    rules = {kind: _groups(text, kind) for kind in _LISTS}
    return ArgumentSpecValidator(_spec(options), **rules)


def wrong_arguments(name, arguments):
    """What a module would refuse, a sentence each."""
    return validator(name).validate(arguments).error_messages


def options_of(name):
    """Its options and their other names."""
    spec = validator(name).argument_spec
    return {*spec, *(alias for option in spec.values() for alias in option.get("aliases") or ())}


def _documentation(folder, name):
    described = folder / f"{name}.yml"
    if described.exists():
        return yaml.safe_load(described.read_text(encoding="utf-8"))["DOCUMENTATION"]
    text = (folder / f"{name}.py").read_text(encoding="utf-8")
    return dict(
        {"options": {}}, **yaml.safe_load(re.search(r'DOCUMENTATION = r?("""|\'\'\')(.*?)\1', text, re.DOTALL).group(2))
    )


def _spec(options):
    found = {}
    for name, option in options.items():
        one = {key: option[key] for key in _KEYS if key in option}
        one["type"] = {"float": "float", "path": "str"}.get(one.get("type", "str"), one.get("type", "str"))
        if option.get("suboptions"):
            one["options"] = _spec(option["suboptions"])
        if one.get("required"):
            one.pop("default", None)
        found[name] = one
    return found


def _groups(text, kind):
    """The lists of names that stand under one key of the spec, at its outermost level."""
    found = re.search(rf"^    {kind} = @\((.*?)^    \)", text, re.DOTALL | re.MULTILINE)
    return [re.findall(r"'(\w+)'", group) for group in re.findall(r"@\(([^()]*)\)", found.group(1))] if found else []
