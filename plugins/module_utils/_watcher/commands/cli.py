# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command ``azure-maintenance``: which sub-commands it has, what every sub-command works with (where things are on this machine, who
calls, where words go), and what comes before and after each of them.

Private to this collection.
"""

import argparse
import importlib
import json
import os
import sys
import textwrap
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, TextIO, Tuple

from ..._clock import Clock
from ..._machine.files import StateFile, Unreadable
from ..._machine.mark import MOST_BYTES, MarkUnreadable
from ..._machine.platform import native
from ..._text import one_line
from ..host.this_host import HOST
from ..settings.options import Configuration
from ..settings.settings import configured

FOLDER, HOOKS_FOLDER, ENDPOINT = (
    "AZURE_MAINTENANCE_FOLDER",
    "AZURE_MAINTENANCE_HOOKS_FOLDER",
    "AZURE_MAINTENANCE_ENDPOINT",
)
"""What the command knows of this watcher where its settings are gone: variables, set by the launcher."""

FINE, WRONG, WRONG_USAGE, NO_ANSWER, NOT_ROOT = 0, 1, 2, 3, 4
CODES = {
    FINE: "fine",
    WRONG: "a problem was found, or the command was not carried out",
    WRONG_USAGE: "wrong usage",
    NO_ANSWER: "the service did not receive the command",
    NOT_ROOT: f"only {HOST.admin} may do that",
}

WIDTH = 80
_LABEL = 11


class Read(NamedTuple):
    """What of a file could be read."""

    value: Optional[Any]
    problem: str  # "" also when the file is not there


class CliContext:
    """:arg settings: the path of the settings"""

    def __init__(
        self,
        settings: str,
        version: str,
        environment: Mapping[str, str],
        clock: Clock,
        out: TextIO,
        err: TextIO,
    ) -> None:
        self.settings = settings
        self.version = version
        self.environment = environment
        self.clock = clock
        self.out = out
        self.err = err
        self.is_root = _user_number() == 0
        self._configuration: Optional[Configuration] = None

    # --- words ---

    def say(self, line: str = "") -> None:
        """A line as it is."""
        self.out.write(line + "\n")

    def tell(self, text: str) -> None:
        """Sentences, in lines that fit."""
        for line in _wrapped(text):
            self.say(line)

    def complain(self, text: str) -> None:
        """Sentences about what is wrong."""
        for line in _wrapped(text):
            self.err.write(line + "\n")

    def entry(self, label: str, text: str) -> None:
        """A line with a label at its beginning, and those below it beneath its text."""
        for line in entry_lines(label, text):
            self.say(line)

    def dump(self, value: Any) -> None:
        self.say(json.dumps(value, indent=2, sort_keys=True))

    # --- files ---

    @property
    def configuration(self) -> Configuration:
        """The settings as far as they can be followed. What can't be is as if left out: check-config says what that is."""
        if self._configuration is None:
            raw = read_json(self.settings).value
            given = (
                {name: value for name, value in raw.items() if value not in (None, "")} if isinstance(raw, dict) else {}
            )
            known = {"folder": FOLDER, "hooks_folder": HOOKS_FOLDER, "endpoint": ENDPOINT}
            usual = {name: self.environment.get(variable) or None for name, variable in known.items()}
            self._configuration = configured({**usual, **given})[0]
        return self._configuration

    @property
    def folder(self) -> str:
        """Of the watcher's state."""
        return self.configuration.folder

    def mark(self) -> Read:
        from ..._machine.store import FolderStore

        try:
            return Read(FolderStore(self.folder, self.clock).read(), "")
        except MarkUnreadable as error:
            return Read(None, str(error))

    def published(self) -> Optional[Dict[str, Any]]:
        """What the watcher last said of itself."""
        from ..._machine.beside_mark import published

        return published(self.folder)

    def sees_state(self) -> bool:
        """Whether this user may look into the state's folder, if it is there."""
        return not os.path.isdir(self.folder) or os.access(self.folder, os.R_OK | os.X_OK)

    def must_be_root(self, what: str) -> bool:
        """Whether a command must end here, as it is called by somebody else; says so."""
        if self.is_root:
            return False
        self.complain(f"Only {HOST.admin} may {what}: {HOST.run_as_admin}.")
        return True

    def caller(self) -> str:
        """Who calls, for people: sudo says who that was."""
        import getpass

        try:
            return one_line(self.environment.get("SUDO_USER") or getpass.getuser(), 100)
        except (KeyError, OSError, ImportError):  # this user has no name
            return f"user number {_user_number()}"


