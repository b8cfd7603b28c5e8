# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where reports go: what settings may say, and how a URL is called without what nobody should read."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.linux_host import LINUX
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
    destinations_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.refused import Refused

SECRET = "https://user:pa55@hooks.example.com:8443/services/T0KEN?sig=T0KEN"


def test_what_settings_say():
    found = destinations_of(
        [
            {"url": "https://eda.example.com/endpoint", "secret_file": "/etc/azure-maintenance/secrets/eda"},
            {"url": SECRET, "proxy": "http://proxy:3128", "ca_file": "/etc/ca.pem", "secret_file": None},
        ],
        LINUX,
    )
    assert found == (
        Destination("https://eda.example.com/endpoint", "/etc/azure-maintenance/secrets/eda"),
        Destination(SECRET, "", "http://proxy:3128", "/etc/ca.pem"),
    )
    assert destinations_of([]) == ()


def test_a_url_is_shown_without_its_secrets():
    one = Destination(SECRET)
    assert one.words == "https://hooks.example.com:8443/..."
    assert Destination("https://eda.example.com").words == "https://eda.example.com"
    assert len(one.key) == 16 and one.key != Destination("https://eda.example.com").key
    assert "T0KEN" not in one.key


@pytest.mark.parametrize(
    "reports, words",
    [
        ({}, "must be a list"),
        (["https://x"], r"^\[1\] must be a dictionary with url$"),
        ([{"url": "https://x", "secretfile": "/x"}], r"\[1\].secretfile is no key .* \(did you mean 'secret_file'\?\)"),
        ([{"url": 7}], r"\[1\].url must be a text"),
        ([{"url": "https://x"}, {"url": "https://x"}], r"\[2\].url stands further up already"),
        ([{"url": ""}], r"\[1\].url can't be used: it is missing"),
        ([{}], r"\[1\].url can't be used: it is missing"),
        ([{"url": "ftp://x"}], "does not begin with http:// or https://"),
        ([{"url": "https://"}], "it names no host"),
        ([{"url": "https://x:0/"}], "0 is no port"),
        ([{"url": "https://x:y/"}], "host or port can't be read"),
        ([{"url": "https://x/a b"}], "blanks"),
        ([{"url": "https://x/\xe4"}], "beyond ASCII"),
        ([{"url": "https://x/#a"}], "fragment"),
        ([{"url": "https://x", "proxy": "proxy:3128"}], r"\[1\].proxy can't be used"),
        ([{"url": "https://x", "proxy": "https://proxy:3128"}], "proxy must begin with http://"),
        ([{"url": "https://x", "secret_file": "eda"}], "secret_file must be the whole path of a file"),
        ([{"url": "https://x", "ca_file": "eda"}], "ca_file must be the whole path"),
    ],
)
def test_what_is_wrong_is_named(reports, words):
    with pytest.raises(Refused, match=words):
        destinations_of(reports)


@pytest.mark.parametrize("url", [SECRET + " ", SECRET + "#x", SECRET.replace("https", "ftp")])
def test_a_url_that_is_refused_is_not_shown(url):
    with pytest.raises(Refused) as caught:
        destinations_of([{"url": url}])
    assert "T0KEN" not in str(caught.value) and "pa55" not in str(caught.value)
