# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs look.ps1 again and again, without another start of PowerShell: a line of JSON on standard input is what to ask, a
# line of JSON on standard output what came of it. An empty line says that somebody is still there. It ends with its
# input, and by itself when nobody has said a word for so long that whoever asked must be gone.
# $In: a StreamReader of standard input; its first line is look.ps1, in base64. $LeaseMs: that long. $Name: of this
# line, which its first word has, so that nothing else is taken for it.
# For Windows PowerShell 5.1 and PowerShell 7. ASCII both ways.
param($In, [int]$LeaseMs, [string]$Name)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$out = [Console]::OpenStandardOutput()
$bytes = [System.Convert]::FromBase64String($In.ReadLine())
$look = [scriptblock]::Create([System.Text.Encoding]::ASCII.GetString($bytes))
$line = @{ Next = $In.ReadLineAsync(); Heard = [System.Diagnostics.Stopwatch]::StartNew() }

function Write-Line($Value) {
    $json = ConvertTo-Json $Value -Compress -Depth 6
    $json = [regex]::Replace($json, '[^\x20-\x7e]', { param($found) '\u{0:x4}' -f [int][char]$found.Value })
    $bytes = [System.Text.Encoding]::ASCII.GetBytes($json + "`n")
    $out.Write($bytes, 0, $bytes.Length)
    $out.Flush()
}

function Wait-Line([long]$Milliseconds) {
    # Wait so long for the next line; whether somebody wants something, or nobody is there any more.
    $pause = [System.Diagnostics.Stopwatch]::StartNew()
    while ($true) {
        $left = [Math]::Min($Milliseconds - $pause.ElapsedMilliseconds, $LeaseMs - $line.Heard.ElapsedMilliseconds)
        $null = $line.Next.Wait([int][Math]::Max(0, $left))
        if (-not $line.Next.IsCompleted) {
            if ($line.Heard.ElapsedMilliseconds -ge $LeaseMs) { return $true }
            if ($pause.ElapsedMilliseconds -ge $Milliseconds) { return $false }
            continue
        }
        $line.Heard.Restart()
        if ($line.Next.Result -cne '') { return $true }
        $line.Next = $In.ReadLineAsync()
    }
}

function ConvertTo-Table($Value) {
    # ConvertFrom-Json knows -AsHashtable only from 6 on, and there it makes dates of texts that look like them
    if ($Value -is [DateTime]) { return $Value.ToString('s') }
    if ($Value -is [System.Management.Automation.PSCustomObject]) {
        $table = @{}
        foreach ($property in $Value.PSObject.Properties) { $table[$property.Name] = ConvertTo-Table $property.Value }
        return $table
    }
    return $Value
}

Write-Line @{ line = $Name; language = [string]$ExecutionContext.SessionState.LanguageMode; pid = $PID }
while ($true) {
    if (-not (Wait-Line $LeaseMs)) { continue }
    if (-not $line.Next.IsCompleted -or $null -eq $line.Next.Result) { break }
    $text = $line.Next.Result
    $line.Next = $In.ReadLineAsync()
    $Ansible = @{ Changed = $false; Result = $null }        # what look.ps1 finds under win_powershell
    $id = $null
    try {
        $asked = ConvertFrom-Json $text
        $id = $asked.id
        & $look -Requests @($asked.requests | ForEach-Object { ConvertTo-Table $_ })
        Write-Line @{ id = $id; result = $Ansible.Result }
    }
    catch { Write-Line @{ id = $id; error = [string]$_.Exception.Message } }
}
[System.Environment]::Exit(0)       # a read that still waits for input would keep the process
