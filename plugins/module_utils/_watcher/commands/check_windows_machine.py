# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks settings of a Windows machine that others make, and that the watcher depends on: whether its failover cluster drains by itself, which
PowerShell scripts run, the proxy of WinHTTP, and what sets the clock.

Private to this collection.

Windows' own programs answer in the machine's language: nothing is read of what they say but numbers and names.
"""

import fnmatch
import re
import struct
from typing import Any, Callable, List, Optional, Sequence, Tuple

from ..._machine.windows import services as manager
from ..._machine.windows.step_runners import POWERSHELL
from ..._text import last_line, one_line
from ..host.this_host import HOST
from .check_report import FAIL, OK, WARN, Finding, Said

Ask = Callable[..., Said]
Read = Callable[[str, str], Optional[Any]]
"""Gives a value of the machine's registry, by its key and name; None where there is none."""
StateOf = Callable[[str], Optional[int]]
"""Gives the state of a service; None where there is none."""

_STATES = {manager.STOPPED: "stopped", manager.START_PENDING: "starting", manager.STOP_PENDING: "stopping"}
_POWERSHELL_WITHIN = 30.0  # seconds: on a busy machine its start takes some


def state_words(state: Optional[int]) -> str:
    return _STATES.get(state or 0, f"in state {state}")


CLUSTER = "ClusSvc"
_BEGINS = "azure-maintenance:"
_ASKS_CLUSTER = (
    f"$c = Get-Cluster; '{_BEGINS}' + [string]$c.DetectManagedEvents + ' ' + [string]$c.DetectManagedEventsThreshold"
)
_CLUSTER_SAYS = re.compile(rf"^{_BEGINS}(\d*) (\d*)\s*$", re.MULTILINE)
_SHOWS = 'powershell "Get-Cluster | Format-List DetectManagedEvents*"'
_LEAVES = 'powershell "(Get-Cluster).DetectManagedEvents = 1"'
_OWN_WAYS = {
    2: "moves no role to a node with a scheduled event",
    3: "pauses and drains a node with a scheduled event",
    4: "pauses and drains a node with a scheduled event, and moves its roles back",
}
"""What a cluster does by itself about scheduled events, by the number of its property. 0 is nothing, 1 (what a cluster in Azure is made with)
writes them to its log. Source: Microsoft, "Failover Clustering in Azure" (2021)."""


def cluster(ask: Ask, has_step: bool, state_of: StateOf = manager.state_of) -> List[Finding]:
    """Whether the machine's failover cluster acts on scheduled events, too: two that drain and resume one node.

    :arg has_step: whether the watcher has a step of type failover_cluster
    """
    try:
        state = state_of(CLUSTER)
    except OSError as error:
        words = f"Windows does not say how {CLUSTER} is: {one_line(error.strerror or error)}"
        return [Finding(WARN, "cluster", words, HOST.status(CLUSTER))]
    if state is None:
        return []
    if state != manager.RUNNING:
        words = f"{CLUSTER}, the failover cluster's service, is {state_words(state)}: whether it drains nodes by itself is not known"
        return [Finding(WARN, "cluster", words, f"{HOST.start(CLUSTER)}, then run this again")]
    said = ask([*POWERSHELL, _ASKS_CLUSTER], _POWERSHELL_WITHIN)
    found = _CLUSTER_SAYS.search(said.text)
    if not found:
        return [Finding(WARN, "cluster", _no_answer("the failover cluster", said), f"see what it says: {_SHOWS}")]
    if not found.group(1):
        return [Finding(OK, "cluster", "it has no DetectManagedEvents, so it does not act on scheduled events")]
    return [_acts(int(found.group(1)), found.group(2), has_step)]


def _acts(number: int, seconds: str, has_step: bool) -> Finding:
    if number in (0, 1):
        return Finding(OK, "cluster", f"it leaves scheduled events to the watcher (DetectManagedEvents is {number})")
    does = _OWN_WAYS.get(number)
    if does is None:
        words = f"its DetectManagedEvents is {number}, which this version does not know: it may drain nodes by itself"
        return Finding(WARN, "cluster", words, f"leave scheduled events to the watcher: {_LEAVES}")
    threshold = f", {seconds} s before it" if number > 2 and seconds else ""
    words = f"the cluster itself {does}{threshold} (DetectManagedEvents is {number}), beside the watcher"
    if number > 2 and has_step:
        words += " and its step failover_cluster: each may resume a node that the other has paused"
    state = FAIL if number > 2 and has_step else WARN
    return Finding(state, "cluster", words, f"let one of them do it; to leave it to the watcher: {_LEAVES}")


def _no_answer(who: str, said: Said) -> str:
    if said.code == -1:
        return f"{who} could not be asked: its program is not there, or did not answer in time"
    words = one_line(last_line(said.text, 200)) or "nothing"
    return f"{who} could not be asked (exit code {said.code}): {words}"


POLICY = r"SOFTWARE\Policies\Microsoft\Windows\PowerShell"
_LETS_RUN = ("remotesigned", "unrestricted", "bypass")


