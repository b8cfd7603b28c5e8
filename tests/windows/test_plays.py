# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Linux machine, and a "Windows" one with a real PowerShell, under one event."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import (
    MAINTAIN,
    MIXED,
    MixedMaintain,
    MixedPlay,
    Played,
)


@pytest.fixture(scope="module")
def played(windows, tmp_path_factory):
    return Played(tmp_path_factory.mktemp("play"), MIXED, windows.line, {}, **windows.environment)


@pytest.fixture(scope="module")
def maintained(windows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("maintain")
    return Played(
        folder,
        "cloudops.azure_maintenance.maintain",
        windows.line,
        # Both hosts are this machine
        dict(MAINTAIN, azure_maintenance_folder=f"{folder}/marks/{{{{ inventory_hostname }}}}"),
        **windows.environment,
    )


class TestMixedPlay(MixedPlay):
    pass


class TestMixedMaintain(MixedMaintain):
    pass
