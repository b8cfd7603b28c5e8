# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Whether the PowerShell of this collection works in the PowerShell that runs this, without Ansible and Azure:
#   powershell -ExecutionPolicy Bypass -File tests\windows\on_windows.ps1
# It writes into a folder of its own below TEMP, which it removes, and starts one PowerShell. It asks for nothing on the
# network but a port of this machine at which nobody listens. On Windows run it as an administrator.
# $PowerShell: the program that is started, by default another one of these.
param([string]$Root = "$PSScriptRoot/../..", [string]$PowerShell = '')

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$scripts = "$Root/plugins/plugin_utils/_windows"
$isWindowsHere = [System.Environment]::OSVersion.Platform -eq 'Win32NT'
$folder = [System.IO.Path]::Combine([System.IO.Path]::GetTempPath(), [Guid]::NewGuid().ToString('N'))
$file = "$folder/mark.json"
$failed = 0
if (-not $PowerShell) { $PowerShell = @{ Core = 'pwsh'; Desktop = 'powershell' }[$PSVersionTable.PSEdition] }

function Test-That([string]$What, $Holds) {
    if ($Holds) { Write-Output "ok      $What" }
    else {
        $script:failed++
        Write-Output "FAILED  $What"
    }
}

function Get-Base64([string]$Text) { [System.Convert]::ToBase64String([System.Text.Encoding]::ASCII.GetBytes($Text)) }

function Get-Line($Requests) {
    ConvertTo-Json @{ id = 'asked'; requests = @($Requests) } -Depth 6 -Compress
}

$look = [scriptblock]::Create([System.IO.File]::ReadAllText("$scripts/look.ps1"))

function Get-Answer($Request) {
    $line = & $look (Get-Line ($Request + @{ Stop = $false; Expect = @{} }))
    @((ConvertFrom-Json $line).result.answers)[0]
}

function Set-File($Body, $Known, $UntilMs = 0) {
    Get-Answer @{ Do = 'edit'; Path = $file; Body = $Body; Known = $Known; Compare = $true; FromMs = 0; UntilMs = $UntilMs }
}

function Test-Failure($Answer, [string]$Name, [string]$Value) {
    $found = $Answer.PSObject.Properties[$Name]
    $null -ne $found -and $found.Value -eq $Value
}

function Send-Line($Process, [string]$Text) {
    $bytes = [System.Text.Encoding]::ASCII.GetBytes($Text + "`n")
    $Process.StandardInput.BaseStream.Write($bytes, 0, $bytes.Length)
    $Process.StandardInput.BaseStream.Flush()
}

Write-Output "PowerShell $($PSVersionTable.PSVersion)"
foreach ($one in Get-ChildItem -Path "$Root/plugins", "$Root/roles" -Filter *.ps1 -Recurse) {
    $problems = $null
    $null = [System.Management.Automation.Language.Parser]::ParseFile($one.FullName, [ref]$null, [ref]$problems)
    Test-That "$($one.Name) can be read" ($problems.Count -eq 0)
}