def scripts(files: Sequence[str], read: Read) -> List[Finding]:
    """Whether a policy keeps hooks in PowerShell from being run: one of the domain wins over what the watcher asks for.

    :arg files: hooks, and whatever else there is
    """
    policy, enabled = read(POLICY, "ExecutionPolicy"), read(POLICY, "EnableScripts")
    if not any(path.lower().endswith(".ps1") for path in files) or policy is enabled is None:
        return []
    advice = "write them as .cmd or .exe, or change the policy; see it: powershell Get-ExecutionPolicy -List"
    name = one_line(policy or "")
    if enabled == 0 or name.lower() == "restricted":
        return [Finding(FAIL, "policy", "a policy lets no PowerShell script run, and hooks are such", advice)]
    if name.lower() in _LETS_RUN:
        return [Finding(OK, "policy", f"the policy {name} lets hooks in PowerShell run")]
    if name.lower() == "allsigned":
        words = "a policy lets only signed PowerShell scripts run (AllSigned), and hooks are such"
        return [Finding(WARN, "policy", words, f"sign them by a publisher that this machine trusts, or {advice}")]
    words = f"a policy says which PowerShell scripts run, and it is not known which ({name or 'it names none'})"
    return [Finding(WARN, "policy", words, advice)]


CONNECTIONS = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Internet Settings\Connections"
_NAMED, _PROXY_FLAGS, _PROXY_TEXTS = 2, 8, 12
METADATA = "169.254.169.254"


def winhttp_proxy(blob: Any) -> Tuple[str, str]:
    """Proxy and bypass list out of the registry's value; empty where there is none. (Version, a count, flags, then each text behind its
    length, all in little endian.)

    :raises ValueError: when it can't be understood
    """
    if not isinstance(blob, bytes) or len(blob) < _PROXY_TEXTS:
        raise ValueError("it is too short")
    if not struct.unpack_from("<I", blob, _PROXY_FLAGS)[0] & _NAMED:
        return "", ""
    at, texts = _PROXY_TEXTS, []
    for _which in range(2):
        if at + 4 > len(blob):
            raise ValueError("it ends early")
        (length,) = struct.unpack_from("<I", blob, at)
        text = blob[at + 4 : at + 4 + length]
        if len(text) < length:
            raise ValueError("it ends early")
        texts.append(one_line(text.decode("latin-1"), 500))
        at += 4 + length
    return texts[0], texts[1]


def proxy(read: Read) -> List[Finding]:
    """The proxy that Windows' own programs go by, and with them agents and hooks. The watcher uses none."""
    blob = read(CONNECTIONS, "WinHttpSettings")
    try:
        name, bypass = ("", "") if blob is None else winhttp_proxy(blob)
    except ValueError as error:
        words = f"the settings of WinHTTP can't be read ({error}); the watcher uses no proxy"
        return [Finding(WARN, "proxy", words, "see them: netsh winhttp show proxy")]
    if not name:
        return [Finding(OK, "proxy", "WinHTTP has no proxy")]
    words = f"WinHTTP's proxy is {name}; the watcher uses no proxy"
    if any(fnmatch.fnmatch(METADATA, entry) for entry in re.split(r"[;\s]+", bypass) if entry):
        return [Finding(OK, "proxy", words)]
    words += f", but hooks and agents that go by it ask {METADATA} through it, which Azure refuses"
    wanted = ";".join(filter(None, (bypass, METADATA, "168.63.129.16")))
    return [Finding(WARN, "proxy", words, f'netsh winhttp set proxy {name} bypass-list="{wanted}"')]


CLOCK = "w32time"
_CLOCK_KEY = r"SYSTEM\CurrentControlSet\Services\W32Time\Parameters"
_BY_ITSELF = ("local cmos clock", "free-running system clock")


def clock(ask: Ask, read: Read, state_of: StateOf = manager.state_of) -> List[Finding]:
    """Whether something sets the machine's clock. How far it is from Azure's, the metadata service's answer says."""
    otherwise = "or see that another program sets it"
    try:
        state = state_of(CLOCK)
    except OSError as error:
        words = f"Windows does not say how {CLOCK} is: {one_line(error.strerror or error)}"
        return [Finding(WARN, "time", words, HOST.status(CLOCK))]
    if state != manager.RUNNING:
        how = "not there" if state is None else state_words(state)
        advice = f"{HOST.enable(CLOCK)}, then {HOST.start(CLOCK)}; {otherwise}"
        return [Finding(WARN, "time", f"{CLOCK}, which sets the clock, is {how}", advice)]
    if str(read(_CLOCK_KEY, "Type")).lower() == "nosync":
        words = f"{CLOCK} runs, and its settings have it set nothing (NoSync)"
        return [Finding(WARN, "time", words, f"w32tm /config /syncfromflags:manual /update, {otherwise}")]
    said = ask(["w32tm.exe", "/query", "/source"])
    source = one_line(last_line(said.text, 100))
    if said.code != 0 or not source:
        return [Finding(WARN, "time", _no_answer(CLOCK, said), HOST.clock_advice)]
    if source.lower() in _BY_ITSELF:
        return [Finding(WARN, "time", f"nothing sets the clock: {CLOCK} has no source ({source})", HOST.clock_advice)]
    return [Finding(OK, "time", f"{CLOCK} sets the clock by {source}")]
