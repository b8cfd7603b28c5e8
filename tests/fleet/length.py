# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What CI has no time for, and is run before a release."""

import os

import pytest

ALL = os.environ.get("AZM_FLEET_LIVES") == "all"

at_length = pytest.mark.skipif(
    not ALL, reason="minutes long: CI has no time for it; AZM_FLEET_LIVES=all runs it, before a release"
)
