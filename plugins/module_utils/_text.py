# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text for people, out of text that may hold anything: one line, printable, not too long. And numbers out of such text.

Private to this collection.
"""

import re
from typing import Any, Iterable, Optional

_DIGITS = re.compile(r"[0-9]{1,12}\Z")


def digits(text: str) -> Optional[int]:
    """The whole number that a text from elsewhere is; None when it is none.

    Unlike ``isdigit`` and ``int`` this takes no superscripts, signs, underscores, or thousands of digits.
    """
    return int(text) if _DIGITS.match(text) else None


def shortened(text: str, limit: int) -> str:
    """The text, cut to at most `limit` characters, the last three of which say that it was cut."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def one_line(text: Any, limit: int = 200) -> str:
    """The text as one line without control characters, in which any run of blanks is one; None is ""."""
    words = "" if text is None else str(text)
    printable = words if words.isprintable() else "".join(char if char.isprintable() else " " for char in words)
    return shortened(" ".join(printable.split()), limit)


def clause(text: Any, limit: int = 200) -> str:
    """Somebody else's words on one line, to be put before a stop or a colon of ours: without the stop that they may end with."""
    return one_line(text, limit).rstrip(" .")


def seconds_until(left: float) -> str:
    """When something comes: ``in 40 s``, or ``at any moment`` where its time is over."""
    return f"in {left:.0f} s" if left >= 0.5 else "at any moment"


def duration(seconds: float) -> str:
    """Seconds for people: ``40 s``, ``12 min``, ``5 h``, ``3 d``"""
    seconds = max(0.0, seconds)
    for limit, divisor, unit in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / divisor:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


def first_line(text: Any, limit: int = 300) -> str:
    """The first line of the text that is not blank, fit to be printed; "" when there is none."""
    return _line(text, 0, limit)


def last_line(text: Any, limit: int = 300) -> str:
    """The last line of the text that is not blank, fit to be printed; "" when there is none."""
    return _line(text, -1, limit)


def _line(text: Any, position: int, limit: int) -> str:
    lines = [line for line in str(text or "").splitlines() if line.strip()]
    return one_line(lines[position], limit) if lines else ""


def shown(value: Any, limit: int = 60) -> str:
    """A value as Python writes it: quotes and escapes show what it is."""
    return shortened(repr(value), limit)


def listed(texts: Iterable[Any], most: int = 20) -> str:
    """Things in a sentence: ``a, b, c``, or ``a, b and 17 more``."""
    words = [str(text) for text in texts]
    return ", ".join(words) if len(words) <= most else f"{', '.join(words[:most])} and {len(words) - most} more"


def sentence(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def did_you_mean(word: Any, words: Iterable[Any]) -> str:
    """`` (did you mean 'prepare'?)``, to be put behind a word that is unknown; "" when none of the known ones is like it."""
    found = close(word, words)
    return f" (did you mean {found!r}?)" if found else ""


def close(word: Any, words: Iterable[Any], likeness: float = 0.6) -> str:
    """The known word that is most like this one, whatever their case; "" when none is like it.

    :arg likeness: from 0 to 1, which is the same word
    """
    import difflib  # which only what is wrong needs

    known = {str(candidate).lower(): str(candidate) for candidate in words}
    found = difflib.get_close_matches(word.lower(), list(known), 1, likeness) if isinstance(word, str) else []
    return known[found[0]] if found else ""
