# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Carries out a list of requests, and hands back an answer to each, in the same order: an exchange with the metadata
# service, or the same one once per interval until the answer is not Known any more or the limit has passed; a file
# read, replaced or removed; a folder's files, or whose it is; when the machine was started; a script. It understands
# nothing of them: that is done on the controller, which sends every key that is read here. After a request with Stop
# that failed, or that got a status from 300 on, the others are not carried out; an answer that is not what Expect
# says of it has failed. So what was decided by earlier answers is done only while they hold. Nor is a request that
# changes something (an edit, a POST) carried out before FromMs or after UntilMs, by the time since the machine was
# started, where UntilMs is not 0: not in another boot than the controller has seen, and not when nobody waits for it
# any more.
# $Text: a line of JSON, {"id", "requests"}; what it puts out is one as well, {"id", "result"} or {"id", "error"}.
# For Windows PowerShell 5.1 and PowerShell 7. ASCII both ways. Times in ms, contents in base64.
param([string]$Text)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

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

function ConvertTo-Line($Value) {
    $json = ConvertTo-Json $Value -Compress -Depth 6
    return [regex]::Replace($json, '[^\x20-\x7e]', { param($found) '\u{0:x4}' -f [int][char]$found.Value })
}

function Test-Busy($Cause) {
    # A sharing or lock violation, or a file that can't be replaced because something has it open.
    $busy = 32, 33, 1175, 1176, 1177
    if ([System.Environment]::OSVersion.Platform -ne 'Win32NT') { $busy = , 11 }        # where this script is tested
    return $Cause -is [System.IO.IOException] -and $busy -contains ($Cause.HResult -band 0xFFFF)
}

function Get-Failure($Exception, $Part) {
    $failure = 'Unknown'
    foreach ($property in 'Status', 'HttpRequestError', 'SocketErrorCode') {
        # of WebException, HttpRequestException, SocketException: the later ones tell more
        for ($cause = $Exception; $null -ne $cause; $cause = $cause.InnerException) {
            $code = $cause.PSObject.Properties[$property]
            if ($null -ne $code) { $failure = [string]$code.Value }
            $innermost = $cause
        }
    }
    if (Test-Busy $innermost) { return @{ failure = 'Busy'; message = $innermost.Message; part = $Part } }
    return @{ failure = $failure; message = $innermost.Message; part = $Part }
}

function Get-Clock {
    # The time since the machine was started, its sleep included: nobody sets it.
    $frequency = [System.Diagnostics.Stopwatch]::Frequency / 1000
    return [long]([System.Diagnostics.Stopwatch]::GetTimestamp() / $frequency)
}

function Test-Late($Request) {
    if ($Request['UntilMs'] -eq 0) { return $false }
    $now = Get-Clock
    return $now -lt $Request['FromMs'] -or $now -gt $Request['UntilMs']
}

function Get-Late { return @{ failure = 'Skipped'; message = 'it came too late'; part = 'late' } }

function Send-Request($Request) {
    if (Test-Late $Request) { return Get-Late }
    $limit = [int]$Request['TimeoutMs']
    if ($Request['UntilMs'] -ne 0) {
        $left = $Request['UntilMs'] - (Get-Clock)
        $limit = [int][Math]::Max(1, [Math]::Min($limit, $left))
    }
    $clock = [System.Diagnostics.Stopwatch]::StartNew()
    $part = 'head'
    $response = $null
    try {
        $web = [System.Net.WebRequest]::Create($Request['Url'])
        $web.Method = $Request['Method']
        $web.Proxy = $null
        $web.AllowAutoRedirect = $false
        $web.Timeout = $limit
        $headers = $Request['Headers']
        foreach ($name in $headers.Keys) {
            if ($name -eq 'Content-Type') { $web.ContentType = $headers[$name] }
            else { $web.Headers.Add($name, $headers[$name]) }
        }
        try {
            if ($Request['Body']) {
                $web.ServicePoint.Expect100Continue = $false
                $bytes = [System.Convert]::FromBase64String($Request['Body'])
                $web.ContentLength = $bytes.Length
                $upload = $web.GetRequestStream()
                $upload.Write($bytes, 0, $bytes.Length)
                $upload.Close()
                $web.Timeout = [Math]::Max(1, $limit - $clock.ElapsedMilliseconds)
            }
            $response = $web.GetResponse()
        }
        catch {
            # Statuses from 400 on are thrown, and in 5.1 the status 304
            $cause = $_.Exception
            while ($null -ne $cause -and $cause -isnot [System.Net.WebException]) { $cause = $cause.InnerException }
            if ($null -eq $cause -or $null -eq $cause.Response) { throw }
            $response = $cause.Response
        }
        $part = 'body'
        $stream = $response.GetResponseStream()
        $content = New-Object System.IO.MemoryStream
        $buffer = New-Object 'byte[]' 16384
        do {
            $left = [int][Math]::Max(0, $limit - $clock.ElapsedMilliseconds)
            $read = $stream.ReadAsync($buffer, 0, $buffer.Length)
            if (-not $read.Wait($left)) { return @{ failure = 'Timeout'; message = 'no end of the body' } }
            $content.Write($buffer, 0, $read.Result)
            if ($content.Length -gt $Request['MaxBytes']) {
                return @{ failure = 'TooLarge'; message = "over $($Request['MaxBytes']) bytes" }
            }
        } while ($read.Result -gt 0)
        $part = 'whole'
        $found = @{}
        $sent = $response.Headers       # only once: PowerShell 7 has some of them the next time
        if ($null -eq $sent) { return @{ failure = 'InvalidResponse'; message = 'a control character in a header' } }
        foreach ($name in $sent.AllKeys) { $found[$name.ToLowerInvariant()] = $sent[$name] }
        $text = [System.Convert]::ToBase64String($content.ToArray())
        return @{ status = [int]$response.StatusCode; headers = $found; body = $text }
    }
    catch { return Get-Failure $_.Exception $part }
    finally {
        if ($null -ne $response) {
            if ($part -ne 'whole') { $web.Abort() }     # or 5.1 would wait for the rest
            $response.Close()
        }
    }
}

