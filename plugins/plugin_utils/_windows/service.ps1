# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The state and the start mode of a service, found and named as ansible.windows.win_service_info does. Changes nothing.
# For Windows PowerShell 5.1 and PowerShell 7.
param ([string] $Name)

# Get-Service -Name takes wildcards, which a service's name may have in it.
$found = @(Get-Service | Where-Object { $_.Name -eq $Name })
if (-not $found) { $found = @(Get-Service -Name $Name -ErrorAction SilentlyContinue) }
$states = @{
    Running = 'started'; Stopped = 'stopped'; Paused = 'paused'; StartPending = 'start_pending'
    StopPending = 'stop_pending'; PausePending = 'pause_pending'; ContinuePending = 'continue_pending'
}
$modes = @{ Automatic = 'auto'; Manual = 'manual'; Disabled = 'disabled'; Boot = 'boot'; System = 'system' }
function Get-StartMode($Service) {
    $mode = $modes[[string]$Service.StartType]
    if ($mode -ne 'auto') { return $mode }
    # Which no version of Windows PowerShell shows.
    $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$($Service.Name)"
    $kept = Get-ItemProperty -LiteralPath $key -Name DelayedAutostart -ErrorAction SilentlyContinue
    if ($kept -and $kept.DelayedAutostart) { return 'delayed' }
    return $mode
}
$Ansible.Changed = $false
$Ansible.Result = @{
    services = @($found | ForEach-Object {
            @{ name = $_.Name; state = $states[[string]$_.Status]; start_mode = Get-StartMode $_ }
        })
}
