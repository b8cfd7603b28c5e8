# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a module in this process, as Ansible would, on a scripted Transport."""

import contextlib
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils import _module

basic = pytest.importorskip("ansible.module_utils.basic")
warnings = pytest.importorskip("ansible.module_utils.common.warnings")

try:
    from ansible.module_utils import _internal
except ImportError:  # before ansible-core 2.19
    _internal = None

try:
    from ansible.module_utils.testing import patch_module_args
except ImportError:  # before ansible-core 2.17

    @contextlib.contextmanager
    def patch_module_args(arguments):
        basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode("utf-8")
        try:
            yield
        finally:
            basic._ANSIBLE_ARGS = None


def play(module, transport, monkeypatch, capsys, check_mode=False, without_requests=False, **options):
    """The module's exit status and what it printed."""
    warnings._global_warnings.clear()  # a module's process has none yet
    monkeypatch.setattr(_module, "Clock", lambda: transport.clock)
    transports = {"HttpTransport": without_requests, "RequestsTransport": not without_requests}
    for name, is_used in transports.items():
        monkeypatch.setattr(_module, name, (lambda clock: transport) if is_used else None)
    monkeypatch.setattr(_module, "REQUESTS_IMPORT_ERROR", "no requests" if without_requests else None)
    if _internal is not None:  # tests of actions made this process a controller, which shows warnings and returns none
        monkeypatch.setattr(_internal, "is_controller", False)
    with patch_module_args(dict(options, _ansible_check_mode=check_mode)), pytest.raises(SystemExit) as caught:
        module.main()
    transport.finish()
    return caught.value.code, json.loads(capsys.readouterr().out)
