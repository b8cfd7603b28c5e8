# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's clock as a lookup."""

import pytest
from ansible.errors import AnsibleError

from ansible_collections.cloudops.azure_maintenance.plugins.lookup import monotonic


def test_it_is_the_steady_clock_as_a_float(monkeypatch):
    monkeypatch.setattr(monotonic, "steady", lambda: 1234.5)
    assert monotonic.LookupModule().run([], {}) == [1234.5]


def test_it_takes_no_terms():
    with pytest.raises(AnsibleError, match="takes no terms"):
        monotonic.LookupModule().run(["a term"], {})
