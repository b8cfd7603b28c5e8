# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What Windows' DHCP client keeps of the options that each network interface was given, in base64; and what could not be
# read, a sentence each. Changes nothing. For Windows PowerShell 5.1 and PowerShell 7.
$options = @()
$problems = @()
$path = 'HKLM:\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters\Interfaces'
foreach ($interface in @(Get-ChildItem -LiteralPath $path -ErrorAction SilentlyContinue -ErrorVariable failures)) {
    $value = $interface.GetValue('DhcpInterfaceOptions')
    if ($value -is [byte[]]) { $options += [System.Convert]::ToBase64String($value) }
    elseif ($null -ne $value) { $problems += "$($interface.PSChildName): DhcpInterfaceOptions is not binary" }
}
foreach ($failure in $failures) {       # one that can't be opened; the others were found all the same
    $problem = "$($failure.TargetObject): $($failure.Exception.Message)"
    if ($failure.Exception -is [System.Security.SecurityException]) { $problem += ' Log in as a local administrator.' }
    $problems += $problem
}
$Ansible.Changed = $false
$Ansible.Result = @{ options = $options; problems = $problems }
