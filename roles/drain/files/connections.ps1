# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Waits until a local port has no established connection. Changes nothing. For Windows PowerShell 5.1 and PowerShell 7.
# A test can replace Get-NetTCPConnection and Wait-Second by functions that it defines before.
[CmdletBinding()]
param (
    [Parameter(Mandatory = $true)] [int] $Port,
    [string] $Exclude = '',
    [int] $Interval = 1,
    [int] $Limit = 60
)

Set-StrictMode -Version 2.0

function Get-EstablishedConnection {
    param ([int] $LocalPort)
    $quietly = @{ ErrorAction = 'SilentlyContinue'; ErrorVariable = 'problems' }
    $found = @(Get-NetTCPConnection -LocalPort $LocalPort -State Established @quietly)
    foreach ($problem in $problems) {
        # Without a match the cmdlet writes an error of this category, which is the answer that is waited for.
        # After any other one (access denied, WMI broken) nobody knows how many there are.
        if ($problem.CategoryInfo.Category -ne 'ObjectNotFound') {
            throw "The connections of port $LocalPort could not be listed: $($problem.Exception.Message)"
        }
    }
    return $found
}

function ConvertTo-PlainAddress {
    # IPv4 that comes over a socket of IPv6 is IPv4; and which interface an address belongs to says nothing of whose it is.
    param ([System.Net.IPAddress] $Address)
    if ($Address.IsIPv4MappedToIPv6) { return $Address.MapToIPv4().ToString() }
    ($Address.ToString() -split '%')[0]
}

function Get-HostAddress {
    param ([string] $Name)
    $address = $null
    if ([System.Net.IPAddress]::TryParse($Name, [ref] $address)) { return ConvertTo-PlainAddress -Address $address }
    try { $found = [System.Net.Dns]::GetHostAddresses($Name) }
    catch { throw "host $Name of exclude is not known: $($_.Exception.Message)" }
    foreach ($address in $found) { ConvertTo-PlainAddress -Address $address }
}

if (-not (Test-Path -Path 'function:Wait-Second')) {
    function Wait-Second {
        param ([int] $Seconds)
        Start-Sleep -Seconds $Seconds
    }
}

$clock = [System.Diagnostics.Stopwatch]::StartNew()
$excluded = @($Exclude -split ',' | Where-Object { $_ } | ForEach-Object { Get-HostAddress -Name $_ })
$looks = 0
while ($true) {
    $looks++
    $remote = @(Get-EstablishedConnection -LocalPort $Port | ForEach-Object { ConvertTo-PlainAddress -Address $_.RemoteAddress })
    $left = @($remote | Where-Object { $excluded -notcontains $_ }).Count
    if ($left -eq 0 -or $clock.Elapsed.TotalSeconds + $Interval -ge $Limit) { break }
    Wait-Second -Seconds $Interval
}

$Ansible.Changed = $false
$Ansible.Result = @{ left = $left; looks = $looks; elapsed_ms = [int]$clock.ElapsedMilliseconds }
