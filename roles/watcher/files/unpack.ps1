# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Unpacks a ZIP whose SHA-256 is known. The folder gets its name when all of it is there; one that is there without its program, as a
# virus scanner leaves it, is replaced.
# For ansible.windows.win_powershell under Windows PowerShell 5.1 and PowerShell 7.
param([string]$Package, [string]$Sha256, [string]$Target, [string]$Program)

Set-StrictMode -Version 2.0
$found = (Get-FileHash -LiteralPath $Package -Algorithm SHA256).Hash
if ($found -ne $Sha256) { throw "$Package has the SHA-256 $found, not $Sha256" }
$part = "$Target.part"
$old = "$Target.old"
foreach ($left in $part, $old) {
    if (Test-Path -LiteralPath $left) { Remove-Item -LiteralPath $left -Recurse -Force }
}
Expand-Archive -LiteralPath $Package -DestinationPath $part
# Move-Item would move it into a folder that is there.
if (Test-Path -LiteralPath $Target) { [System.IO.Directory]::Move($Target, $old) }
[System.IO.Directory]::Move($part, $Target)
if (-not (Test-Path -LiteralPath (Join-Path -Path $Target -ChildPath $Program) -PathType Leaf)) {
    throw "$Package was unpacked to $Target, and $Program is not there: see whether a virus scanner has removed it"
}
if (Test-Path -LiteralPath $old) { Remove-Item -LiteralPath $old -Recurse -Force }