try {
    $boot = Get-Answer @{ Do = 'boot' }
    Test-That 'it knows when the machine was started' ($boot.clock_ms -gt 0 -and $boot.uptime_ms -gt 0)
    Test-That 'and has an id for that, each time the same' ($boot.id -and $boot.id -eq (Get-Answer @{ Do = 'boot' }).id)

    Test-That 'a folder that is not there is nobody''s' ($null -eq (Get-Answer @{ Do = 'trust'; Path = $folder }).sddl)
    $one, $two = (Get-Base64 '{"n": 1}'), (Get-Base64 '{"n": 2}')
    Test-That 'a file is made' ((Set-File $one $null).body -eq $one)
    $trust = Get-Answer @{ Do = 'trust'; Path = $folder }
    Test-That 'its folder is the administrators'' alone' ($trust.sddl -match '^O:BA.*D:PAI' -and -not $trust.link)
    Test-That 'it is replaced where it is what was read' ((Set-File $two $one).body -eq $two)
    Test-That 'and nowhere else' (Test-Failure (Set-File $one $one) 'failure' 'Changed')
    Test-That 'nor too late' (Test-Failure (Set-File $one $two 1) 'part' 'late')
    Test-That 'it is read' ((Get-Answer @{ Do = 'read'; Path = $file }).body -eq $two)
    Test-That 'and found in its folder' ((Get-Answer @{ Do = 'folder'; Path = $folder }).files.'mark.json' -eq $two)
    $other = [System.IO.File]::Open($file, 'Open', 'Read', 'None')
    Test-That 'what somebody else has open is busy' (Test-Failure (Set-File $one $two) 'failure' 'Busy')
    $other.Close()
    $null = Set-File $null $two
    Test-That 'it is removed, and nothing is left of it' (@([System.IO.Directory]::GetFiles($folder)).Count -eq 1)

    $http = @{ Do = 'http'; Method = 'GET'; Url = 'http://127.0.0.1:9/'; Headers = @{ Metadata = 'true' }; Body = '' }
    $http += @{ TimeoutMs = 5000; MaxBytes = 1000; Known = ''; IntervalMs = 0; LimitMs = 0; FromMs = 0; UntilMs = 0 }
    Test-That 'a service that is not there is told' ($null -ne (Get-Answer $http).PSObject.Properties['failure'])

    if ($isWindowsHere) {
        $state = @{ Do = 'script'; Text = [System.IO.File]::ReadAllText("$scripts/service.ps1") }
        $found = @((Get-Answer ($state + @{ Parameters = @{ Name = 'winmgmt' } })).result.services)
        Test-That 'a service''s state is found' ($found.Count -eq 1 -and $found[0].state -eq 'started')
        Test-That 'and how it is started' ($found[0].start_mode -eq 'auto')
        $none = @((Get-Answer ($state + @{ Parameters = @{ Name = 'no-such[service' } })).result.services)
        Test-That 'one that is not there is not found' ($none.Count -eq 0)
        $leases = @{ Do = 'script'; Text = [System.IO.File]::ReadAllText("$scripts/interfaces.ps1"); Parameters = @{} }
        $found = (Get-Answer $leases).result
        Test-That 'the network interfaces are read' ($null -ne $found.options -and @($found.problems).Count -eq 0)
    }

    # One that stays, begun and asked as the controller does it: scripts.py
    $begin = '$r = New-Object System.IO.StreamReader([Console]::OpenStandardInput(), [System.Text.Encoding]::ASCII);'
    $begin += '$t = [System.Text.Encoding]::ASCII.GetString([System.Convert]::FromBase64String($r.ReadLine()));'
    $begin += '& ([scriptblock]::Create($t)) $r 90000 ''its-name'''
    $start = New-Object System.Diagnostics.ProcessStartInfo
    $start.FileName = $PowerShell
    $encoded = [System.Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($begin))
    $start.Arguments = "-NoProfile -NonInteractive -InputFormat None -EncodedCommand $encoded"
    $start.UseShellExecute = $false
    $start.RedirectStandardInput = $start.RedirectStandardOutput = $true
    $stays = [System.Diagnostics.Process]::Start($start)
    foreach ($name in 'line.ps1', 'look.ps1') {
        Send-Line $stays (Get-Base64 ([System.IO.File]::ReadAllText("$scripts/$name")))
    }
    Test-That 'one that stays says its name' ($stays.StandardOutput.ReadLine() -eq '{"line":"its-name"}')
    foreach ($time in 'once', 'again') {
        Send-Line $stays (Get-Line @{ Do = 'boot'; Stop = $false; Expect = @{} })
        $said = ConvertFrom-Json $stays.StandardOutput.ReadLine()
        Test-That "it answers $time" (@($said.result.answers)[0].id -eq $boot.id)
    }
    $stays.StandardInput.Close()
    Test-That 'and ends with its input' ($stays.WaitForExit(30000))
}
finally { if ([System.IO.Directory]::Exists($folder)) { [System.IO.Directory]::Delete($folder, $true) } }
exit $failed
