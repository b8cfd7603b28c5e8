# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's health endpoint: a real HAProxy takes machines out of use by it alone, and it goes by the mark, whatever the watcher does; and
metrics, which a real Prometheus scrapes meanwhile."""

import contextlib
import http.client
import os
import shutil
import socket
import threading
import time

import judge
import pytest
from length import at_length
from machines import balancer, client, host, services, settings
from prometheus import Prometheus

from ansible_collections.cloudops.azure_maintenance.tests.unit.monitoring import expressions

DEPLOY = "cloudops.azure_maintenance.deploy_watcher"
REMOVE = "cloudops.azure_maintenance.remove_watcher"
SERVICE, HEALTH = "azure-maintenance", "azure-maintenance-health"
HTTP_PORT, AGENT_PORT = 8009, 8010
IN_SERVICE = "/run/azure-maintenance/in-service"
NOTES = [
    {
        "type": "command",
        "name": "Note the time",
        "do": ["sh", "-c", "date +%s.%N >> /var/tmp/prepared"],
        "undo": ["sh", "-c", "date +%s.%N >> /var/tmp/recovered"],
    }
]
# At least as long as HAProxy's checks take to notice; the health endpoint asks nginx on that port, too.
DRAIN = {
    "type": "connections",
    "port": 80,
    "at_least": 6,
    "exclude": ["127.0.0.1"],
    "timeout": 120,
}  # a busy machine takes its time
CHECKS = {  # by whom HAProxy is told: nginx, which tests the watcher's file, or the health endpoint
    "web1": "check",
    "web2": f"check port {HTTP_PORT}",
    "web3": f"check agent-check agent-port {AGENT_PORT} agent-inter 300ms",
}


@pytest.fixture(name="deploy")
def _deploy(ansible, machines):
    """deploy("web2", some_variable=1): watchers with health endpoints, which are gone again after the test."""
    deployed = []

    def deploy(*names, **more):
        deployed.extend(names)
        sources = [settings.by_name()["lb1"].address, settings.CONTROLLER_ADDRESS]
        health = {
            "http": [f"0.0.0.0:{HTTP_PORT}"],
            "agent": [f"0.0.0.0:{AGENT_PORT}"],
            "sources": sources,
        }
        given = {"drain_steps": NOTES, "azure_maintenance_prepare_before": 86400, "watcher_health": health, **more}
        return ansible.run(DEPLOY, azure_maintenance_hosts=":".join(names), **given).check()

    yield deploy
    ansible.run(REMOVE, azure_maintenance_hosts=":".join(deployed), watcher_force=True).check()
    for name in deployed:
        assert "could not be found" in machines[name].inside(
            "sh", "-c", f"systemctl status {HEALTH}.socket 2>&1 || true"
        )
        assert "No such file" in machines[name].inside("sh", "-c", "ls /run/azure-maintenance 2>&1 || true")


@pytest.fixture(name="checked")
def _checked(machines):
    """checked(): from now on HAProxy checks its servers as said above."""
    lb1, path = machines["lb1"], "/etc/haproxy/haproxy.cfg"
    lb1.inside("cp", path, "/var/tmp/haproxy.cfg")

    def checked():
        for name, check in CHECKS.items():
            lb1.inside("sed", "-i", rf"s/\(server {name} .*\) check$/\1 {check}/", path)
            assert f"{settings.by_name()[name].address}:80 {check}\n" in lb1.inside("cat", path)
        lb1.inside("systemctl", "restart", "haproxy")

    yield checked
    lb1.inside("cp", "/var/tmp/haproxy.cfg", path)
    lb1.inside("systemctl", "restart", "haproxy")


@pytest.fixture(name="flagged")
def _flagged(machines):
    """flagged("lone1"): from now on the nginx of that machine answers probes while the watcher's file is there."""
    path, changed = "/etc/nginx/nginx.conf", []

    def flagged(name):
        machine = machines[name]
        changed.append(machine)
        machine.inside("cp", path, "/var/tmp/nginx.conf")
        flag = rf"s#location = /health {{#& if (!-f {IN_SERVICE}) {{ return 503; }}#"
        machine.inside("sed", "-i", flag, path)
        assert IN_SERVICE in machine.inside("cat", path)
        machine.inside("systemctl", "reload", "nginx")

    yield flagged
    for machine in changed:
        machine.inside("cp", "/var/tmp/nginx.conf", path)
        machine.inside("systemctl", "reload", "nginx")


