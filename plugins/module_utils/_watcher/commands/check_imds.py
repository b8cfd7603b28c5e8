# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks Azure's metadata service, as the watcher will find it: the way to it as the kernel takes it, whether it answers, who it says
this machine is, what time it has, and who else may ask it.

Private to this collection.

Nothing here asks for events: the first who does turns Scheduled Events on for all machines of the scope.
"""

import ipaddress
import sys
from typing import Callable, Dict, List, Mapping, Optional
from urllib.parse import urlsplit

from ..._clock import Clock
from ..._errors import ScheduledEventsError
from ..._imds.client import NAME, Client
from ..._imds.option_names import with_variables
from ..._imds.retries import http_date
from ..._imds.transport import Answer, Transport
from ..._text import one_line
from ..host.this_host import HOST
from ..settings.options import Configuration
from .check_report import FAIL, OK, WARN, Finding, Said


def check_route(endpoint: str, ask: Callable[[List[str]], Said]) -> List[Finding]:
    """Which way the kernel takes, by all of its tables and rules. Nothing is sent."""
    host = urlsplit(endpoint).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return [Finding(OK, "route", f"{host} is a name: not checked")]
    said = ask(["ip", "route", "get", host])
    words = one_line(said.text.partition(" uid ")[0], 200) or host
    if said.code == 0:
        return [
            Finding(
                OK, "route", words, "if it does not answer: only the machine's primary network interface can reach it"
            )
        ]
    if said.code < 0:
        return [Finding(OK, "route", f"not checked: this machine has no program ip, which shows the route to {host}")]
    if "Network is unreachable" in words:
        return [Finding(FAIL, "route", f"no route leads to {host}", f"ip route get {host}; a default route is enough")]
    advice = (
        "see ip route show table all, and ip rule. Who has closed it may have meant to, as systemd.imds.network=locked on the kernel's command "
        "line does: the watcher needs it open (unlocked)"
    )
    return [Finding(FAIL, "route", f"this machine is kept from {host} by a route or a rule ({words})", advice)]


WITHIN = 5.0
MOST_APART = 30.0
"""Seconds that the clocks may be apart. The watcher goes by the service's own; people who compare logs don't."""

ANYBODY = "nobody"
"""A user without rights: whoever keeps this one off keeps all others off that are not named."""

_CONNECTS = (
    "import socket, sys\n"
    "try: socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)\n"
    "except OSError: print('kept off')\n"
    "else: print('connected')"
)

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class Noting(Transport):
    """A Transport that keeps the Date of the last answer: the service's time."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport.clock)
        self._transport = transport
        self.date = ""

    def get(self, url: str, headers: Dict[str, str], timeout: float) -> Answer:
        answer = self._transport.get(url, headers, timeout)
        self.date = answer.headers.get("date", "")
        return answer


def check_service(configuration: Configuration, transport: Transport, clock: Clock, user: str) -> List[Finding]:
    """:arg user: as whom this is asked"""
    noting = Noting(transport)
    client = Client(noting, configuration.endpoint, timeout=WITHIN, first_timeout=WITHIN, clock=clock)
    try:
        name, vm_id = (client.machine_text(leaf, WITHIN) for leaf in (NAME, "vmId"))
    except ScheduledEventsError as error:
        return [Finding(FAIL, "endpoint", with_variables(error.message), _advice(error.kind), ("endpoint",))]
    found = [Finding(OK, "endpoint", f"{configuration.endpoint} says to {user} who this machine is")]
    return [*found, _identity(configuration, name, vm_id), _time(http_date(noting.date), clock)]


def _advice(kind: str) -> str:
    if kind in ("unreachable", "timeout"):
        return (
            "see the route in this list, and whether a firewall keeps this user from 169.254.169.254 "
            f"({HOST.firewall_advice}). On a machine that is not in Azure there is no such service"
        )
    if kind == "not_azure":
        return "something else answers in its place, such as a proxy; it must be reached directly"
    if kind == "denied":
        return f"let {HOST.admin} ask it"
    return "try again in a minute; if the error stays, ask Azure's support"


def _identity(configuration: Configuration, name: str, vm_id: str) -> Finding:
    if not name or not vm_id:
        words = f"the service gives an empty {'vmId' if name else 'name'} for this machine"
        return Finding(FAIL, "name", words, "see whether something else answers in its place; else ask Azure's support")
    wanted = configuration.resource_name
    if wanted and wanted.lower() != name.lower():
        words = f"azure_maintenance_resource_name says {wanted}, and the service says {name}"
        advice = "correct azure_maintenance_resource_name in the inventory, or leave it out, and run role watcher again"
        return Finding(FAIL, "name", words, advice, ("resource_name",))
    return Finding(OK, "name", f"{name} (vmId {vm_id})")


def _time(served: Optional[float], clock: Clock) -> Finding:
    if served is None:
        words = "the service sends no time, so the machine's own clock is used"
        return Finding(WARN, "clock", words, f"check that a time server sets it: {HOST.clock_advice}")
    apart = clock.wall() - served
    if abs(apart) <= MOST_APART:
        return Finding(OK, "clock", "within 30 s of the metadata service's")
    words = f"this machine's clock is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} the service's"
    advice = f"the watcher uses the service's time; correct the machine's ({HOST.clock_advice})"
    return Finding(WARN, "clock", words, advice)


def others(endpoint: str, ask: Callable[[List[str]], Said]) -> List[Finding]:
    """Whether other users of the machine may use up the requests that Azure lets it send. They only connect, and ask for nothing."""
    parts = urlsplit(endpoint)
    host = parts.hostname or ""
    try:
        if not ipaddress.IPv4Address(host).is_link_local:
            return []
    except ValueError:
        return []
    program = [sys.executable, "-I", "-S", "-c", _CONNECTS, host, str(parts.port or 80)]
    said = ask(["runuser", "-u", ANYBODY, "--", *program]).text.strip()
    if said == "kept off":
        return [Finding(OK, "users", f"user {ANYBODY} can't ask {host}, so others can't use up its requests")]
    if said != "connected":
        return []
    words = (
        f"any user of this machine can query {host}: Azure answers the machine five requests a second, so one user can "
        "block the watcher's polls"
    )
    rules = (
        "nft add table inet azure_maintenance",
        "nft 'add chain inet azure_maintenance output { type filter hook output priority 0 ; }'",
        f"nft add rule inet azure_maintenance output ip daddr {host} meta skuid != 0 reject",
    )
    advice = (
        "if you don't trust all users and programs of this machine, allow only root (and those that need it, such as "
        f"programs with a managed identity; see the guide, security): {' && '.join(rules)}"
    )
    return [Finding(WARN, "users", words, advice)]


def proxies(environment: Mapping[str, str], whose: str) -> Finding:
    """Variables that lead others astray; the watcher does not go by them."""
    found = sorted(name for name in environment if name.lower() in _PROXIES and environment[name])
    words = f"in the environment of {whose}"
    return Finding(
        OK, "proxy", f"{', '.join(found)} {words}; the watcher uses no proxy" if found else f"no proxy {words}"
    )
