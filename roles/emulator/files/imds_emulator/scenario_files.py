# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenario files: those that come with the emulator, and a user's own. JSON always; YAML where PyYAML is installed."""

import json
import os
import pkgutil
from typing import Any, Dict, List

from .problems import InvalidInput, NotThere

try:
    import yaml  # type: ignore[import-untyped]
except ImportError:
    yaml = None

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scenarios")
PACKED = "scenarios.json"  # all of them in one, inside a zipapp
SUFFIXES = (".yml", ".yaml", ".json")


def parse(text: str, name: str) -> Any:
    """A file's content."""
    if not name.endswith((".yml", ".yaml")):
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidInput(name, f"not JSON: {error} (is it YAML? then its name must end with .yml)") from None
    if yaml is None:
        raise InvalidInput(
            name,
            "PyYAML is not installed here: install it (python3-yaml, pip install pyyaml), or give the scenario as JSON",
        )
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput(name, f"not YAML: {' '.join(str(error).split())}") from None


def read_file(path: str) -> Any:
    """A user's own."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(path, f"can't be read: {error}") from None
    return parse(text, path)


def _packed() -> Dict[str, Any]:
    try:
        content = pkgutil.get_data(__package__, PACKED)
    except OSError:
        content = None
    return json.loads(content.decode("utf-8")) if content else {}


def _files() -> Dict[str, str]:
    """Name -> path, in a checkout."""
    if not os.path.isdir(FOLDER):
        return {}
    return {
        os.path.splitext(name)[0]: os.path.join(FOLDER, name)
        for name in sorted(os.listdir(FOLDER))
        if name.endswith(SUFFIXES)
    }


def names() -> List[str]:
    """The names of those that come with the emulator."""
    return sorted(_packed() or _files())


def shipped(name: str) -> Any:
    """One of those."""
    packed = _packed()
    if name in packed:
        return packed[name]
    path = _files().get(name)
    if path is None:
        raise NotThere(f"there is no scenario {name!r}; there are {', '.join(names()) or 'none'}")
    return read_file(path)


def find(name_or_path: str) -> Any:
    """A path when it looks like one, else a name."""
    if name_or_path.endswith(SUFFIXES) or os.sep in name_or_path:
        return read_file(name_or_path)
    return shipped(name_or_path)