@pytest.fixture(name="ready")
def _ready(flagged):
    """Whether lone1's nginx answers probes."""
    flagged("lone1")
    return lambda: asked("lone1", 80, "/health")[0]


@pytest.fixture(name="prometheus")
def _prometheus(tmp_path):
    """prometheus(): one that scrapes the machines above."""
    if not shutil.which("prometheus"):
        pytest.skip("no prometheus on this machine: apt-get install --no-install-recommends prometheus")
    return lambda: Prometheus(tmp_path, {name: f"{settings.by_name()[name].address}:{HTTP_PORT}" for name in CHECKS})


def asked(name, port=HTTP_PORT, path="/", timeout=host.LONG):
    """The status and the text that a machine's health endpoint answers; 0 where nobody does, which shows at once."""
    connection = http.client.HTTPConnection(settings.by_name()[name].address, port, timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode().strip()
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def burden(name):
    """200 clients that say hardly anything, one that sends garbage, one that sends a megabyte; all of them stay."""
    address = (settings.by_name()[name].address, HTTP_PORT)
    with contextlib.ExitStack() as clients:
        for sent in (*[b"GET / HTTP/1.1\r\n"] * 200, os.urandom(4096), b"GET / HTTP/1.1\r\nX: " + b"x" * 1024 * 1024):
            client = clients.enter_context(socket.create_connection(address, host.LONG))
            with contextlib.suppress(OSError):  # it is closed meanwhile
                client.sendall(sent)
        assert asked(name) == (200, "in service")


class Asking:
    """Somebody who asks a machine's health all the time."""

    def __init__(self, name):
        self.name, self.answers, self._stop = name, [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_unused):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.wait(0.05):
            began = time.time()
            status, _words = asked(self.name, timeout=2)  # a machine that is reset meanwhile never answers
            self.answers.append((began, time.time(), status))

    def statuses(self, since, end):
        """Of what was asked and answered between these times: an answer that comes later may be another one by right."""
        return {status for began, ended, status in self.answers if since <= began and ended <= end}


def is_out(machines, user, name):
    if name == "web3":
        return balancer.command(machines["lb1"], f"get weight {services.BACKEND}/{name}").startswith("0 ")
    return user.samples[-1].states[name] == "DOWN"


QUIET = {"Failed hooks"}  # panels that show nothing where all goes well
AT_THE_END = {"Outages by outcome"}  # and those that show something once an outage has ended
MEANWHILE = {"Events by type and status", "Time until the next event may start"}  # and until then


def shown(prometheus):
    """The panels of the dashboard that show something, each of whose expressions Prometheus takes."""
    return {one.where for one in expressions.of_dashboard() if prometheus.query(one.text)}


def wait_for_panels(prometheus, wanted):
    """Until these show something and no others: one scrape that comes too late leaves a machine without samples."""
    try:
        host.until(f"{sorted(wanted)} to show something", lambda: shown(prometheus) == wanted)
    except host.FleetError as error:
        raise host.FleetError(f"{error}; what does so is {sorted(shown(prometheus))}") from error


def find_nothing(prometheus, alert):
    """The expression of an alert finds nothing."""
    if alert.text.startswith("up{"):  # not even that a scrape came too late, which passes
        host.until(f"{alert} to find nothing", lambda: prometheus.query(alert.text) == [])
    else:
        assert prometheus.query(alert.text) == [], alert


def test_a_user_loses_nothing_over_an_event_and_its_reboot(azure, machines, deploy, checked, flagged, prometheus):
    """Health and step connections are all that drains: HAProxy asks nginx, health by HTTP, or health by its agent-check."""
    names, boots = list(CHECKS), machines.boot_ids()
    health = {
        "http": [f"0.0.0.0:{HTTP_PORT}"],
        "agent": [f"0.0.0.0:{AGENT_PORT}"],
        "sources": [settings.by_name()["lb1"].address, settings.CONTROLLER_ADDRESS],
        "metrics_sources": [settings.CONTROLLER_ADDRESS],
        "app": "http://127.0.0.1:80/index.html",  # nginx: after the reboot traffic waits for it, too
    }
    deploy(*names, watcher_health=health, drain_steps=[*NOTES, DRAIN])
    flagged("web1")
    checked()
    panels = {one["title"] for one in expressions.panels()}
    with prometheus() as scrapes, client.of_fleet() as user, contextlib.ExitStack() as stack:
        asking = {name: stack.enter_context(Asking(name)) for name in names}
        for name in names:
            user.wait_for_state(name, "UP")
        scrapes.wait_for('azure_maintenance_phase{phase="in_service"}', dict.fromkeys(names, 1.0))
        event = azure.inject("Reboot", names, notice=7200, tail=60)  # more than anybody waits below
        scrapes.wait_for('azure_maintenance_phase{phase="prepared"}', dict.fromkeys(names, 1.0))
        for name in names:
            assert is_out(machines, user, name) and machines[name].boot_id() == boots[name], name
        wait_for_panels(scrapes, panels - QUIET - AT_THE_END)
        azure.let_notice_pass(event)
        azure.wait_for(event, "Gone")
        host.until("all to be recovered", lambda: all(machines[name].times("recovered") for name in names))
        host.until("no mark to be left", lambda: not any(machines[name].mark() for name in names))
        for name in names:
            user.wait_for_state(name, "UP")
        host.until("all to be in service", lambda: all(asked(name)[0] == 200 for name in names))
        recovered = 'increase(azure_maintenance_outages_total{outcome="recovered"}[10m]) > 0'
        host.until("Prometheus to count the outages", lambda: sorted(scrapes.values(recovered)) == sorted(names))
        scrapes.wait_for("sum(azure_maintenance_event)", {"": 0.0})
        scrapes.wait_for("azure_maintenance_outage_seconds_count", dict.fromkeys(names, 1.0))
        wait_for_panels(scrapes, panels - QUIET - MEANWHILE)
        for one in expressions.of_alerts():
            find_nothing(scrapes, one)
        assert scrapes.alerts() == []
    started, gone = azure.times(event, "started", "gone")
    judge.prepared_before(machines, names, started)
    judge.rebooted(machines, boots, names)
    judge.recovered_after(machines, names, gone)
    assert user.failures() == []
    for name in names:
        recovered = machines[name].times("recovered")[0]
        assert user.sample(started).sessions[name] == 0
        assert user.served(name, started, recovered) == []
        assert asking[name].statuses(started, gone) <= {0, 503}
        out_of_service = asking[name].statuses(machines[name].times("prepared")[0], recovered)
        assert out_of_service <= {0, 503} and 503 in out_of_service


def test_a_dead_watcher_and_a_reboot_leave_it_out_of_service(azure, machines, deploy, ready, on):
    lone, machine = machines["lone1"], on("lone1")
    policy = [{"name": "Azure starts it", "do": "prepare"}]
    deploy("lone1", azure_maintenance_policy=policy)
    assert asked("lone1") == (200, "in service") and ready() == 200
    for unit in (f"{HEALTH}.socket", f"{HEALTH}.service"):
        assert machine.service(unit).is_running

    # It keeps its bounds, and has no right at all.
    pid = machine.check_output(f"systemctl show --value -p MainPID {HEALTH}.service")
    pss = int(machine.check_output(f"grep ^Pss: /proc/{pid}/smaps_rollup").split()[1])
    exposure = machine.check_output(f"systemd-analyze security {HEALTH}.service | tail -1")
    print(f"health endpoint: {pss} kB PSS; {exposure.strip()}")
    assert pss < 12 * 1024
    assert float(exposure.split(":")[1].split()[0]) < 2, exposure
    assert machine.check_output(f"ps -o user= -p {pid}") not in ("root", "")
    said = machine.run(f"journalctl -b -o cat _PID=1 | grep -i '{HEALTH}'").stdout
    assert "Unknown" not in said and "ignoring" not in said

    # Slow clients, garbage and a megabyte of headers keep nobody out, and leave the watcher alone.
    watcher = machine.check_output(f"systemctl show -p MainPID -p NRestarts {SERVICE}")
    burden("lone1")
    assert asked("lone1") == (200, "in service")
    assert machine.check_output(f"systemctl show -p MainPID -p NRestarts {SERVICE}") == watcher
    assert machine.check_output(f"systemctl show --value -p MainPID {HEALTH}.service") == pid

    # Its ports outlive it.
    machine.check_output(f"systemctl kill --signal=KILL {HEALTH}.service")
    assert asked("lone1") == (200, "in service")

    event = azure.inject("Freeze", ["lone1"], duration=30, notice=900, tail=60)
    host.until("it to say that it is prepared", lambda: "maintenance: prepared, since " in asked("lone1")[1])
    assert asked("lone1")[0] == 503 and (lone.mark() or {}).get("phase") == "prepared"
    assert event not in asked("lone1")[1] and ready() == 503
    machine.check_output(
        f"systemctl disable {SERVICE}; systemctl kill --signal=KILL {SERVICE}; systemctl stop {SERVICE}"
    )
    assert asked("lone1")[0] == 503
    azure.wait_for(event, "Gone")
    boot = lone.boot_id()
    lone.reset()
    host.until("it to have booted", lambda: lone.boot_id() not in ("", boot), 60)
    lone.wait_for_ssh()
    assert asked("lone1") == (
        503,
        "out of service for maintenance: marked, and the watcher has not reported since the boot",
    )
    host.until("nginx to be up", ready)
    assert ready() == 503

    machine.check_output(f"systemctl enable --now {SERVICE}")
    host.until("it to be recovered", lambda: lone.mark() is None, 90)
    host.until("nginx to answer probes again", lambda: ready() == 200)
    assert asked("lone1") == (200, "in service")


@at_length
@pytest.mark.parametrize("taken, other", [(HTTP_PORT, HTTP_PORT + 2), (HTTP_PORT + 2, HTTP_PORT)])
def test_a_port_in_use_closes_no_other_and_is_had_once_it_is_free(deploy, on, taken, other):
    """Whether it is the first address, whose unit pulls in the others, or another one."""
    machine = on("lone1")
    health = {"http": [f"0.0.0.0:{HTTP_PORT}", f"0.0.0.0:{HTTP_PORT + 2}"], "sources": [settings.CONTROLLER_ADDRESS]}
    deploy("lone1", watcher_health=health)
    holds = f"import socket, time; found = socket.create_server(('0.0.0.0', {taken})); time.sleep(600)"
    machine.check_output(f'systemctl stop {HEALTH}.socket; systemd-run --unit=azm-holds python3 -c "{holds}"')
    host.until("the port to be taken", lambda: machine.run(f"ss -Hltn sport = :{taken} | grep .").rc == 0)
    machine.run(f"systemctl start {HEALTH}.socket")
    assert asked("lone1", other) == (200, "in service")
    assert f"{taken}" in machine.run("azure-maintenance doctor | grep 'FAIL  health'").stdout
    machine.check_output("systemctl stop azm-holds")
    host.until("it to have the port", lambda: asked("lone1", taken, timeout=2) == (200, "in service"), 150)
    assert asked("lone1", other) == (200, "in service")


@at_length
def test_deployed_twice_changed_and_taken_away(machines, deploy, on):
    machine = on("lone1")
    deploy("lone1")
    assert deploy("lone1").recap("lone1")["changed"] == 0
    assert deploy("lone1", watcher_health={"http": ["127.0.0.1:8011"]}).recap("lone1")["changed"] > 0
    assert asked("lone1") == (0, "")
    assert machine.check_output("curl -s http://127.0.0.1:8011/") == "in service"
    said = " ".join(machine.check_output("azure-maintenance status; azure-maintenance doctor || true").split())
    assert "Health 127.0.0.1:8011 answers: in service" in said and "ok health 127.0.0.1:8011: in service" in said
    assert "Metrics /run/azure-maintenance/metrics.prom, written" in said
    assert "ok metrics http://127.0.0.1:8011/metrics answers" in said
    deploy("lone1", watcher_health={})
    assert not machine.file(f"/etc/systemd/system/{HEALTH}.socket").exists
    assert machine.run("curl -s http://127.0.0.1:8011/").rc == 7
