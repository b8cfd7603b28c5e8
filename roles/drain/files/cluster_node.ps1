# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Suspends a node of a failover cluster whose roles then move away, or resumes it, and looks until that is done. Says what it did
# and last saw; whether that will do is decided by the role, which also says whether the cluster is to be asked (-Begins): it is
# asked once. For Windows PowerShell 5.1 and PowerShell 7.
# What asks or changes the cluster is in functions of its own, which a test can replace by defining them before.
[CmdletBinding()]
param (
    [Parameter(Mandatory = $true)] [ValidateSet('suspend', 'resume')] [string] $Action,
    [string] $Node = '',
    [string] $Cluster = '',
    [bool] $ForceDrain = $false,
    [ValidateSet('immediate', 'policy', 'none')] [string] $FailBack = 'immediate',
    [bool] $Begins = $true,
    [int] $Interval = 1,
    [int] $Limit = 60
)

Set-StrictMode -Version 2.0

if (-not (Test-Path -Path 'function:Get-Node')) {
    function Get-Node {
        param ([hashtable] $Target)
        Get-ClusterNode @Target -ErrorAction Stop
    }
}

if (-not (Test-Path -Path 'function:Suspend-Node')) {
    function Suspend-Node {
        param ([hashtable] $Target, [bool] $Force)
        $null = Suspend-ClusterNode @Target -Drain -ForceDrain:$Force -ErrorAction Stop
    }
}

if (-not (Test-Path -Path 'function:Resume-Node')) {
    function Resume-Node {
        param ([hashtable] $Target, [string] $FailBack)
        $null = Resume-ClusterNode @Target -Failback $FailBack -ErrorAction Stop
    }
}

if (-not (Test-Path -Path 'function:Wait-Second')) {
    function Wait-Second {
        param ([int] $Seconds)
        Start-Sleep -Seconds $Seconds
    }
}

$target = @{ Name = $(if ($Node) { $Node } else { $env:COMPUTERNAME }) }
if ($Cluster) { $target['Cluster'] = $Cluster }
$kind = @{ immediate = 'Immediate'; policy = 'Policy'; none = 'NoFailback' }[$FailBack]

$clock = [System.Diagnostics.Stopwatch]::StartNew()
$changed = $false
$problem = ''
$state = ''
$drain = ''
while ($true) {
    $done = $false
    try {
        $seen = Get-Node -Target $target
        $state = "$($seen.State)"
        $drain = "$($seen.DrainStatus)"
        $problem = ''
    }
    catch {
        # The cluster service of a machine that has just started takes its time
        $problem = $_.Exception.Message
    }
    if (-not $problem) {
        if ($Action -eq 'suspend') {
            $done = $state -eq 'Paused' -and $drain -eq 'Completed'
            # Once: a drain that fails after this is reported, not tried again
            if (-not $done -and $Begins -and -not $changed -and $drain -ne 'InProgress') {
                Suspend-Node -Target $target -Force $ForceDrain
                $changed = $true
            }
            elseif ($drain -eq 'Failed') { break }
        }
        else {
            $done = $state -eq 'Up'
            if ($state -eq 'Paused' -and $Begins -and -not $changed) {
                Resume-Node -Target $target -FailBack $kind
                $changed = $true
            }
        }
    }
    if ($done -or $clock.Elapsed.TotalSeconds + $Interval -ge $Limit) { break }
    Wait-Second -Seconds $Interval
}

$Ansible.Changed = $changed
$Ansible.Result = @{ node = $target['Name']; state = $state; drain = $drain; done = $done; asked = $changed; problem = $problem }