function Wait-Change($Request) {
    $clock = [System.Diagnostics.Stopwatch]::StartNew()
    for ($polls = 1; ; $polls++) {
        $last = $clock.ElapsedMilliseconds -ge $Request['LimitMs']
        $answer = Send-Request $Request
        $same = $answer['status'] -eq 304 -or ($answer['status'] -eq 200 -and $answer['body'].Equals($Request['Known']))
        if ($last -or -not $same) { break }     # else a pause, of 200 ms at least: five requests a second are allowed
        $left = $Request['LimitMs'] - $clock.ElapsedMilliseconds
        $pause = [Math]::Max(200, [Math]::Min([long]$Request['IntervalMs'], $left))
        if (-not (Test-Path -LiteralPath Function:Wait-Line)) { Start-Sleep -Milliseconds $pause }
        elseif (Wait-Line $pause) { break }     # of line.ps1: nobody waits for this any more
    }
    return $answer + @{ polls = $polls }
}

function Test-Missing($Cause) {
    return $Cause -is [System.IO.FileNotFoundException] -or $Cause -is [System.IO.DirectoryNotFoundException]
}

function Wait-Shared([scriptblock]$Action) {
    # Something else may have the file open for a moment: a virus scanner, or another run of this script.
    $patience = [System.Diagnostics.Stopwatch]::StartNew()
    while ($true) {
        try { return & $Action }
        catch {
            $cause = $_.Exception.GetBaseException()
            if ($cause -isnot [System.IO.IOException] -or (Test-Missing $cause)) { throw }
            if ($patience.ElapsedMilliseconds -gt 2000) { throw }
            Start-Sleep -Milliseconds 50
        }
    }
}

$MostBytes = 1048576        # of what is read: nobody knows yet whose the folder is

function Read-File($Path) {
    # What is in the file, or in the one that a replacement leaves for a moment, or one that was cut off for longer.
    # $null where there is neither.
    foreach ($name in $Path, "$Path.old", $Path) {     # the last one: it may have come in between
        try { $file = Wait-Shared { [System.IO.File]::Open($name, 'Open', 'Read', 'ReadWrite, Delete') } }
        catch {
            if (Test-Missing $_.Exception.GetBaseException()) { continue }
            throw
        }
        try {
            if ($file.Length -gt $MostBytes) { throw "it has $($file.Length) bytes, and none of ours over $MostBytes" }
            $content = New-Object System.IO.MemoryStream
            $file.CopyTo($content)
            return [System.Convert]::ToBase64String($content.ToArray())
        }
        finally { $file.Close() }
    }
    return $null
}

function Initialize-Folder($Path) {
    if ([System.IO.Directory]::Exists($Path)) { return }
    if ([System.Environment]::OSVersion.Platform -ne 'Win32NT') {
        $null = [System.IO.Directory]::CreateDirectory($Path)       # where this script is tested
        return
    }
    # For SYSTEM and Administrators only, from the very beginning, whatever the folder above allows.
    $security = New-Object System.Security.AccessControl.DirectorySecurity
    $security.SetSecurityDescriptorSddlForm('O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)')
    $folder = New-Object System.IO.DirectoryInfo $Path
    if ($PSVersionTable.PSVersion.Major -lt 6) { $folder.Create($security) }
    else { [System.IO.FileSystemAclExtensions]::Create($folder, $security) }
}

