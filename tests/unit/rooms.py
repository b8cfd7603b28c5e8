# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of plugins/ and the arrows between them, as the imports say. `make figure` draws them in CONTRIBUTING.md.

A room is a package or a folder of plugins; a single private file is a room, too. The small files of module_utils that
import no other room are one room together, called basics here.
"""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms: drawn by make figure -->\n", "<!-- rooms: end -->\n"
COLLECTION = "ansible_collections.cloudops.azure_maintenance.plugins."
BASICS = "module_utils/basics"
SIDES = {
    "Plugins: what users call": ("action", "callback", "filter", "lookup", "modules", "test"),
    "plugin_utils: the controller only": ("plugin_utils",),
    "module_utils: on machines and on the controller": ("module_utils",),
}


def imports(path: pathlib.Path) -> Iterator[str]:
    """What a file imports, by absolute names; of this collection by paths such as module_utils._imds.client."""
    package = path.relative_to(PLUGINS).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = package[: len(package) - node.level + 1]
            where = ".".join([*parent, *([node.module] if node.module else [])])
            yield from (f"{COLLECTION}{where}.{alias.name}" for alias in node.names)


def files() -> dict[pathlib.Path, list[str]]:
    """Every Python file of plugins/ and what it imports."""
    return {path: sorted(set(imports(path))) for path in sorted(PLUGINS.rglob("*.py")) if path.name != "__init__.py"}


def _place(parts: tuple[str, ...]) -> str:
    """plugin_utils/_drain/plan.py is of plugin_utils/_drain, action/x.py of action."""
    side = parts[0]
    return "/".join(parts[:2]).removesuffix(".py") if side.endswith("_utils") else side


def _within(name: str) -> str | None:
    return _place(tuple(name[len(COLLECTION) :].split("."))) if name.startswith(COLLECTION) else None


def arrows() -> dict[str, set[str]]:
    """Of each room those that it imports."""
    found: dict[str, set[str]] = {}
    for path, names in files().items():
        here = _place(path.relative_to(PLUGINS).parts)
        found.setdefault(here, set()).update(filter(None, map(_within, names)))
        found[here].discard(here)
    small = _basics(found)
    joined = {room: {BASICS if other in small else other for other in others} for room, others in found.items()}
    return {room: others for room, others in joined.items() if room not in small} | {BASICS: set()}


def _basics(graph: dict[str, set[str]]) -> set[str]:
    files = {room for room in graph if room.startswith("module_utils/") and (PLUGINS / (room + ".py")).exists()}
    small: set[str] = set()
    while more := {room for room in files - small if graph[room] <= small}:
        small |= more
    return small


def within(room: str) -> dict[str, set[str]]:
    """The arrows between the files of one room, by their paths in it such as imds/session."""
    start = f"{COLLECTION}{room.replace('/', '.')}."
    own = {path.relative_to(PLUGINS / room).with_suffix("").as_posix() for path in (PLUGINS / room).rglob("*.py")}
    found: dict[str, set[str]] = {}
    for path, names in files().items():
        if path.is_relative_to(PLUGINS / room):
            inside = (name[len(start) :].replace(".", "/") for name in names if name.startswith(start))
            # The name of a file, or of something in it
            others = {next((way for way in (name, name.rpartition("/")[0]) if way in own), "") for name in inside}
            found[path.relative_to(PLUGINS / room).with_suffix("").as_posix()] = others - {""}
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Rooms, or files, that lead back to the first of them, if there are such."""
    without: set[str] = set()

    def walk(trail: list[str]) -> list[str]:
        for other in sorted(graph.get(trail[-1], set()) - without):
            if other in trail:
                return [*trail[trail.index(other) :], other]
            if found := walk([*trail, other]):
                return found
        without.add(trail[-1])
        return []

    return next((found for room in sorted(graph) if (found := walk([room]))), [])


def _reached(graph: dict[str, set[str]], room: str) -> set[str]:
    return graph[room].union(*(_reached(graph, other) for other in graph[room]))


def figure() -> str:
    """The figure for Mermaid: an arrow that a longer way says already is left out."""
    graph = arrows()
    direct = {
        room: {other for other in others if not any(other in _reached(graph, via) for via in others - {other})}
        for room, others in graph.items()
    }
    drawn = sorted(room for room in graph if graph[room] or any(room in others for others in graph.values()))
    lines = ["```mermaid", "flowchart TD"]
    for number, (title, sides) in enumerate(SIDES.items()):
        lines.append(f'    subgraph side{number}["{title}"]')
        lines += [f"        {_node(room, graph)}" for room in drawn if room.split("/")[0] in sides]
        lines.append("    end")
    lines += [f"    {_id(room)} --> {_id(other)}" for room in drawn for other in sorted(direct[room])]
    return "\n".join([*lines, "```"]) + "\n"


def _id(room: str) -> str:
    return room.replace("/", "_")


def _node(room: str, graph: dict[str, set[str]]) -> str:
    name = room.rpartition("/")[2]
    if room == BASICS:
        files = (path.stem for path in (PLUGINS / "module_utils").glob("_*.py"))
        name = "<br>".join(sorted(name for name in files if f"module_utils/{name}" not in graph))
    return f'{_id(room)}["{name}"]'


def page_with(figure: str, page: str) -> str:
    before, rest = page.split(BEGIN)
    return before + BEGIN + figure + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page_with(figure(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