def _wrapped(text: str) -> List[str]:
    return textwrap.wrap(one_line(text, 4000), WIDTH, break_on_hyphens=False) or [""]


def _user_number() -> int:
    """0 for whoever may do everything."""
    if os.name == "nt":
        return 0 if native.is_root() else 1
    return os.geteuid()


def read_json(path: str, form: Optional[int] = None) -> Read:
    """What a file holds.

    :arg form: the format that it has to say; None for any
    """
    try:
        return Read(StateFile(path, form, 4 * MOST_BYTES).read(), "")
    except Unreadable as error:
        return Read(None, f"{path} {error}")


def entry_lines(label: str, text: str) -> List[str]:
    room = WIDTH - _LABEL
    lines = textwrap.wrap(one_line(text, 4000), room, break_on_hyphens=False) or [""]
    return [f"{label if number == 0 else '':<{_LABEL}}{line}".rstrip() for number, line in enumerate(lines)]


class Subcommand(NamedTuple):
    """One of the command's."""

    arguments: Callable[[argparse.ArgumentParser], None]  # adds its own to the parser
    run: Callable[[argparse.Namespace, CliContext], int]  # returns the exit code


COMMANDS: Dict[str, Tuple[str, str]] = {
    "status": ("status", "show the watcher, the machine's state, its events and waiting reports"),
    "history": ("reports", "list what has happened on this machine"),
    "hold": ("command_client", "put approvals on hold: no event starts before its not-before"),
    "release": ("command_client", "release approvals from hold"),
    "approve": ("command_client", "confirm an event that is not approved automatically"),
    "recover": ("recover", "recover the machine now: undo its steps, run its recover hooks"),
    "hooks": ("doctor", "list the hooks that run, and why others do not"),
    "doctor": ("doctor", "check everything that the watcher needs, and say how to fix it"),
    "check-config": ("doctor", "check the settings, and name the line to correct"),
    "report": ("reports", "send a test report to every receiver now, and print the answers"),
    "send": ("reports", "send waiting reports until stopped (the service of reports runs it)"),
    "version": ("cli", "print the version"),
}
"""The file that has each sub-command, and what it is for."""


def main(version: str, arguments: List[str], environment: Optional[Mapping[str, str]] = None) -> int:
    """Carry out a command; returns the exit code.

    :arg version: of the collection
    :arg environment: of the process
    """
    environment = os.environ if environment is None else environment
    try:
        options = _parser(arguments, environment).parse_args(arguments)
    except SystemExit as end:  # --help, or wrong usage, which argparse has explained
        return end.code if isinstance(end.code, int) else WRONG_USAGE
    here = CliContext(options.settings, version, environment, Clock(), _careful(sys.stdout), _careful(sys.stderr))
    try:
        code: int = _subcommand(options.command).run(options, here)
        here.out.flush()
        return code
    except BrokenPipeError:  # "| head" has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _parser(arguments: List[str], environment: Mapping[str, str]) -> argparse.ArgumentParser:
    """Of the sub-commands only the one that is called is loaded: the daemon of reports lives long, and needs little."""
    parser = argparse.ArgumentParser(
        prog="azure-maintenance",
        description="Show and control the watcher: the service that handles Azure's maintenance of this machine.",
        epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in CODES.items()) + ".",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    for name, (_file, words) in COMMANDS.items():
        one = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        one.add_argument(
            "--settings",
            metavar="FILE",
            default=environment.get("AZURE_MAINTENANCE_SETTINGS") or HOST.settings,
            help="the watcher's settings (%(default)s)",
        )
        if name in arguments:
            _subcommand(name).arguments(one)
    return parser


def _subcommand(name: str) -> Subcommand:
    file = importlib.import_module(f".{COMMANDS[name][0]}", __package__)
    found: Subcommand = file.SUBCOMMANDS[name]
    return found


def _careful(stream: Optional[TextIO]) -> TextIO:
    """A terminal in the locale C has no letters beyond ASCII: they are shown as escapes, and are no error."""
    if stream is None:  # services of Windows have none
        return open(os.devnull, "w", encoding="utf-8")
    encoding = stream.encoding or "ascii"
    return open(stream.fileno(), "w", 1, encoding=encoding, errors="backslashreplace", closefd=False)


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run_version(options: argparse.Namespace, here: CliContext) -> int:
    here.say(here.version)
    return FINE


SUBCOMMANDS = {
    "version": Subcommand(no_arguments, run_version),
}
