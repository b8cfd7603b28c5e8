# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Waits until IIS runs no request of some sites and application pools. Changes nothing. For Windows PowerShell 5.1: in PowerShell 7 the
# objects of IIS's module come without their methods. Names come one on a line, as they may hold commas.
# What asks IIS is in functions of its own, which a test can replace by defining them before.
[CmdletBinding()]
param (
    [string] $Pools = '',
    [string] $SitePools = '',
    [string] $SiteIds = '',
    [int] $Interval = 1,
    [int] $Limit = 60
)

Set-StrictMode -Version 2.0

if (-not (Test-Path -Path 'function:Get-RunningRequest')) {
    function Get-RunningRequest {
        param ([string] $Pool)
        if ($PSVersionTable.PSVersion.Major -ge 6) {
            throw 'running requests of IIS can be listed by Windows PowerShell only: let Ansible use powershell.exe, not pwsh.exe'
        }
        # One object with a SiteId for every request that a worker process of the pool is at
        foreach ($found in @(Get-IISAppPool -Name $Pool)) {
            foreach ($worker in @($found.WorkerProcesses)) { $worker.GetRequests(0) }
        }
    }
}

if (-not (Test-Path -Path 'function:Wait-Second')) {
    function Wait-Second {
        param ([int] $Seconds)
        Start-Sleep -Seconds $Seconds
    }
}

$clock = [System.Diagnostics.Stopwatch]::StartNew()
$whole = @($Pools -split "`n" | Where-Object { $_ })
$shared = @($SitePools -split "`n" | Where-Object { $_ -and $whole -notcontains $_ } | Select-Object -Unique)
$sites = @($SiteIds -split "`n" | Where-Object { $_ })
while ($true) {
    $left = 0
    foreach ($pool in $whole) { $left += @(Get-RunningRequest -Pool $pool).Count }
    foreach ($pool in $shared) {
        $left += @(Get-RunningRequest -Pool $pool | Where-Object { $sites -contains "$($_.SiteId)" }).Count
    }
    if ($left -eq 0 -or $clock.Elapsed.TotalSeconds + $Interval -ge $Limit) { break }
    Wait-Second -Seconds $Interval
}

$Ansible.Changed = $false
$Ansible.Result = @{ left = $left }
