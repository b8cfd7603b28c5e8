# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are whole or not there, also after a power cut. And the small files of the machine's state: one JSON object that says its
format, read with bounds, and again only when it has changed; what can't be read is reported, not taken for nothing.

Private to this collection.
"""

import contextlib
import errno
import json
import os
from typing import Any, Dict, Mapping, Optional, Tuple

from .._text import one_line, shown
from .platform import native


def make_folder(path: str) -> None:
    """Make a folder, and those above it, where they are not there yet."""
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        make_folder(above)
    with contextlib.suppress(FileExistsError):
        native.make_folder(path)
        sync_folder_of(path)


def make_subfolder(path: str) -> None:
    """Make a folder for whoever may use the one that it is in, where it is not there yet."""
    with contextlib.suppress(FileExistsError):
        native.make_subfolder(path)
        sync_folder_of(path)


def is_closed(folder: str) -> bool:
    """Whether it is of this user or of root, and not open to all."""
    found = os.stat(folder)
    return native.is_ours(found) and not native.open_to(found, 0o002)


def refusal(folder: str, room: int) -> int:
    """The system's error for a file of so many bytes in a folder, as far as can be seen; 0 where there would be none.

    Of a folder that is not there yet, the one counts that it would be made in.
    """
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder) or os.curdir
    if not os.path.isdir(folder):
        return errno.ENOTDIR
    return native.refusal_of(folder, room)


def write_first(path: str, value: Any, most: Optional[int] = None) -> bool:
    """Write a file as JSON; False when one of this name is there already, which stays as it is.

    :arg most: bytes; for more the error is EFBIG
    """
    temporary = _written(path, value, most)
    try:
        # Opening with O_EXCL and then writing would show others a file that is half written.
        if not native.place(temporary, path):
            return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    sync_folder_of(path)
    return True


def replace(path: str, value: Any, most: Optional[int] = None) -> None:
    """Write a file as JSON, in the place of the one that may be there.

    :arg most: bytes; for more the error is EFBIG
    """
    native.replace(_written(path, value, most), path)
    sync_folder_of(path)


def read(path: str) -> Optional[Any]:
    """What the file holds; None when there is none."""
    try:
        with native.patiently(lambda: open(path, encoding="utf-8")) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def remove(path: str) -> None:
    """Remove a file.

    :raises FileNotFoundError: when there is none
    """
    native.patiently(lambda: os.unlink(path))
    sync_folder_of(path)


def _written(path: str, value: Any, most: Optional[int]) -> str:
    content = json.dumps(value).encode("utf-8")
    if most is not None and len(content) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # no room, as a rule: not for half a file either
        os.unlink(temporary)
        raise
    return temporary


def sync_folder_of(path: str) -> None:
    native.sync_folder(os.path.dirname(path))


FORMAT = 1
"""Of all of these files that name no other."""
MOST_BYTES = 65536


class Unreadable(ValueError):
    """Why a file can't be understood, as a clause that follows its name."""


def object_in(content: bytes, form: Optional[int] = FORMAT) -> Dict[str, Any]:
    """The object that a file's content is.

    :arg form: the format that it has to say; None where it needs to say none
    :raises Unreadable: when it is none, or of another format, which may mean more than this version knows
    """
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no JSON: {one_line(error, 200)}") from error
    if not isinstance(found, dict):
        raise Unreadable(f"is no JSON object, but {shown(found)}")
    if form is not None and found.get("format") != form:
        raise Unreadable(f"is of format {shown(found.get('format'))}, and this version reads format {form}")
    return found


class StateFile:
    """One such file.

    :arg form: its format; None where it says none
    :arg most: bytes that are read of it; one that has more can't be understood
    """

    def __init__(self, path: str, form: Optional[int] = FORMAT, most: int = MOST_BYTES) -> None:
        self.path = path
        self._form = form
        self._most = most
        self._seen: Optional[Tuple[int, ...]] = None
        self._found: Optional[Dict[str, Any]] = None
        self._problem = ""

    def read(self) -> Optional[Dict[str, Any]]:
        """What it holds; None where there is no such file.

        :raises Unreadable: when it can't be read or understood
        """
        try:
            found = os.stat(self.path)
            seen = (found.st_mtime_ns, found.st_ino, found.st_size)
            if seen != self._seen:
                self._understand(self._content())
                self._seen = seen
        except FileNotFoundError:
            self._seen, self._found, self._problem = None, None, ""
        except OSError as error:
            raise Unreadable(f"can't be read: {error.strerror}") from error
        if self._problem:
            raise Unreadable(self._problem)
        return self._found

    def replace(self, value: Mapping[str, Any]) -> None:
        """Write it whole, with its format, so that it is there after a power cut.

        :raises OSError: when it can't be written
        """
        replace(self.path, self._whole(value))

    def replace_unsynced(self, value: Mapping[str, Any], mode: int = 0o600) -> None:
        """Write it whole, with its format; a power cut may undo that.

        :raises OSError: when it can't be written
        """
        temporary = f"{self.path}.new"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(self._whole(value), file)
        native.replace(temporary, self.path)

    def _whole(self, value: Mapping[str, Any]) -> Dict[str, Any]:
        return dict(value) if self._form is None else dict(value, format=self._form)

    def _content(self) -> bytes:
        with native.patiently(lambda: open(self.path, "rb")) as file:
            return file.read(self._most + 1)

    def _understand(self, content: bytes) -> None:
        self._found, self._problem = None, ""
        try:
            if len(content) > self._most:
                raise Unreadable(f"has more than {self._most} bytes")
            self._found = object_in(content, self._form)
        except Unreadable as error:
            self._problem = str(error)
