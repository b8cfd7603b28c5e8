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

function Write-Line([string]$Text) {
    $bytes = [System.Text.Encoding]::ASCII.GetBytes($Text + "`n")
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

Write-Line ('{"line":"' + $Name + '"}')
while ($true) {
    if (-not (Wait-Line $LeaseMs)) { continue }
    if (-not $line.Next.IsCompleted -or $null -eq $line.Next.Result) { break }
    $text = $line.Next.Result
    $line.Next = $In.ReadLineAsync()
    Write-Line (& $look $text)
}
[System.Environment]::Exit(0)       # a read that still waits for input would keep the process
