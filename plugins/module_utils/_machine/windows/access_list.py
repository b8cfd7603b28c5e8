# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file or folder of a Windows machine is its administrators' alone, by its owner and access list. Pure.

Users may create folders below %ProgramData%. Whoever was there first could put a confirmation, a mark or a hook there.

Private to this collection.
"""

import functools
import hashlib
import re
import struct
from typing import FrozenSet, Iterator, NamedTuple


def service_sid(name: str) -> str:
    """The SID of ``NT SERVICE\\NAME``, the account that Windows has for each service: it follows from the name, alike on every machine."""
    digest = hashlib.sha1(name.upper().encode("utf-16-le")).digest()
    return "S-1-5-80-" + "-".join(map(str, struct.unpack("<5I", digest)))


REPORTS, HEALTH = "azure-maintenance-reports", "azure-maintenance-health"
"""The services that run as such accounts."""

REPORTS_SID, HEALTH_SID = service_sid(REPORTS), service_sid(HEALTH)

PUBLIC_FILE = "D:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;BU)"
"""The access list of a file that everybody may read."""

# SYSTEM, Administrators, the local Administrator, TrustedInstaller
_TRUSTED = {
    "SY",
    "S-1-5-18",
    "BA",
    "S-1-5-32-544",
    "LA",
    "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
}
_OWNER = {"CO", "S-1-3-0", "OW", "S-1-3-4"}  # in an access list they stand for the owner, who is checked separately
_KNOWN = {"AU": "Authenticated Users", "BU": "Users", "CO": "its creator", "WD": "Everyone", "IU": "interactive users"}

_RIGHTS = {
    "GA": 0x10000000,
    "GX": 0x20000000,
    "GW": 0x40000000,
    "GR": 0x80000000,
    "RC": 0x20000,
    "SD": 0x10000,
    "WD": 0x40000,
    "WO": 0x80000,
    "CC": 0x1,
    "DC": 0x2,
    "LC": 0x4,
    "SW": 0x8,
    "RP": 0x10,
    "WP": 0x20,
    "DT": 0x40,
    "LO": 0x80,
    "CR": 0x100,
    "FA": 0x1F01FF,
    "FR": 0x120089,
    "FW": 0x120116,
    "FX": 0x1200A0,
}
_LOOKING = 0x8 | 0x80 | 0x20000 | 0x100000  # read attributes and the access list, wait for it
_READING = _LOOKING | 0x1 | 0x20 | 0x20000000 | 0x80000000  # and data; traverse, generic read and execute
_REPLACING = (
    0x40 | 0x10000 | 0x40000 | 0x80000 | 0x10000000
)  # delete what is in it, or itself; change list or owner; all

WRITING, READING, ABOVE = "writing", "reading", "above"
"""What others must not do: write there; not even read it, as it is a secret; or, of a folder further above, put another file or folder in
the place of what is there: users may make folders of their own in ``C:\\`` and in %ProgramData%."""

_OWNER_OF = re.compile(r"^O:(S-[0-9-]+|[A-Z]{2})")
_LIST_OF = re.compile(r"D:([A-Z_]*)((?:\([^()]*\))*)(?:S:|$)")


class Entry(NamedTuple):
    """One of an access list."""

    rights: int
    whose: str
    flags: FrozenSet[str]  # OI, CI, NP, IO: for what in the folder it counts, too, or alone
    is_denied: bool

    @property
    def is_for_others_only(self) -> bool:
        """It counts for what is made in the folder, not for the folder."""
        return "IO" in self.flags


@functools.lru_cache(maxsize=128)  # each call reads the same few lists again and again
def distrust(sddl: str, is_link: bool, user: str = "", what: str = WRITING) -> str:
    """Why a file or folder that is there must not be used; "" when it is the administrators' alone.

    :arg sddl: owner and access list, as Windows writes them
    :arg is_link: whether it is a junction or another reparse point
    :arg user: the SID of the user who asks, whose own folder it may be
    :arg what: others must not do: WRITING, READING or ABOVE
    """
    if is_link:
        return "it is a junction or another link"
    trusted = _TRUSTED | ({user} if user else set())
    owner = _OWNER_OF.match(sddl)
    if not owner:
        return f"its owner is not known ({sddl[:100] or 'Windows did not say'})"
    if owner.group(1) not in trusted:
        return f"its owner is {_name(owner.group(1))}"
    found = _LIST_OF.search(sddl)
    if not found or "NO_ACCESS_CONTROL" in found.group(1):
        return (
            "it has no access list that can be read" if found is None else "it has no access list: everybody may write"
        )
    for entry in _entries(found.group(2)):
        if entry.whose not in trusted | _OWNER and not entry.is_denied and _harms(entry, what):
            return f"{_name(entry.whose)} may {_DOES[what]}"
    return ""


_ALL_SERVICES = {"BU", "S-1-5-32-545", "AU", "S-1-5-11", "WD", "S-1-1-0", "SU", "S-1-5-6", "S-1-5-80-0"}
"""The groups that each service's own account is a member of."""

