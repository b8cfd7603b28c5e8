# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Waits until a local port has no established connection. Changes nothing. For Windows PowerShell 5.1 and PowerShell 7.
# What asks Windows is in functions of its own, which a test can replace by defining them before.
[CmdletBinding()]
param (
    [Parameter(Mandatory = $true)] [int] $Port,
    [string] $Exclude = '',
    [int] $Interval = 1,
    [int] $Limit = 60
)

Set-StrictMode -Version 2.0

if (-not (Test-Path -Path 'function:Get-EstablishedConnection')) {
    function Get-EstablishedConnection {
        param ([int] $LocalPort)
        # Without a match the cmdlet writes an error, which is the answer that is waited for
        Get-NetTCPConnection -LocalPort $LocalPort -State Established -ErrorAction SilentlyContinue
    }
}

if (-not (Test-Path -Path 'function:Wait-Second')) {
    function Wait-Second {
        param ([int] $Seconds)
        Start-Sleep -Seconds $Seconds
    }
}

$clock = [System.Diagnostics.Stopwatch]::StartNew()
$excluded = @($Exclude -split ',' | Where-Object { $_ })
$looks = 0
while ($true) {
    $looks++
    $left = @(Get-EstablishedConnection -LocalPort $Port | Where-Object { $excluded -notcontains $_.RemoteAddress }).Count
    if ($left -eq 0 -or $clock.Elapsed.TotalSeconds + $Interval -ge $Limit) { break }
    Wait-Second -Seconds $Interval
}

$Ansible.Changed = $false
$Ansible.Result = @{ left = $left; looks = $looks; elapsed_ms = [int]$clock.ElapsedMilliseconds }
