# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The state of a service, found and named as ansible.windows.win_service_info does. Changes nothing.
# For Windows PowerShell 5.1 and PowerShell 7.
param ([string] $Name)

# Get-Service -Name takes wildcards, which a service's name may have in it.
$found = @(Get-Service | Where-Object { $_.Name -eq $Name })
if (-not $found) { $found = @(Get-Service -Name $Name -ErrorAction SilentlyContinue) }
$states = @{
    Running = 'started'; Stopped = 'stopped'; Paused = 'paused'; StartPending = 'start_pending'
    StopPending = 'stop_pending'; PausePending = 'pause_pending'; ContinuePending = 'continue_pending'
}
$Ansible.Changed = $false
$Ansible.Result = @{ services = @($found | ForEach-Object { @{ name = $_.Name; state = $states[[string]$_.Status] } }) }
