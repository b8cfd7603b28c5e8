# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine with the watcher as its service, for several files of tests."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.wine.installed import Machine, build, next_name


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"))


@pytest.fixture
def machine(tmp_path, program):
    found = Machine(tmp_path, program, next_name())
    yield found
    found.end()
