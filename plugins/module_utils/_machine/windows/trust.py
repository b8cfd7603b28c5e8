# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file may decide what this program runs on Windows: only if nobody but administrators, SYSTEM, or this program's own user, can
change it, or put another one in its place.

Private to this collection.

Each folder on the way counts. In those further above others may make folders of their own, as in ``C:\\`` and in %ProgramData%.
"""

import ctypes
import ntpath
import os
import re
from typing import Any, List, NamedTuple, Optional, Tuple

from ..._text import one_line
from . import kernel
from .access_list import ABOVE, READING, WRITING, distrust
from .platform import INTERPRETERS

_FILE, _OWNER, _LIST, _REVISION = 1, 1, 4, 1
_MAY_ASK, _USER = 0x8, 1  # of a process's token
_STANDS_FOR_ANOTHER = (
    0x20000000  # of a reparse point's tag: junctions and symbolic links; not files that a volume has packed
)
BATCH = (".cmd", ".bat")
PROGRAMS = (".exe", *BATCH)
_OF_COMMAND_LINES = re.compile("[&^%]")


class Objection(NamedTuple):
    path: str  # what others could change: the file or folder itself, or a folder above
    words: str  # why, in a sentence


def objection(path: str, is_secret: bool = False) -> str:
    """Why somebody else could have put this file there, or have changed it, in a sentence; "" when nobody could.

    :arg is_secret: whether nobody else may read it, either
    """
    if not os.path.isfile(path):
        return _words(path, "is no file")
    return _why(path, READING if is_secret else WRITING)


def folder_objection(path: str) -> str:
    """The same of a folder and of what is put there."""
    if not os.path.isdir(path):
        return _words(path, "is no folder")
    return _why(path)


def unfit(path: str) -> str:
    """Why this file is not run, in a sentence; "" when nothing speaks against it."""
    why = objection(path)
    return why or unfit_name(path)


def unfit_name(path: str) -> str:
    """Why a file of this name is not run, in a sentence; "" when nothing speaks against it."""
    endings = sorted({*PROGRAMS, *INTERPRETERS})
    ending = ntpath.splitext(path)[1].lower()
    if ending not in endings:
        return _words(path, f"is no program: its name must end in one of {', '.join(endings)}")
    if ending in BATCH and _OF_COMMAND_LINES.search(path):
        return _words(path, "is not run: cmd.exe takes the characters & ^ % for its own; give it another name")
    return ""


def way(path: str, what: str = "") -> List[Tuple[str, str]]:
    """What is checked, from a file, or a folder, on upwards, and what others must not do there.

    :arg what: they must not do with the file; "" for a folder
    """
    found = [(path, what)] if what else []
    folder = ntpath.dirname(path) if what else path
    found.append((folder, WRITING))
    while ntpath.dirname(folder) != folder:
        folder = ntpath.dirname(folder)
        found.append((folder, ABOVE))
    return found


def first_objection(path: str, what: str = "", user: Optional[str] = None) -> Optional[Objection]:
    """The first thing on the way upwards that others could change; None where there is none.

    :arg what: others must not do with a file; "" for a folder
    :arg user: the SID of the user whose own it may be; by default that of this process
    """
    path = here = os.path.abspath(path)
    if path.startswith("\\\\"):
        return Objection(path, _words(path, "is on another machine, or has no letter of a drive"))
    try:
        user = own_sid() if user is None else user
        for here, wanted in way(path, what):
            why = distrust(sddl_of(here), _is_link(here), user, wanted)
            if why:
                words = f"is not trusted: {why}. See who may do what there: icacls {one_line(here)}"
                return Objection(here, _words(here, words))
    except OSError as error:
        return Objection(here, _words(path, f"can't be read: {one_line(error.strerror or error)}"))
    return None


def _why(path: str, what: str = "") -> str:
    found = first_objection(path, what)
    return found.words if found else ""


def _is_link(path: str) -> bool:
    return bool(getattr(os.lstat(path), "st_reparse_tag", 0) & _STANDS_FOR_ANOTHER)


def sddl_of(path: str) -> str:
    """Owner and access list of a file or folder.

    :raises OSError: when Windows does not say
    """
    descriptor, text = ctypes.c_void_p(), ctypes.c_void_p()
    number = kernel.function("GetNamedSecurityInfoW")(
        path, _FILE, _OWNER | _LIST, None, None, None, None, ctypes.byref(descriptor)
    )
    if number:
        raise kernel.error_of(number, path)
    try:
        kernel.did(
            "ConvertSecurityDescriptorToStringSecurityDescriptorW",
            descriptor,
            _REVISION,
            _OWNER | _LIST,
            ctypes.byref(text),
            None,
        )
        return _taken(text)
    finally:
        kernel.function("LocalFree")(descriptor)


def own_sid() -> str:
    """The user that this process has, as access lists name it."""
    token, text = ctypes.c_void_p(), ctypes.c_void_p()
    kernel.did("OpenProcessToken", kernel.function("GetCurrentProcess")(), _MAY_ASK, ctypes.byref(token))
    try:
        found: Any = ctypes.create_string_buffer(256)  # a pointer to a SID, its attributes, and that SID
        size = ctypes.c_uint32()
        kernel.did("GetTokenInformation", token, _USER, found, ctypes.sizeof(found), ctypes.byref(size))
        sid = ctypes.cast(found, ctypes.POINTER(ctypes.c_void_p)).contents
        kernel.did("ConvertSidToStringSidW", sid, ctypes.byref(text))
        return _taken(text)
    finally:
        kernel.close(token)


def _taken(text: Any) -> str:
    """A text that Windows has made, which is to be given back."""
    try:
        return ctypes.wstring_at(text.value)
    finally:
        kernel.function("LocalFree")(text)


def _words(path: str, why: str) -> str:
    return f"{one_line(path)} {why}"