SEE, READ_FILE = 0x80, 0x1  # attributes, data


def allowed(sddl: str, sid: str, for_files: bool = False) -> int:
    """The rights of a service's own account on a file or folder, as bits.

    :arg for_files: on the files that are made in the folder instead
    """
    found = _LIST_OF.search(sddl)
    if found and "NO_ACCESS_CONTROL" in found.group(1):
        return _RIGHTS["FA"]
    rights = 0
    denied = 0
    for entry in _entries(found.group(2) if found else ""):
        counts = "OI" in entry.flags if for_files else not entry.is_for_others_only
        if counts and entry.whose in {sid} | _ALL_SERVICES:
            bits = entry.rights
            for generic, meaning in _GENERIC.items():
                bits |= _RIGHTS[meaning] if entry.rights & _RIGHTS[generic] else 0
            if entry.is_denied:
                denied |= bits & ~rights
            else:
                rights |= bits & ~denied
    return rights


def with_entries(sddl: str, wanted: str) -> str:
    """The access list with those entries of a wanted one added that it lacks; "" where it lacks none, or can't be read. What it has beside
    them stays.

    :arg wanted: an access list; of its entries those of administrators and SYSTEM don't count
    """
    found, given = _LIST_OF.search(sddl), _LIST_OF.search(wanted)
    if not found or not given or "NO_ACCESS_CONTROL" in found.group(1):
        return ""
    there = set(_entries(found.group(2)))
    lacking = [
        f"({text})"
        for text in re.findall(r"\(([^()]*)\)", given.group(2))
        for entry in _entries(f"({text})")
        if entry.whose not in _TRUSTED and entry not in there
    ]
    return f"D:{found.group(1)}{found.group(2)}{''.join(lacking)}" if lacking else ""


_GENERIC = {"GA": "FA", "GR": "FR", "GW": "FW", "GX": "FX"}
_DOES = {WRITING: "write there", READING: "read it", ABOVE: "replace what is there"}


def _harms(entry: Entry, what: str) -> bool:
    if what == ABOVE:  # what is below it is checked separately
        return not entry.is_for_others_only and bool(entry.rights & _REPLACING)
    # The sender signs reports with secrets: it reads them, and nothing more
    is_secret = what == READING and entry.whose != REPORTS_SID
    return bool(entry.rights & ~(_LOOKING if is_secret else _READING))


def _entries(text: str) -> Iterator[Entry]:
    for fields in re.findall(r"\(([^()]*)\)", text):
        kind, flags, rights, _object, _inherited, whose = (fields.split(";") + [""] * 6)[:6]
        found = frozenset(re.findall("..", flags)) - {"ID"}  # inherited or not, it counts alike
        yield Entry(_bits(rights), whose, found, kind in ("D", "OD", "XD"))


def _bits(rights: str) -> int:
    """As a number; what is not known may be anything."""
    if re.match(r"^(0[xX][0-9a-fA-F]+|[0-9]+)$", rights):
        return int(rights, 16 if rights[:2].lower() == "0x" else 8 if rights.startswith("0") else 10)
    bits = 0
    for right in re.findall(r".{1,2}", rights):
        bits |= _RIGHTS.get(right, _RIGHTS["GA"])
    return bits


def _name(whose: str) -> str:
    return f"{_KNOWN[whose]} ({whose})" if whose in _KNOWN else whose or "nobody who is named"
