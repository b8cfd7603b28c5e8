# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Client
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.endpoint import check_endpoint


@pytest.mark.parametrize(
    "given, used",
    [
        ("http://169.254.169.254", "http://169.254.169.254"),
        ("http://169.254.169.254/", "http://169.254.169.254"),
        ("https://imds.test:8443/vm/web1//", "https://imds.test:8443/vm/web1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_endpoint(transport, given, used):
    assert Client(transport, given).endpoint == used


@pytest.mark.parametrize(
    "given, words",
    [
        ("", "http://"),
        ("169.254.169.254", "http://"),
        ("ftp://169.254.169.254", "http://"),
        ("imds.test:80", "http://"),
        ("http://", "no host"),
        ("http:///x", "no host"),
        ("http://:80", "no host"),
        ("http://h:0", "no port"),
        ("http://h:99999", "port"),
        ("http://h:x", "port"),
        ("http://[::1", "host or port"),
        ("http://u:p@h", "user name"),
        ("http://h?a=1", "query"),
        ("http://h/#a", "fragment"),
        ("http://h/?", "query"),
        ("http://h/ x", "blanks"),
        ("http://h\n", "blanks"),
        ("http://h\x00", "control characters"),
        ("http://h/metadata/scheduledevents", "/metadata"),
        ("http://h/Metadata/", "/metadata"),
    ],
)
def test_what_is_no_endpoint(transport, given, words):
    with pytest.raises(ScheduledEventsError) as caught:
        check_endpoint(given)
    assert caught.value.failure() == {"kind": "invalid", "status": None, "url": given}
    assert words in caught.value.message
    assert repr(given) in caught.value.message
    assert "http://169.254.169.254" in caught.value.message
