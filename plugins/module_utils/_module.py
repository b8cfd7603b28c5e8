# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules' arguments, and how an operation becomes a module's result. The only part that knows AnsibleModule.

Private to this collection.
"""

from typing import Any, Callable, Dict

from ansible.module_utils.basic import AnsibleModule

from ._caller import Caller
from ._clock import Clock
from ._errors import ScheduledEventsError
from ._imds.client import VERSIONS
from ._imds.discovery import Files, find_endpoints
from ._imds.endpoint import Found
from ._imds.http_transport import HttpTransport
from ._imds.requests_transport import REQUESTS_IMPORT_ERROR, RequestsTransport
from ._imds.transport import Transport
from ._operations.operation import OperationFailed
from ._operations.options import AFFECTING, APPROVE_DEFAULTS, INFO_DEFAULTS, WAIT_FOR


def _spec(defaults: Dict[str, Any], **arguments: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    """The arguments, each with the default that the operation has for it."""
    for name, argument in arguments.items():
        if defaults[name] is not None and not argument.get("required"):
            argument["default"] = defaults[name]
    return arguments


_COMMON: Dict[str, Dict[str, Any]] = dict(
    endpoint=dict(type="str"),
    discover=dict(type="bool"),
    api_version=dict(type="str", choices=list(VERSIONS)),
    timeout=dict(type="float"),
    first_timeout=dict(type="float"),
    resource_name=dict(type="str"),
    wait=dict(type="bool"),
    wait_timeout=dict(type="float"),
    wait_sleep=dict(type="float"),
)

INFO_ARGUMENTS = _spec(
    INFO_DEFAULTS,
    event_ids=dict(type="list", elements="str"),
    types=dict(type="list", elements="str"),
    statuses=dict(type="list", elements="str"),
    sources=dict(type="list", elements="str"),
    affecting=dict(type="str", choices=list(AFFECTING)),
    wait_for=dict(type="str", choices=list(WAIT_FOR)),
    since_incarnation=dict(type="int"),
    placement_group=dict(type="bool"),
    **{name: dict(argument) for name, argument in _COMMON.items()},
)

APPROVE_ARGUMENTS = _spec(
    APPROVE_DEFAULTS,
    event_ids=dict(type="list", elements="str", required=True),
    prepared_resources=dict(type="list", elements="str"),
    allow_unknown=dict(type="list", elements="str"),
    fail_on_not_approved=dict(type="bool"),
    rank=dict(type="int"),
    takeover=dict(type="float"),
    **{name: dict(argument) for name, argument in _COMMON.items()},
)

Operation = Callable[[Dict[str, Any], Transport, Clock, bool, Callable[[], Found], Caller], Dict[str, Any]]

WITHOUT_REQUESTS = "without_requests"
"""In the result for the action, which says it."""

_STDOUT = 1  # the file descriptor on which Ansible waits for the result


def run(arguments: Dict[str, Dict[str, Any]], operation: Operation) -> None:
    """Run one operation as a module: it exits, with the operation's result or with its failure."""
    caller = Caller(output=_STDOUT)
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    clock = Clock()
    transport: Transport = HttpTransport(clock) if REQUESTS_IMPORT_ERROR else RequestsTransport(clock)
    result = outcome(
        operation,
        module.params,
        transport,
        clock,
        module.check_mode,
        lambda: find_endpoints(Files(), clock.wall()),
        caller,
    )
    if REQUESTS_IMPORT_ERROR:
        result[WITHOUT_REQUESTS] = True
    for warning in result.pop("warnings", ()):
        module.warn(warning)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)


def outcome(
    operation: Operation,
    options: Dict[str, Any],
    transport: Transport,
    clock: Clock,
    check_mode: bool,
    find: Callable[[], Found],
    caller: Caller,
) -> Dict[str, Any]:
    """The operation's result as Ansible has it, whether it did its work or failed; the warnings are still in it."""
    try:
        return operation(options, transport, clock, check_mode, find, caller)
    except OperationFailed as error:
        failure: ScheduledEventsError = error
        result = error.result
    except ScheduledEventsError as error:
        failure, result = error, {}
    return dict(result, failed=True, msg=failure.message, failure=failure.failure())
