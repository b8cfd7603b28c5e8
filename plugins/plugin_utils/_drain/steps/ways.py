# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the types of steps are done by Ansible's modules, by the type's name. Pure.

Those of the machine program's own are in ``module_utils/_machine/step_runners``; load balancers have orders instead (``orders``).

Private to this collection.
"""

from __future__ import annotations

from . import command, connections, failover_cluster, http, iis, service
from .way import Way

WAYS: dict[str, Way] = {
    "service": service.WAY,
    "command": command.WAY,
    "http": http.WAY,
    "connections": connections.WAY,
    "iis": iis.WAY,
    "failover_cluster": failover_cluster.WAY,
}
