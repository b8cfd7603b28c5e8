# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Orders and the hold as files: what is taken, what is refused, and what a broken one means."""

import json
import os
import socket

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Hold
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.command_queue import (
    CommandQueue,
    place,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import HoldFile


@pytest.fixture
def orders(tmp_path):
    found = CommandQueue(str(tmp_path))
    found.make()
    return found


def write(tmp_path, content, name="0.json", mode=0o600):
    path = tmp_path / "orders" / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    path.chmod(mode)
    return path


def test_they_are_taken_once_and_in_their_order(tmp_path, orders):
    assert orders.take() == []
    names = [place(str(tmp_path), order, by="anna") for order in ("hold", "release", "check")]
    taken = orders.take()
    assert [order.name for order in taken] == names and [order.order for order in taken] == ["hold", "release", "check"]
    assert taken[0].by == "anna" and orders.take() == []
    assert list((tmp_path / "orders").iterdir()) == []


def test_the_folder_is_listed_only_when_it_has_changed(tmp_path, orders, monkeypatch):
    old = (tmp_path / "orders").stat().st_mtime - 10
    os.utime(tmp_path / "orders", (old, old))
    assert orders.take() == []
    listed = []
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or [])
    assert orders.take() == [] and listed == []
    monkeypatch.undo()
    place(str(tmp_path), "check")
    assert len(orders.take()) == 1


def test_what_is_written_is_not_seen_before_it_is_whole(tmp_path, orders):
    write(tmp_path, {"format": 1, "order": "check"}, ".half")
    assert orders.take() == []


def test_the_folder_is_closed_to_others(tmp_path, orders):
    assert (tmp_path / "orders").stat().st_mode & 0o777 == 0o700
    place(str(tmp_path), "release")
    (tmp_path / "orders").chmod(0o777)
    (order,) = orders.take()
    assert order.order == "" and "others may write into" in order.problem and "chmod 0700" in order.problem


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_a_file_that_others_may_write_is_refused(tmp_path, orders, mode):
    write(tmp_path, {"format": 1, "order": "release"}, mode=mode)
    (order,) = orders.take()
    assert order.order == "" and "does not belong to root, or others may write it" in order.problem
    assert orders.take() == []


def test_what_is_no_file_is_refused_and_does_not_hang(tmp_path, orders):
    folder = tmp_path / "orders"
    os.mkfifo(str(folder / "a"))
    target = write(tmp_path.parent, b"{}", "secret") if (tmp_path.parent / "orders").exists() else tmp_path / "secret"
    target.write_bytes(b"{}")
    (folder / "b").symlink_to(target)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "c"))
    assert ["it is no file" in order.problem for order in orders.take()] == [True] * 3
    listener.close()
    assert target.exists()


@pytest.mark.parametrize(
    "content, words",
    [
        (b"{", "no JSON"),
        (b"[]", "is no JSON object, but []"),
        ({"order": "hold"}, "is of format None, and this version reads format 1"),
        ({"format": 2, "order": "hold"}, "is of format 2, and this version reads format 1"),
        ({"format": 1, "order": "aprove"}, "did you mean 'approve'?"),
        ({"format": 1}, "None is not known"),
        ({"format": 1, "order": "approve"}, "does not name the event"),
        ({"format": 1, "order": "approve", "event": " "}, "does not name the event"),
        ({"format": 1, "order": "hold", "until": "tomorrow"}, "must be a Unix time"),
        (b"x" * 20000, "more than 16384 bytes"),
        (b"\xff", "no JSON"),
    ],
)
def test_orders_that_are_none(tmp_path, orders, content, words):
    write(tmp_path, content)
    (order,) = orders.take()
    assert order.order == "" and words in order.problem
    assert orders.take() == []


def test_text_of_an_order_is_fit_to_be_printed(tmp_path, orders):
    write(tmp_path, {"format": 1, "order": "hold", "by": "a\x1b[31m\nb", "reason": 7, "force": "yes"})
    (order,) = orders.take()
    assert (order.by, order.reason, order.force) == ("a [31m b", "7", False)


# --- the hold ---


def test_a_hold_is_kept_and_removed(tmp_path):
    hold = HoldFile(str(tmp_path))
    assert hold.read() is None
    said = Hold("Friday", "anna", 1767229200.0, "VM-1")
    hold.put(said, 1767225600.0)
    assert hold.read() == said and HoldFile(str(tmp_path)).read() == said
    assert json.loads((tmp_path / "hold.json").read_text())["at"] == "2026-01-01T00:00:00Z"
    hold.remove()
    hold.remove()
    assert hold.read() is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1, "until": "x"}', b'{"format": 2}', b"\xff"])
def test_a_hold_that_can_not_be_read_is_one_all_the_same(tmp_path, content):
    (tmp_path / "hold.json").write_bytes(content)
    assert HoldFile(str(tmp_path)).read().until is None


def test_one_that_changes_is_read_again(tmp_path):
    hold = HoldFile(str(tmp_path))
    hold.put(Hold("a", "", None), 0.0)
    assert hold.read().reason == "a"
    hold.put(Hold("b", "", None), 0.0)
    assert hold.read().reason == "b"
