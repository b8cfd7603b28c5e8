# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  endpoint:
    description:
      - Base URL of the metadata service. What comes from C(/metadata) on is added to it.
      - It is never reached through a proxy, and redirects are not followed.
      - Without this option the variable C(azure_maintenance_endpoint) of the machine counts, where the inventory sets it. With
        C(delegate_to) that is the variable of the machine that the task is delegated to. An empty one counts as none.
    type: str
    default: http://169.254.169.254
  discover:
    description:
      - Whether to look for the service elsewhere when O(endpoint) can't be reached. Machines outside a virtual network
        learn its address from their DHCP server, in option 245.
    type: bool
    default: false
  api_version:
    description:
      - The api-version to ask for. When the service refuses it, the next older one is tried.
      - Older ones say less about an event. V(2024-07-09) is a preview, used only when it is named here.
      - Without this option the variable C(azure_maintenance_api_version) counts, as with O(endpoint).
    type: str
    choices:
      - '2024-07-09'
      - '2020-07-01'
      - '2019-08-01'
      - '2019-04-01'
      - '2019-01-01'
      - '2017-11-01'
      - '2017-08-01'
      - '2017-03-01'
    default: '2020-07-01'
  timeout:
    description:
      - Seconds that one request may take, from the connection to the last byte of the answer; V(0.1) or more.
    type: float
    default: 10
  first_timeout:
    description:
      - The time for one request, as O(timeout), before the first answer. The first answer after a day without requests may take Azure two
        minutes. A connection is given up after 10 seconds all the same.
    type: float
    default: 125
  resource_name:
    description:
      - The machine's own name, as events list it. This is the name of the virtual machine in Azure, not its hostname; in
        a scale set it looks like V(web_4).
      - The metadata service is asked for it in any case (C(/metadata/instance/compute/name)). When it gives another name,
        the task fails with RV(failure.kind=invalid), and nothing is approved.
      - Where it gives none within three seconds, this one is used, with a warning. An approval that depends on the machine's
        own name waits longer for it, and is not sent without it.
      - A service at another address than Azure's that has no C(/metadata/instance) (HTTP 404), as Microsoft's mock server, is no
        reason for that. This name is then used, with a warning.
      - Without this option the variable C(azure_maintenance_resource_name) counts, as with O(endpoint).
    type: str
requirements:
  - "Linux machines: Python 3.6 or newer"
  - "Windows machines: PowerShell 5.1 or newer; on the controller, the collection ansible.windows"
"""
