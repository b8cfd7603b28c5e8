# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Sends one request to the metadata service, or the same one once per interval until the answer is not $Known any more
# or the limit has passed, and hands back what came. It understands nothing of it: that is done on the controller.
# For ansible.windows.win_powershell under Windows PowerShell 5.1 and PowerShell 7. Times in ms, bodies in base64.
[CmdletBinding(SupportsShouldProcess = $true)]
param([string]$Method, [string]$Url, $Headers, [string]$Body, [int]$TimeoutMs, [int]$MaxBytes,
    [string]$Known, [int]$IntervalMs, [int]$LimitMs)

Set-StrictMode -Version 2.0
$Ansible.Changed = $false
$language = $ExecutionContext.SessionState.LanguageMode
if ($language -ne 'FullLanguage' -or $PSVersionTable.PSVersion -lt '5.1') {
    $Ansible.Result = @{ failure = 'PowerShell'; message = "PowerShell $($PSVersionTable.PSVersion), $language" }
    return
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
    return @{ failure = $failure; message = $innermost.Message; part = $Part }
}

function Send-Request($Method, $Url, $Headers, $Body, $TimeoutMs, $MaxBytes) {
    $clock = [System.Diagnostics.Stopwatch]::StartNew()
    $part = 'head'
    $response = $null
    try {
        $request = [System.Net.WebRequest]::Create($Url)
        $request.Method = $Method
        $request.Proxy = $null
        $request.AllowAutoRedirect = $false
        $request.Timeout = $TimeoutMs
        foreach ($name in $Headers.Keys) {
            if ($name -eq 'Content-Type') { $request.ContentType = $Headers[$name] }
            else { $request.Headers.Add($name, $Headers[$name]) }
        }
        try {
            if ($Body) {
                $request.ServicePoint.Expect100Continue = $false
                $bytes = [System.Convert]::FromBase64String($Body)
                $request.ContentLength = $bytes.Length
                $upload = $request.GetRequestStream()
                $upload.Write($bytes, 0, $bytes.Length)
                $upload.Close()
                $request.Timeout = [Math]::Max(1, $TimeoutMs - $clock.ElapsedMilliseconds)
            }
            $response = $request.GetResponse()
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
            $left = [int][Math]::Max(0, $TimeoutMs - $clock.ElapsedMilliseconds)
            $read = $stream.ReadAsync($buffer, 0, $buffer.Length)
            if (-not $read.Wait($left)) { return @{ failure = 'Timeout'; message = 'no end of the body' } }
            $content.Write($buffer, 0, $read.Result)
            if ($content.Length -gt $MaxBytes) { return @{ failure = 'TooLarge'; message = "over $MaxBytes bytes" } }
        } while ($read.Result -gt 0)
        $part = 'whole'
        $found = @{}
        foreach ($name in $response.Headers.AllKeys) { $found[$name.ToLowerInvariant()] = $response.Headers[$name] }
        $text = [System.Convert]::ToBase64String($content.ToArray())
        return @{ status = [int]$response.StatusCode; headers = $found; body = $text }
    }
    catch { return Get-Failure $_.Exception $part }
    finally {
        if ($null -ne $response) {
            if ($part -ne 'whole') { $request.Abort() }     # or 5.1 would wait for the rest
            $response.Close()
        }
    }
}

$clock = [System.Diagnostics.Stopwatch]::StartNew()
for ($polls = 1; ; $polls++) {
    $last = $clock.ElapsedMilliseconds -ge $LimitMs
    $answer = Send-Request $Method $Url $Headers $Body $TimeoutMs $MaxBytes
    $same = $answer['status'] -eq 304 -or ($answer['status'] -eq 200 -and $answer['body'].Equals($Known))
    if ($last -or -not $same) { break }     # else a pause, of 200 ms at least: five requests a second are allowed
    Start-Sleep -Milliseconds ([Math]::Max(200, [Math]::Min($IntervalMs, $LimitMs - $clock.ElapsedMilliseconds)))
}
$Ansible.Result = $answer + @{ polls = $polls; elapsed_ms = $clock.ElapsedMilliseconds }
