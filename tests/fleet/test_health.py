# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's health endpoint: a real HAProxy takes a machine out of use by it alone, and it goes by the mark, whatever the watcher does."""

import http.client
import threading
import time

import judge
import pytest
from length import at_length
from machines import balancer, client, host, services, settings

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
DRAIN = {"type": "connections", "port": 80, "at_least": 6, "exclude": ["127.0.0.1"], "timeout": 30}
CHECKS = {"http": f"check port {HTTP_PORT}", "agent": f"check agent-check agent-port {AGENT_PORT} agent-inter 300ms"}


@pytest.fixture(name="deploy")
def _deploy(ansible, machines):
    """deploy("web2", some_variable=1): a watcher with a health endpoint, which is gone again after the test."""
    deployed = []

    def deploy(name, **more):
        deployed.append(name)
        sources = [settings.by_name()["lb1"].address, settings.CONTROLLER_ADDRESS]
        health = {
            "http": [f"0.0.0.0:{HTTP_PORT}"],
            "agent": [f"0.0.0.0:{AGENT_PORT}"],
            "sources": sources,
        }
        given = {"drain_steps": NOTES, "watcher_prepare_before": 86400, "watcher_health": health, **more}
        return ansible.run(DEPLOY, azure_maintenance_hosts=name, **given).check()

    yield deploy
    for name in deployed:
        ansible.run(REMOVE, azure_maintenance_hosts=name, watcher_force=True).check()
        assert "could not be found" in machines[name].inside(
            "sh", "-c", f"systemctl status {HEALTH}.socket 2>&1 || true"
        )


@pytest.fixture(name="checked")
def _checked(machines):
    """checked("web2", "http"): from now on HAProxy checks that server so."""
    lb1, path = machines["lb1"], "/etc/haproxy/haproxy.cfg"
    lb1.inside("cp", path, "/var/tmp/haproxy.cfg")

    def checked(name, check):
        lb1.inside("sed", "-i", rf"s/\(server {name} .*\) check$/\1 {CHECKS[check]}/", path)
        assert CHECKS[check] in lb1.inside("cat", path)
        lb1.inside("systemctl", "restart", "haproxy")

    yield checked
    lb1.inside("cp", "/var/tmp/haproxy.cfg", path)
    lb1.inside("systemctl", "restart", "haproxy")


@pytest.fixture(name="ready")
def _ready(machines):
    """Whether lone1's nginx answers probes, which it does while the watcher's file is there."""
    lone, path = machines["lone1"], "/etc/nginx/nginx.conf"
    lone.inside("cp", path, "/var/tmp/nginx.conf")
    flag = rf"s#location = /health {{#& if (!-f {IN_SERVICE}) {{ return 503; }}#"
    lone.inside("sed", "-i", flag, path)
    assert IN_SERVICE in lone.inside("cat", path)
    lone.inside("systemctl", "reload", "nginx")
    yield lambda: asked("lone1", 80, "/health")[0]
    lone.inside("cp", "/var/tmp/nginx.conf", path)
    lone.inside("systemctl", "reload", "nginx")


def asked(name, port=HTTP_PORT, path="/"):
    """The status and the text that a machine's health endpoint answers; 0 where nobody does."""
    connection = http.client.HTTPConnection(settings.by_name()[name].address, port, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode().strip()
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


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
            self.answers.append((time.time(), *asked(self.name)))

    def statuses(self, since, end):
        return {status for at, status, _words in self.answers if since <= at <= end}


def is_out(machines, user, name, check):
    if check == "http":
        return user.samples[-1].states[name] == "DOWN"
    return balancer.command(machines["lb1"], f"get weight {services.BACKEND}/{name}").startswith("0 ")


@pytest.mark.parametrize("name, check", [("web2", "http"), pytest.param("web3", "agent", marks=at_length)])
def test_a_user_loses_nothing_over_an_event_and_its_reboot(azure, machines, deploy, checked, name, check):
    machine, boots = machines[name], machines.boot_ids()
    app = f"http://127.0.0.1:80/health?{name}"  # nginx: after the reboot traffic waits for it, too
    health = {
        "http": [f"0.0.0.0:{HTTP_PORT}"],
        "agent": [f"0.0.0.0:{AGENT_PORT}"],
        "sources": ["10.77.0.0/24"],
        "app": app,
    }
    deploy(name, watcher_health=health, drain_steps=[*NOTES, DRAIN])
    checked(name, check)
    with client.of_fleet() as user, Asking(name) as asking:
        user.wait_for_state(name, "UP")
        event = azure.inject("Reboot", [name], notice=3600, tail=60)
        host.until("HAProxy to take it out of use", lambda: is_out(machines, user, name, check))
        assert machine.boot_id() == boots[name], "before the event starts"
        azure.wait_for(event, "Gone")
        host.until("it to be recovered", lambda: machine.times("recovered") and machine.mark() is None, 90)
        user.wait_for_state(name, "UP")
        host.until("it to be in service", lambda: asked(name)[0] == 200)
    approved, started, gone = judge.approved_once(azure, event, by=name), *azure.times(event, "started", "gone")
    judge.prepared_before(machines, [name], approved)
    judge.rebooted(machines, boots, [name])
    judge.recovered_after(machines, [name], gone)
    assert user.failures() == []
    assert user.sample(approved).sessions[name] == 0
    assert user.served(name, approved, machine.times("recovered")[0]) == []
    out_of_service = asking.statuses(machine.times("prepared")[0], machine.times("recovered")[0])
    assert out_of_service <= {0, 503} and 503 in out_of_service
    assert asking.statuses(started, gone) <= {0, 503}


def test_a_dead_watcher_and_a_reboot_leave_it_out_of_service(azure, machines, deploy, ready, on):
    lone, machine = machines["lone1"], on("lone1")
    policy = [{"name": "Azure starts it", "do": "prepare"}]
    deploy("lone1", watcher_policy=policy)
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

    # Its ports outlive it.
    machine.check_output(f"systemctl kill --signal=KILL {HEALTH}.service")
    assert asked("lone1") == (200, "in service")

    event = azure.inject("Freeze", ["lone1"], duration=30, notice=900, tail=60)
    host.until("it to be prepared", lambda: (lone.mark() or {}).get("phase") == "prepared", 60)
    assert asked("lone1")[0] == 503 and "maintenance: prepared, since " in asked("lone1")[1]
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
def test_deployed_twice_changed_and_taken_away(machines, deploy, on):
    machine = on("lone1")
    deploy("lone1")
    assert deploy("lone1").recap("lone1")["changed"] == 0
    assert deploy("lone1", watcher_health={"http": ["127.0.0.1:8011"]}).recap("lone1")["changed"] > 0
    assert asked("lone1") == (0, "")
    assert machine.check_output("curl -s http://127.0.0.1:8011/") == "in service"
    said = " ".join(machine.check_output("azure-maintenance status; azure-maintenance doctor || true").split())
    assert "Health 127.0.0.1:8011 answers: in service" in said and "ok health 127.0.0.1:8011: in service" in said
    deploy("lone1", watcher_health={})
    assert not machine.file(f"/etc/systemd/system/{HEALTH}.socket").exists
    assert machine.run("curl -s http://127.0.0.1:8011/").rc == 7
