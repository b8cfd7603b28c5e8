# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role watcher's defaults and argument spec of its options, as their table has them. `make figure` writes them anew.

What an option has inside (watcher_hooks[].limit) is written by hand below the generated part, in the spec's own words.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings import options
except ImportError:  # a checkout that is no collection's folder
    sys.path.insert(0, str(ROOT))
    from plugins.module_utils._watcher.settings import options  # type: ignore[no-redef]

DEFAULTS = ROOT / "roles" / "watcher" / "defaults" / "main.yml"
SPECS = ROOT / "roles" / "watcher" / "meta" / "argument_specs.yml"
BEGIN, END = "# options: written by make figure\n", "# options: end\n"
WIDTH = 160
OF_OTHERS = " # noqa: var-naming[no-role-prefix] an option of role maintain, too"


def defaults() -> str:
    """The variables with their defaults, by groups."""
    found = []
    for title, several in options.GROUPS:
        variables = [option for option in several if option.description]
        found.append(f"# {title}\n" + "".join(map(_default, variables)))
    return "\n".join(found)


def _default(option: options.Option) -> str:
    text = f"{option.variable}:{_value(option, 0)}"
    return text.replace("\n", f"{OF_OTHERS}\n", 1) if option.said_as else text


def specs(written: str) -> str:
    """The entries of the argument spec.

    :arg written: those that are there, from which the parts of an option are taken
    """
    return "".join(
        _spec(option, _parts(option.variable, written)) for option in options.OPTIONS.values() if option.description
    )


def _spec(option: options.Option, parts: str) -> str:
    kind = option.kind
    lines = [f"{option.variable}:", "  description:"]
    for said in option.description:
        lines += textwrap.wrap(
            _scalar(said),
            WIDTH - 6,
            initial_indent="    - ",
            subsequent_indent="      ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    lines.append(f"  type: {kind.type}")
    lines += [f"  elements: {kind.elements}"] if kind.elements else []
    lines += [f"  choices: [{', '.join(kind.choices)}]"] if kind.choices else []
    return textwrap.indent("\n".join(lines) + "\n" + f"  default:{_value(option, 2)}", " " * 6) + parts


def _parts(name: str, written: str) -> str:
    found = re.search(rf"^      {name}:\n(?:        .*\n)*?(        options:\n(?:          .*\n)+)", written, re.M)
    return found.group(1) if found else ""


def _value(option: options.Option, indent: int) -> str:
    value = option.variable_default
    if isinstance(value, list) and value:
        return "\n" + textwrap.indent("".join(_block(value)), " " * (indent + 2))
    return f" {_flow(value)}\n"


def _block(rules: list[dict[str, Any]]) -> Iterator[str]:
    """A list of dictionaries, whose values are texts or dictionaries of lists and numbers."""
    for rule in rules:
        lead = "- "
        for key, value in rule.items():
            if isinstance(value, dict):
                yield f"{lead}{key}:\n" + "".join(f"    {name}: {_flow(one)}\n" for name, one in value.items())
            else:
                yield f"{lead}{key}: {_flow(value)}\n"
            lead = "  "


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    """A text as YAML takes it for nothing else."""
    is_plain = re.fullmatch(r"[A-Za-z][^:#]*|[A-Z](?:(?!: | #).)*", text)
    return text if is_plain else json.dumps(text)


def with_part(part: str, page: str, indent: str = "") -> str:
    """The page with what is generated between its two lines."""
    begin, end = indent + BEGIN, indent + END
    before, rest = page.split(begin)
    return before + begin + part + end + rest.split(end)[1]


def pages() -> dict[pathlib.Path, str]:
    """What each file is to hold."""
    written, given = SPECS.read_text(encoding="utf-8"), DEFAULTS.read_text(encoding="utf-8")
    return {DEFAULTS: with_part(defaults(), given), SPECS: with_part(specs(written), written, " " * 6)}


if __name__ == "__main__":
    for path, page in pages().items():
        path.write_text(page, encoding="utf-8")
