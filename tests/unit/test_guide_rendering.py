# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide shows all that it has where a git hosting site renders it: with plain docutils, which knows nothing of Sphinx."""

from __future__ import annotations

import functools
import pathlib
import re

import pytest
from docutils import nodes
from docutils.core import publish_doctree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "docsite" / "rst").glob("*.rst"))
WARNING = 2  # as docutils numbers it
SETTINGS = {
    "file_insertion_enabled": False,  # as on such a site
    "raw_enabled": False,
    "syntax_highlight": "none",  # else it wants Pygments
    "report_level": WARNING,  # these stay in the document, where they are counted
    "halt_level": 5,
    "warning_stream": False,
}


def rendered(text: str) -> nodes.document:
    return publish_doctree(text, settings_overrides=SETTINGS)


@functools.lru_cache(maxsize=None)
def page(path: pathlib.Path) -> nodes.document:
    return rendered(path.read_text(encoding="utf-8"))


def complaints(document: nodes.document) -> list[str]:
    """What docutils left out or doubts: unknown options, directives and roles, links without a target."""
    return [found.astext() for found in document.findall(nodes.system_message) if found["level"] >= WARNING]


def code_blocks(document: nodes.document) -> int:
    """How many are shown. What docutils can't parse it shows in its complaint, as a block, too."""
    return sum(
        not isinstance(found.parent, nodes.system_message) and "code" in found["classes"]
        for found in document.findall(nodes.literal_block)
    )


def anchors(document: nodes.document) -> set[str]:
    return {name for element in document.findall(nodes.Element) for name in element["ids"]}


def dead_links(document: nodes.document, path: pathlib.Path) -> list[str]:
    """Links to files that the repository doesn't have, and to anchors that their page doesn't have."""
    dead = []
    for link in document.findall(nodes.reference):
        target, _mark, anchor = link.get("refuri", "").partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = path.parent / target if target else path
        known = anchors(page(file) if target.endswith(".rst") and file.is_file() else document)
        if not file.is_file() or (anchor and anchor not in known):
            dead.append(link["refuri"])
    return dead


def test_what_a_hosting_site_would_leave_out_is_found():
    document = rendered(
        "Title\n=====\n\n.. code-block:: text\n   :caption: lost\n\n   lost\n\n.. code-block:: text\n\n   shown\n\n"
        ":ref:`lost`, `none <none.rst>`__, `here <#title>`__, `there <maintain.rst#nothing>`__\n"
    )
    assert code_blocks(document) == 1
    assert [word in " ".join(complaints(document)) for word in ("caption", 'role "ref"')] == [True, True]
    assert dead_links(document, PAGES[0]) == ["none.rst", "maintain.rst#nothing"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_renders_without_sphinx(path):
    assert complaints(page(path)) == []
    assert code_blocks(page(path)) == len(re.findall(r"^ *\.\. code-block::", path.read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_of_a_page_lead_somewhere(path):
    assert dead_links(page(path), path) == []
