# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a call sends first, as text: it finds the program on this machine, or puts it there, and runs it.

It imports nothing of this collection, for nothing of it need be there yet. The call goes on by the caller's last line,
which calls :func:`start`.

Private to this collection.
"""

import io
import json
import os
import pwd
import stat
import sys
import time
import types
import zipimport
from typing import List, Optional

_DAY = 86400.0


def start(folders: List[str], name: str, size: int, is_sent: bool, marker: str) -> None:
    """Run the program, and tell it in which folder it lies; say that it is missing when it is not here and was not sent either.

    :arg folders: where it may be, the best one first
    :arg name: its file's, which has its hash; Python's version comes behind it
    :arg size: how many bytes it has
    :arg is_sent: whether it is on standard input, before what the program itself reads there
    :arg marker: what the line of the answer begins with
    """
    content = sys.stdin.buffer.read(size) if is_sent else b""
    paths = [os.path.join(_own(folder), f"{name}.{sys.implementation.cache_tag}") for folder in folders]
    refusals = []
    for path in paths:
        program = _found(path)
        if is_sent and not program:
            try:
                if len(content) < size:
                    raise OSError("the connection was cut while it came")
                _put(path, content)
                vars(zipimport)["_zip_directory_cache"].pop(path, None)  # of a broken one that was there
                program = _found(path)
                if not program:
                    raise OSError("it can't be read again")
            except OSError as error:
                refusals.append(f"{path}: {error.strerror or error}")
        if program:
            sys.argv = [path, marker, os.path.dirname(path)]
            sys.path.insert(0, path)
            exec(program, {"__name__": "__main__"})
            return
    answer = {"unwritable": "; ".join(refusals)} if is_sent else {"missing": True}
    sys.stdout.write(f"\n{marker}{json.dumps(answer)}\n")


def _own(folder: str) -> str:
    """A folder of this user in the given one. Root's home is asked of the system: sudo may leave HOME another user's."""
    user = os.geteuid()
    folder = os.fsdecode(folder.encode("utf-8"))  # the locale may not have its letters
    if folder == "~" or folder.startswith("~/"):
        try:
            folder = pwd.getpwuid(user).pw_dir + folder[1:]
        except KeyError:
            pass
    # Without links, which somebody may bend after it was checked.
    return os.path.join(os.path.realpath(os.path.expanduser(folder)), f"azure-maintenance-{user}")


def _found(path: str) -> Optional[types.CodeType]:
    """The program there, if nobody else can have put it there."""
    try:
        if not _is_closed(os.path.dirname(path)) or not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        program = zipimport.zipimporter(path).get_code("__main__")
    except (OSError, ValueError, EOFError, ImportError):
        return None
    if os.lstat(path).st_mtime < time.time() - _DAY:
        try:
            os.utime(path)  # it is in use: see _tidy
        except OSError:  # on a disk that is read-only
            pass
    return program


def _is_closed(folder: str) -> bool:
    """Whether nobody but this user can write there, nor put another folder in its place."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        return False
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        above = os.lstat(folder)
        # In a folder such as /tmp (sticky) only its owner and root can move what others have made.
        if above.st_uid not in (0, os.geteuid()) or above.st_mode & 0o022 and not above.st_mode & stat.S_ISVTX:
            return False
    return True


def _put(path: str, content: bytes) -> None:
    """Write it, whole or not at all: another call may do the same at this moment.

    :raises OSError: when it can't be put there
    """
    import tempfile  # what only the first call needs takes time to import

    folder = os.path.dirname(path)
    mask = os.umask(0o077)  # for those above it, too
    try:
        os.makedirs(folder, exist_ok=True)
    finally:
        os.umask(mask)
    if not _is_closed(folder):
        raise OSError("others than this user may write there")
    descriptor, temporary = tempfile.mkstemp(dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(_compiled(content))
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _tidy(folder)


def _tidy(folder: str) -> None:
    """Remove the programs of other versions that were not in use for a week, and what was not written to its end."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try:
            if os.lstat(path).st_mtime < time.time() - 7 * _DAY:
                os.unlink(path)
        except OSError:  # another call does the same
            pass


def _compiled(content: bytes) -> bytes:
    """The same modules as code of this Python: to compile them anew takes longer than the calls they are for."""
    import importlib.util
    import marshal
    import zipfile

    header = importlib.util.MAGIC_NUMBER + bytes(8 if sys.version_info < (3, 7) else 12)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as sources, zipfile.ZipFile(buffer, "w") as compiled:
        for name in sources.namelist():
            code = compile(sources.read(name), name, "exec", dont_inherit=True)
            compiled.writestr(name + "c", header + marshal.dumps(code))
    return buffer.getvalue()
