# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
requirements:
  - "Linux machines: Python 3.6 or newer with requests (the package python3-requests, part of Azure's images)"
  - "Windows machines: PowerShell 5.1 or newer; on the controller, the collection ansible.windows"
"""
