# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Unpacks a ZIP whose SHA-256 is known to a folder that is not there yet. The folder gets its name when all of it is there.
# For ansible.windows.win_powershell under Windows PowerShell 5.1 and PowerShell 7.
param([string]$Package, [string]$Sha256, [string]$Target)

Set-StrictMode -Version 2.0
$found = (Get-FileHash -LiteralPath $Package -Algorithm SHA256).Hash
if ($found -ne $Sha256) { throw "$Package has the SHA-256 $found, not $Sha256" }
$part = "$Target.part"
if (Test-Path -LiteralPath $part) { Remove-Item -LiteralPath $part -Recurse -Force }
Expand-Archive -LiteralPath $Package -DestinationPath $part
Move-Item -LiteralPath $part -Destination $Target
