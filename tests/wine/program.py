# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps the jobs of these tests, and does their work: as the watcher's program does it, but hooks may be Python, too."""

import os
import sys

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import jobs, platform

platform.INTERPRETERS[".py"] = [sys.executable]
if "AT_LIMIT" in os.environ:
    from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import LimitClock

    jobs.Clock = lambda: LimitClock(os.environ["AT_LIMIT"])
sys.exit(jobs.main(sys.argv[1:]))
