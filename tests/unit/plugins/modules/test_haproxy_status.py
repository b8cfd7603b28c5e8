# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What HAProxy answers in, the statuses of one server out."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.modules import haproxy_status

TABLE = """# pxname,svname,qcur,qmax,scur,status,weight,
www,web1,0,0,1,UP,1,
www,web2,0,0,0,MAINT,1,
api,web1,0,0,0,no check,1,

"""


@pytest.mark.parametrize(
    "server, backend, servers",
    [
        ("web1", None, [("www", "UP"), ("api", "no check")]),
        ("web1", "api", [("api", "no check")]),
        ("web2", None, [("www", "MAINT")]),
        ("web2", "api", []),
        ("web9", None, []),
        (None, None, [("www", "UP"), ("www", "MAINT"), ("api", "no check")]),
    ],
)
def test_the_rows_of_a_server(server, backend, servers):
    found = haproxy_status.found(TABLE, server, backend)
    assert [(one["backend"], one["status"]) for one in found] == servers
    assert {one["server"] for one in found} <= ({server} if server else {"web1", "web2"})


def test_a_table_that_is_none():
    assert haproxy_status.found("Permission denied\n", "web1", None) == []