function Get-Trust($Path) {
    # Whose the folder is, and who may write there; Sddl is $null where there is none.
    if (-not ([System.IO.Directory]::Exists($Path) -or [System.IO.File]::Exists($Path))) {
        return @{ sddl = $null; link = $false; user = '' }
    }
    $link = ([System.IO.File]::GetAttributes($Path) -band [System.IO.FileAttributes]::ReparsePoint) -ne 0
    $lock = [System.IO.File]::GetLastWriteTimeUtc("$Path/lock").ToFileTimeUtc()     # 0 where there is none
    if ([System.Environment]::OSVersion.Platform -ne 'Win32NT') {       # where this script is tested
        return @{ sddl = 'O:BAD:PAI(A;OICI;FA;;;BA)'; link = $link; user = ''; lock = $lock }
    }
    $parts = [System.Security.AccessControl.AccessControlSections]'Owner, Access'
    $folder = New-Object System.IO.DirectoryInfo $Path
    if ($PSVersionTable.PSVersion.Major -lt 6) { $security = $folder.GetAccessControl($parts) }
    else { $security = [System.IO.FileSystemAclExtensions]::GetAccessControl($folder, $parts) }
    $user = [System.Security.Principal.WindowsIdentity]::GetCurrent().User.Value
    return @{ sddl = $security.GetSecurityDescriptorSddlForm($parts); link = $link; user = $user; lock = $lock }
}

function Compare-Expected($Answer, $Expected) {
    if ($Answer.ContainsKey('failure')) { return $Answer }
    foreach ($name in $Expected.Keys) {
        if (-not ($Answer[$name] -ceq $Expected[$name])) {
            return $Answer + @{ failure = 'Changed'; message = "$name is not what it was"; part = 'expect' }
        }
    }
    return $Answer
}

function Remove-Rest($Path) {
    try { [System.IO.File]::Delete($Path) }
    catch { $null = $_ }        # it says nothing: it is read only where the file itself is missing
}

function Edit-File($Path, $Request) {
    # Body is what is in it from now on; $null removes it. With Compare: only where Known is in it ($null: no file).
    $folder = [System.IO.Path]::GetDirectoryName($Path)
    Initialize-Folder $folder
    $lock = Wait-Shared { [System.IO.File]::Open("$folder/lock", 'OpenOrCreate', 'ReadWrite', 'None') }
    try {
        $there = Read-File $Path
        if ($Request['Compare'] -and -not ($there -ceq $Request['Known'])) {
            return @{ failure = 'Changed'; message = "$Path is not what it was"; part = 'compare'; body = $there }
        }
        if (Test-Late $Request) { return Get-Late }
        if ($null -eq $Request['Body']) {
            $late = Wait-Shared {
                if (Test-Late $Request) { return $true }
                [System.IO.File]::Delete("$Path.old")
                [System.IO.File]::Delete($Path)
            }
        }
        else {
            $bytes = [System.Convert]::FromBase64String($Request['Body'])
            $file = Wait-Shared { [System.IO.File]::Open("$Path.new", 'Create', 'Write', 'None') }
            try {
                try {
                    $file.Write($bytes, 0, $bytes.Length)
                    $file.Flush($true)
                }
                finally { $file.Close() }
                $late = Wait-Shared {       # each time: something may have had one of the files open meanwhile
                    if (Test-Late $Request) { return $true }
                    if ([System.IO.File]::Exists($Path)) {
                        [System.IO.File]::Replace("$Path.new", $Path, "$Path.old", $true)
                    }
                    else { [System.IO.File]::Move("$Path.new", $Path) }
                }
            }
            finally { Remove-Rest "$Path.new" }
            if (-not $late) { Remove-Rest "$Path.old" }
        }
        if ($late) { return Get-Late }
        return @{ body = $Request['Body'] }
    }
    finally { $lock.Close() }
}

function Read-Folder($Path) {
    $found = @{}
    $bytes = 0
    if ([System.IO.Directory]::Exists($Path)) {
        foreach ($file in [System.IO.Directory]::EnumerateFiles($Path, '*.json')) {
            $name = [System.IO.Path]::GetFileName($file)
            $found[$name] = Read-File $file
            $bytes += 100 + ([string]$found[$name]).Length
            if ($bytes -gt $MostBytes) { throw "there are over $MostBytes bytes in its files" }
        }
    }
    return @{ files = $found; count = $found.Count }
}

