# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs one of the roles' scripts with stand-ins for what asks Windows. Prints JSON: changed, result, calls.
# Answers: what Get-Node / Get-NetTCPConnection / Get-RunningRequest / Get-CimInstance give, call by call; the last one stays.
param ([string] $Script, [string] $Parameters, [string] $Answers)

$calls = New-Object -TypeName System.Collections.ArrayList
$given = New-Object -TypeName System.Collections.Queue
foreach ($answer in (ConvertFrom-Json -InputObject $Answers)) { $given.Enqueue($answer) }
$Ansible = [pscustomobject]@{ Changed = $true; Result = $null }

function Get-Answer {
    $answer = if ($given.Count -gt 1) { $given.Dequeue() } else { $given.Peek() }
    if ($answer.PSObject.Properties['throw']) { throw $answer.throw }
    $answer
}
function Get-Node {
    param ([hashtable] $Target)
    $null = $calls.Add("look $($Target['Name']) $($Target['Cluster'])")
    Get-Answer
}
function Suspend-Node {
    param ([hashtable] $Target, [bool] $Force)
    $null = $calls.Add("suspend $($Target['Name']) $Force")
}
function Resume-Node {
    param ([hashtable] $Target, [string] $FailBack)
    $null = $calls.Add("resume $($Target['Name']) $FailBack")
}
function Get-NetTCPConnection {
    [CmdletBinding()]
    param ([int] $LocalPort, [string] $State)
    $null = $calls.Add("look $LocalPort")
    $answer = Get-Answer
    if ($answer.PSObject.Properties['rows']) { $answer.rows }
    if ($answer.PSObject.Properties['error']) { Write-Error -Message $answer.message -Category $answer.error }
}
function Get-RunningRequest {
    param ([string] $Pool)
    $null = $calls.Add("look $Pool")
    (Get-Answer).rows
}
function Get-CimInstance {
    param ([string] $ClassName)
    $null = $calls.Add("look $ClassName")
    (Get-Answer).rows
}
function Wait-Second {
    param ([int] $Seconds)
    $null = $calls.Add("wait $Seconds")
}

$arguments = @{}
foreach ($property in (ConvertFrom-Json -InputObject $Parameters).PSObject.Properties) { $arguments[$property.Name] = $property.Value }
$problem = ''
try { . $Script @arguments } catch { $problem = $_.Exception.Message }
@{ changed = $Ansible.Changed; result = $Ansible.Result; calls = @($calls); problem = $problem } | ConvertTo-Json -Depth 4
