# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file of plugins/ changes of its arguments, as far as its text shows: itself, or by a function that it hands them to."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from ansible_collections.cloudops.azure_maintenance.tests.unit.rooms import PLUGINS

MUTATORS = frozenset(
    (
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    )
)
VIEWS = frozenset(
    ("get", "items", "keys", "setdefault", "values")
)  # what they return is part of what they are called on
HOLDING = frozenset(
    ("dict", "enumerate", "iter", "list", "reversed", "set", "sorted", "tuple", "zip")
)  # the same things in a new one
OUTSIDE = frozenset(("random", "secrets", "socket", "subprocess", "threading", "time", "uuid"))
NOW = frozenset(("date.today", "datetime.now", "datetime.today", "datetime.utcnow"))
OF_THE_SYSTEM = frozenset(
    ("open", "os.environ", "os.listdir", "os.stat", "os.path.exists", "os.path.isfile", "os.path.isdir")
)


class Change(NamedTuple):
    """A line that changes an argument."""

    function: str
    line: int
    argument: str
    place: int | None  # of the argument; None where it is given by its name only

    @property
    def is_seen(self) -> bool:
        """Whether a caller from another file sees it: what a private function changes may have been made for it."""
        return not self.function.startswith("_")


PURE = "Pure."
CHANGES_THE_RECORD = "It changes the record, and nothing else."


def says(path: pathlib.Path, words: str) -> bool:
    """Whether the first line of a file says that of it."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].endswith(words)


def reads_outside(path: pathlib.Path) -> list[str]:
    """By what it could see a clock, chance, or the system."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in OUTSIDE]
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] in OUTSIDE:
            found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in NOW | OF_THE_SYSTEM:
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in OF_THE_SYSTEM:
            found.append(ast.unparse(node.func))
    return found


def changes(folder: str) -> dict[str, list[Change]]:
    """What the functions of a room's files change of their arguments, by file."""
    room = _Room(folder)
    known: dict[tuple[str, str], set[int | None]] = {}
    while True:
        found = {file: list(room.changes(file, known)) for file in room.files}
        now: dict[tuple[str, str], set[int | None]] = {}
        for file, change in [(file, change) for file, several in found.items() for change in several]:
            now.setdefault((file, change.function), set()).add(change.place)
        if now == known:
            return found
        known = now


class _Room:
    def __init__(self, folder: str) -> None:
        paths = sorted((PLUGINS / folder).glob("*.py"))
        self.files = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
        self._imported = {file: dict(self._imports(tree)) for file, tree in self.files.items()}

    def _imports(self, tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                for alias in node.names:
                    yield alias.asname or alias.name, (node.module or alias.name, alias.name if node.module else "")

    def changes(self, file: str, known: Mapping[tuple[str, str], Collection[int | None]]) -> Iterator[Change]:
        for node in ast.walk(self.files[file]):
            if isinstance(node, ast.FunctionDef):
                yield from _Walk(node, lambda call: known.get(self._target(file, call), ())).found

    def _target(self, file: str, call: ast.expr) -> tuple[str, str]:
        """File and name of a function that is called, where it is one of the room's."""
        if isinstance(call, ast.Name):
            return self._imported[file].get(call.id, (file, call.id))
        if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name):
            module, name = self._imported[file].get(call.value.id, ("", "?"))
            return (module, call.attr) if not name else ("", "")
        return "", ""


class _Walk:
    """The statements of a function, in their order: which names stand for its arguments or parts of them.

    :arg changed_by: which of its arguments, by their place, the function changes that is called so
    """

    def __init__(self, function: ast.FunctionDef, changed_by: Callable[[ast.expr], Collection[int | None]]) -> None:
        self._function = function
        self._changed_by = changed_by
        arguments = function.args
        self._places = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        names = {*self._places, *(one.arg for one in arguments.kwonlyargs)} - {"self", "cls"}
        self._parts = {name: {name} for name in names}  # of which arguments a name stands for a part
        self._holding: dict[str, set[str]] = {}  # and of which it is a new container with parts
        self.found: list[Change] = []
        for statement in function.body:
            self._take(statement)

    def _take(self, node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            return
        if isinstance(node, ast.For):
            self._name(node.target, self._of(node.iter) | self._within(node.iter))
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
            targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
            for target in [one for several in targets for one in _flat(several)]:
                if isinstance(target, (ast.Subscript, ast.Attribute)):
                    self._report(node, self._of(target.value))
        if isinstance(node, ast.Call):
            self._take_call(node)
        for child in ast.iter_child_nodes(node):
            self._take(child)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        parts, within = self._of(value), self._within(value)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, given in zip(target.elts, value.elts, strict=True):
                self._assign(one, given)
        else:
            self._name(target, parts if isinstance(target, ast.Name) else parts | within, within)

    def _take_call(self, node: ast.Call) -> None:
        call = node.func
        if isinstance(call, ast.Attribute) and call.attr in MUTATORS:
            self._report(node, self._of(call.value))
        for place in self._changed_by(call):
            if place is not None and place < len(node.args):
                self._report(node, self._of(node.args[place]))

    def _name(self, target: ast.expr, parts: set[str], holding: Collection[str] = ()) -> None:
        for one in _flat(target):
            if isinstance(one, ast.Name):
                self._parts[one.id], self._holding[one.id] = set(parts), set(holding)

    def _of(self, node: ast.expr) -> set[str]:
        """The arguments of which it is a part, or which it is."""
        if isinstance(node, ast.Name):
            return self._parts.get(node.id, set())
        if isinstance(node, ast.Subscript):
            return self._of(node.value) | self._within(node.value)
        if isinstance(node, (ast.Attribute, ast.Starred)):
            return self._of(node.value)
        if isinstance(node, ast.BoolOp):
            return set().union(*map(self._of, node.values))
        if isinstance(node, ast.IfExp):
            return self._of(node.body) | self._of(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
            return self._of(node.func.value)
        return set()

    def _within(self, node: ast.expr) -> set[str]:
        """The arguments of which parts are in it, where it is a new container."""
        if isinstance(node, ast.Name):
            return self._holding.get(node.id, set())
        if isinstance(node, (ast.Tuple, ast.List)):
            return set().union(*(self._of(one) | self._within(one) for one in node.elts))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return set().union(*(self._of(one.iter) | self._within(one.iter) for one in node.generators))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HOLDING:
            return set().union(*(self._of(one) | self._within(one) for one in node.args))
        return set()

    def _report(self, node: ast.stmt | ast.expr, arguments: Collection[str]) -> None:
        for name in sorted(arguments):
            place = self._places.index(name) if name in self._places else None
            self.found.append(Change(self._function.name, node.lineno, name, place))


def _flat(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [one for part in target.elts for one in _flat(part)]
    return [target.value if isinstance(target, ast.Starred) else target]
