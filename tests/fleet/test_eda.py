# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Event-Driven Ansible: watchers report to a real ansible-rulebook on the controller, and it starts maintain, by SSH, for their scope."""

import shutil

import judge
import pytest
from length import at_length
from machines import cgroups, host, settings

from ansible_collections.cloudops.azure_maintenance.tests.eda.page import example
from ansible_collections.cloudops.azure_maintenance.tests.eda.rulebook import SECRET, Rulebook

AFFECTED = ("web2", "web3")
UNIT = "maintain-on-report"


@pytest.fixture(name="rulebook")
def _rulebook(ansible, machines, tmp_path):
    """It answers, and the watchers of two of the web machines report to it; they prepare nothing themselves."""
    environment = dict(ansible.environment(), ANSIBLE_REMOTE_TMP="~/.ansible/tmp", ANSIBLE_ASYNC_DIR="~/.ansible_async")
    kept = {name: text for name, text in environment.items() if name.startswith("ANSIBLE_")}
    # A folder with nothing else in it: all that is there is read, and run where it can be.
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    shutil.copy(ansible.inventory, inventory)
    found = Rulebook(tmp_path / "eda", "maintain_on_report", inventory, host=settings.CONTROLLER_ADDRESS, **kept)
    found.start()
    cgroups.add("ctl", found.process.pid)
    reports = [{"url": found.url, "secret": SECRET}]
    variables = {"azure_maintenance_hosts": ":".join(AFFECTED), "watcher_mode": "observe", "watcher_reports": reports}
    ansible.run("cloudops.azure_maintenance.deploy_watcher", **variables).check()
    yield found
    found.stop()
    variables = {"azure_maintenance_hosts": ":".join(AFFECTED), "watcher_force": True}
    ansible.run("cloudops.azure_maintenance.remove_watcher", **variables).check()


def recovered(machines):
    return all(machines[name].times("recovered") for name in AFFECTED)


def test_a_report_starts_the_one_run_for_its_machines(azure, machines, rulebook, user):
    """Both machines of the event report it. The run sees all of their scope, of which it has another one approve."""
    boots = machines.boot_ids()
    event = azure.inject("Reboot", AFFECTED, notice=3600, tail=60)
    host.until("a run to begin", rulebook.runs)
    host.until("both to be recovered", lambda: recovered(machines))
    host.until("the run to end", lambda: rulebook.runs()[0].ended)
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.prepared_before(machines, AFFECTED, approved)
    judge.out_of_use(user, AFFECTED, approved, gone)
    judge.recovered_after(machines, AFFECTED, gone)
    judge.rebooted(machines, boots, AFFECTED)
    judge.untouched(machines, boots, ["web1", "web10"], user)
    assert user.failures() == []
    (run,) = rulebook.runs()
    assert run.hosts == sorted(judge.WEB) and not run.failed


@at_length
def test_a_rulebook_that_is_stopped_in_the_middle(azure, ansible, machines, rulebook, user):
    """Its run ends with it; the schedule takes its machines over, once the lease has run out."""
    boots = machines.boot_ids()
    event = azure.inject("Reboot", AFFECTED, notice=3600, tail=36000)
    azure.wait_for_entry("approved", event)
    rulebook.stop()
    for name in AFFECTED:
        machines[name].let_lease_run_out()
    scheduled = ansible.start(
        "cloudops.azure_maintenance.maintain", azure_maintenance_hosts="web", maintain_wait_timeout=0
    )
    rulebook.start()
    azure.wait_until_waiting("web1", alive=scheduled.check_alive)
    azure.post(f"/events/{event}/complete")
    assert "taken over" in scheduled.wait().check().output
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.prepared_before(machines, AFFECTED, approved)
    judge.recovered_after(machines, AFFECTED, gone)
    judge.rebooted(machines, boots, AFFECTED)
    assert user.failures() == []


PROGRAM = r"""#!/bin/sh
# Stands for ansible-rulebook, which no machine of the fleet has: it says how it was started.
exec >/var/lib/eda/said
printf '%s\n' "$(id -un) $HOME $PWD $EDA_MAX_CONCURRENT_ACTIONS"
cat /etc/eda/variables.yml >/dev/null 2>&1 || printf '%s\n' "only root reads the file"
while [ $# -gt 0 ]; do
    [ "$1" = --vars ] && cat "$2" && echo
    shift
done
touch /opt/eda/written 2>/dev/null || echo protected
trap 'exit 143' TERM
touch /var/lib/eda/begun
sleep infinity &
wait
"""


def test_the_guides_unit_runs_under_systemd(machines, on):
    """The unit file as the guide prints it: its user, its folder, the secret that root alone may read, and a stop that is no failure."""
    lone, machine = machines["lone1"], on("lone1")
    variables = "report_secret: nobody's"
    files = {
        f"etc/systemd/system/{UNIT}.service": (example("[Unit]"), 0o644),
        "etc/eda/variables.yml": (variables, 0o600),
        "opt/eda/bin/ansible-rulebook": (PROGRAM, 0o755),
    }
    try:
        lone.inside("useradd", "--system", "eda")
        for name, (text, mode) in files.items():
            path = lone.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(mode)
        assert lone.inside("sh", "-c", f"systemd-analyze verify {UNIT}.service 2>&1") == ""
        lone.inside("systemctl", "daemon-reload")
        lone.inside("systemctl", "start", UNIT)
        host.until("it to have begun", (lone.root / "var/lib/eda/begun").exists)
        assert machine.file("/var/lib/eda/said").content_string.splitlines() == [
            "eda /var/lib/eda /var/lib/eda 50",
            "only root reads the file",
            variables,
            "protected",
        ]
        lone.inside("systemctl", "stop", UNIT)
        assert machine.check_output(f"systemctl show --value -p Result {UNIT}") == "success"
    finally:
        lone.inside("sh", "-c", f"systemctl stop {UNIT}; userdel eda; true")
        lone.inside("rm", "-rf", *(f"/{name}" for name in files), "/etc/eda", "/opt/eda", "/var/lib/eda")
        lone.inside("systemctl", "daemon-reload")