function Get-BootId {
    # The same as the watcher's: in a key of the registry that Windows keeps in memory only, put there by the first who
    # asks after a start. '' where the user may not write there, as one who is no administrator.
    $name = 'SOFTWARE\AzureMaintenance\ThisStart'
    $access = [Microsoft.Win32.RegistryKeyPermissionCheck]::ReadWriteSubTree
    try {
        $registry = [Microsoft.Win32.RegistryKey]::OpenBaseKey('LocalMachine', 'Registry64')
        $key = $registry.OpenSubKey($name)
        if ($null -eq $key) {
            $key = $registry.CreateSubKey($name, $access, [Microsoft.Win32.RegistryOptions]::Volatile)
            Start-Sleep -Milliseconds 50        # whoever has made it at the same moment has put an id in by now
            if ($null -eq $key.GetValue('Id')) { $key.SetValue('Id', [Guid]::NewGuid().ToString()) }
            Start-Sleep -Milliseconds 100       # of two that have, the later one holds for both
        }
        $patience = [System.Diagnostics.Stopwatch]::StartNew()
        while ($null -eq $key.GetValue('Id') -and $patience.ElapsedMilliseconds -lt 2000) {
            Start-Sleep -Milliseconds 50
        }
        return [string]$key.GetValue('Id')
    }
    catch { return '' }
}

function Get-Boot {
    if ([System.Environment]::OSVersion.Platform -ne 'Win32NT') {       # where this script is tested
        $seconds = [System.Diagnostics.Stopwatch]::GetTimestamp() / [System.Diagnostics.Stopwatch]::Frequency
        $booted = [DateTime]::UtcNow.AddSeconds(-$seconds).ToString('s')
        $id = [System.IO.File]::ReadAllText('/proc/sys/kernel/random/boot_id').Trim()
        return @{ booted = $booted; uptime_ms = [long](1000 * $seconds); clock_ms = Get-Clock; id = $id }
    }
    $system = Get-CimInstance -ClassName Win32_OperatingSystem -OperationTimeoutSec 30
    $booted = $system.LastBootUpTime.ToUniversalTime()
    $uptime = [DateTime]::UtcNow - $booted      # LocalDateTime is ambiguous in the hour in which summer time ends
    $said = @{ booted = $booted.ToString('s'); uptime_ms = [long]$uptime.TotalMilliseconds; clock_ms = Get-Clock }
    return $said + @{ id = Get-BootId }
}

function Invoke-Script($Request) {
    # As ansible.windows.win_powershell does: what it found out is what it leaves in $Ansible.
    $Ansible = @{ Changed = $true; Result = $null }
    $parameters = $Request['Parameters']
    $null = & ([scriptblock]::Create($Request['Text'])) @parameters
    return @{ changed = $Ansible.Changed; result = $Ansible.Result }
}

function Invoke-Request($Request) {
    if ($Request['Do'] -eq 'http') { return Wait-Change $Request }
    if ($Request['Do'] -eq 'script') { return Invoke-Script $Request }
    if ($Request['Do'] -eq 'boot') { return Get-Boot }
    $path = [System.Environment]::ExpandEnvironmentVariables($Request['Path'])
    if ([System.Environment]::OSVersion.Platform -ne 'Win32NT') { $path = $path.Replace('\', '/') }  # for tests
    if ($Request['Do'] -eq 'trust') { return Get-Trust $path }
    if ($Request['Do'] -eq 'folder') { return Read-Folder $path }
    if ($Request['Do'] -eq 'edit') { return Edit-File $path $Request }
    return @{ body = Read-File $path }
}

function Get-Result($Requests) {
    $language = $ExecutionContext.SessionState.LanguageMode
    if ($language -ne 'FullLanguage' -or $PSVersionTable.PSVersion -lt '5.1') {
        return @{ failure = 'PowerShell'; message = "PowerShell $($PSVersionTable.PSVersion), $language" }
    }
    $answers = New-Object System.Collections.ArrayList
    $stopped = $false
    $asked = $false
    foreach ($request in $Requests) {
        if ($stopped) {
            $null = $answers.Add(@{ failure = 'Skipped'; message = 'an earlier request failed'; part = 'stop' })
            continue
        }
        if ($asked -and $request['Do'] -eq 'http') { Start-Sleep -Milliseconds 200 }
        $asked = $asked -or $request['Do'] -eq 'http'
        try { $answer = Compare-Expected (Invoke-Request $request) $request['Expect'] }
        catch { $answer = Get-Failure $_.Exception $request['Do'] }
        $stopped = $request['Stop'] -and ($answer.ContainsKey('failure') -or $answer['status'] -ge 300)
        $null = $answers.Add($answer)
    }
    return @{ answers = $answers }
}

$id = $null
try {
    $asked = ConvertFrom-Json $Text
    $id = $asked.id
    $result = Get-Result @($asked.requests | ForEach-Object { ConvertTo-Table $_ })
    ConvertTo-Line @{ id = $id; result = $result }
}
catch { ConvertTo-Line @{ id = $id; error = [string]$_.Exception.Message } }
