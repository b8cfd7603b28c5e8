# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a Windows machine does what it does in its own way: ``service`` by the service manager, ``iis`` and ``failover_cluster``.

Private to this collection.
"""

from typing import Any, Dict, Type

from ..._steps.step_type import Step
from ..._text import one_line
from ..job_runner import JobRunner, answer
from ..step_runner import DONE, FAILED, InitialState, RunnerFailed, StepRun
from ..supervisor import Work
from . import services
from .cluster import ClusterRunner
from .iis import IisRunner


class ServiceRunner(JobRunner):
    """Stops a service, and starts it again."""

    def before(self, step: Step) -> InitialState:
        service = step["service"]
        try:
            state = services.state_of(service)
        except OSError as error:
            words = one_line(error.strerror or error)
            raise RunnerFailed(f"Windows could not say how service {service} is: {words}") from error
        if state is None:
            raise RunnerFailed(f"this machine has no service {service}")
        return {"ran": state in (services.RUNNING, services.START_PENDING)}

    def work(self, step_run: StepRun) -> Work:
        change = services.stop if step_run.direction == "do" else services.start

        def run() -> Dict[str, Any]:
            try:
                change(step_run.step["service"])
            except FileNotFoundError:
                return answer(FAILED, f"this machine has no service {step_run.step['service']}")
            except OSError as error:
                return answer(FAILED, one_line(error.strerror or error))
            return answer(DONE)

        return run


KINDS: Dict[str, Type[JobRunner]] = {
    "service": ServiceRunner,
    "iis": IisRunner,
    "failover_cluster": ClusterRunner,
}
