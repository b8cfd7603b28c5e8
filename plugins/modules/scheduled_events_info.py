#!/usr/bin/python
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: scheduled_events_info
short_description: See the maintenance that Azure has scheduled for a virtual machine, or wait for it
description:
  - Asks the instance metadata service of an Azure virtual machine for its Scheduled Events, which are the reboots,
    freezes, redeployments, evictions and deletions that Azure announces to the machine and to the others in its
    availability set or scale set.
  - Can wait on the machine until an event appears, starts or is over, within one task and one connection.
  - Runs on Linux and on Windows machines, with the same options and results. A Windows machine only sends the
    requests; what they mean is worked out on the controller.
  - The first request after a day without one switches Scheduled Events on. Its answer may take two minutes, and
    events may take five to appear.
options:
  event_ids:
    description:
      - Only these events, by their IDs. Case does not matter.
      - Leave the option out to see all events. An empty list is an error, except with O(wait=true) and O(wait_for=gone), where nothing is
        left to wait for, so the task is done at once, and the metadata service is not asked.
    type: list
    elements: str
  types:
    description:
      - Only events of these types, V(Freeze), V(Reboot), V(Redeploy), V(Preempt), V(Terminate) or
        V(SpotRebalanceRecommendation), or one that Azure adds later. Case does not matter.
    type: list
    elements: str
  statuses:
    description:
      - Only events with these statuses, V(Scheduled), V(Started) or V(Advisory), or one that Azure adds later. Case does
        not matter.
    type: list
    elements: str
  sources:
    description:
      - Only events from these sources, V(Platform) or V(User). Case does not matter.
      - Below O(api_version=2019-08-01) events have no source, and none matches.
      - An event that lacks what O(types), O(statuses) or O(sources) ask for, or has it damaged, is left out of
        RV(events) with a warning, and O(wait_for=gone) goes on waiting for it.
    type: list
    elements: str
  affecting:
    description:
      - V(any) for all events that the machine is shown, V(self) for those that list the machine itself.
    type: str
    choices: [any, self]
    default: any
  wait:
    description:
      - Whether to look until what O(wait_for) says is the case. Without it the module looks once.
      - A wait that gives up fails, with RV(failure.kind=timeout) and all other return values as last seen.
      - In a play of several hosts with the default strategy C(linear), no host goes on before all of them have ended the wait, which is
        a warning. Use C(strategy=free), or wait on one host only, with C(delegate_to) and C(run_once).
    type: bool
    default: false
  wait_for:
    description:
      - What to wait for when O(wait=true). The filters O(event_ids), O(types), O(statuses), O(sources) and O(affecting)
        tell which events count.
      - V(event) until there is an event.
      - V(started) until an event has started. With O(event_ids) also until none of these events is left, because one
        that was cancelled never starts.
      - V(gone) until no event is left, be it completed or cancelled; RV(transitions) tells which. Nor may an entry be
        left that can't be read and may be such an event, see RV(unusable_events).
      - V(change) until the document is another one than O(since_incarnation), whatever the filters say.
    type: str
    choices: [event, started, gone, change]
    default: event
  wait_timeout:
    description:
      - Seconds to wait at most when O(wait=true), V(0) or more. V(0) looks once.
      - A request that is under way at the end is let finish, so that O(timeout) may come on top.
    type: float
    default: 300
  wait_sleep:
    description:
      - Seconds from one look to the next, V(0.2) or more. Azure allows a machine five requests a second, all its programs
        together.
    type: float
    default: 1
  since_incarnation:
    description:
      - The RV(incarnation) that the caller knows already, for O(wait_for=change). Without it, that of the first look.
      - Incarnations are compared for being different only. Azure starts them anew at times.
    type: int
  placement_group:
    description:
      - Whether to ask, too, which placement group of a scale set the machine is in. Machines of one placement group are
        shown the same events.
    type: bool
    default: false
extends_documentation_fragment:
  - cloudops.azure_maintenance.attributes
  - cloudops.azure_maintenance.attributes.info_module
  - cloudops.azure_maintenance.imds
seealso:
  - module: cloudops.azure_maintenance.scheduled_events_approve
author:
  - cloudops.azure_maintenance contributors (@cloudops)
"""

EXAMPLES = r"""
- name: See what is scheduled
  cloudops.azure_maintenance.scheduled_events_info:
  register: maintenance

- name: Show what will affect this machine, and when
  ansible.builtin.debug:
    msg: "{{ item.type }} at {{ item.not_before_utc or 'an unknown time' }}, in {{ item.notice }} s: {{ item.description }}"
  loop: "{{ maintenance.events | selectattr('affects_self') }}"
  loop_control:
    label: "{{ item.id }}"

- name: Wait up to an hour for an event that affects this machine
  cloudops.azure_maintenance.scheduled_events_info:
    affecting: self
    wait: true
    wait_timeout: 3600
  register: maintenance
  failed_when: maintenance.failed and (maintenance.failure | default({})).kind | default('') != 'timeout'

- name: Wait until all events of a known kind are over
  cloudops.azure_maintenance.scheduled_events_info:
    types: [Reboot, Redeploy]
    wait: true
    wait_for: gone
    wait_timeout: 1800

- name: Wait for whatever comes after a document that is known already
  cloudops.azure_maintenance.scheduled_events_info:
    wait: true
    wait_for: change
    since_incarnation: "{{ maintenance.incarnation }}"
    wait_timeout: 30
  register: changes
  failed_when: changes.failed and (changes.failure | default({})).kind | default('') != 'timeout'
"""

RETURN = r"""
incarnation:
  description:
    - The number of the document. It changes whenever its events change, and says nothing else.
    - V(null) when the service answered with nothing at all, which is taken for no events, and before the first answer.
  returned: always
  type: int
  sample: 32
events:
  description: The events that the filters let through, as last seen.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: The event's ID, as Azure writes it.
      type: str
      sample: 3474C1DD-0917-49F4-85F7-84B9E366719B
    type:
      description:
        - V(Freeze), V(Reboot), V(Redeploy), V(Preempt), V(Terminate), V(SpotRebalanceRecommendation), or a new one.
        - Blank when it is missing or can't be read. So are RV(events[].status), RV(events[].source) and
          RV(events[].not_before).
      type: str
      sample: Reboot
    status:
      description: V(Scheduled), V(Started), V(Advisory), or a new one.
      type: str
      sample: Scheduled
    resource_type:
      description: What RV(events[].resources) are.
      type: str
      sample: VirtualMachine
    resources:
      description: The names of all machines that the event affects, as C(compute/name) has them.
      type: list
      elements: str
      sample: [web1, web2]
    raw_resources:
      description: The same as Azure sent it. With O(api_version=2017-03-01) names have a C(_) in front.
      type: list
      elements: str
      sample: [web1, web2]
    not_before:
      description: When the event starts at the latest without an approval, as Azure sent it. Blank once it has started.
      type: str
      sample: Mon, 02 Mar 2026 08:15:05 GMT
    not_before_utc:
      description: The same in ISO 8601, or V(null).
      type: str
      sample: "2026-03-02T08:15:05Z"
    notice:
      description: Seconds from the look to that time. Negative when it has passed, V(null) when it is unknown.
      type: int
      sample: 871
    source:
      description: V(Platform) for Azure, V(User) for an administrator of the machine. Blank below O(api_version=2019-08-01).
      type: str
      sample: Platform
    description:
      description: What Azure says about it, for people to read, as one line. Often blank.
      type: str
      sample: Host server is undergoing maintenance.
    duration:
      description:
        - Seconds that the interruption is expected to last. V(-1) is unknown, and V(null) is missing, as is the case
          below O(api_version=2020-07-01).
      type: int
      sample: 9
    affects_self:
      description: Whether the machine itself is among RV(events[].resources). V(null) when its name is unknown.
      type: bool
      sample: true
unusable_events:
  description:
    - Entries of the document that can be neither matched to a machine nor approved, because the ID or a name is missing
      or damaged. Each may be maintenance of this machine, and is a warning as well. They are not filtered.
  returned: always
  type: list
  elements: dict
  contains:
    position:
      description: Its place in the document, counted from 1.
      type: int
      sample: 2
    id:
      description: Its EventId in upper case. Blank when it has none that can be relied on; then it may be any event.
      type: str
      sample: 3474C1DD-0917-49F4-85F7-84B9E366719B
    reason:
      description: What is wrong with it.
      type: str
      sample: it has no Resources
    raw:
      description: What stood there, as JSON text without control characters, in its first 2000 characters.
      type: str
      sample: '{"EventId": "3474C1DD-0917-49F4-85F7-84B9E366719B"}'
resource_name:
  description:
    - The machine's own name as the metadata service has it, else O(resource_name). V(null) when it could not be determined,
      or when the two contradict each other.
  returned: always
  type: str
  sample: web1
placement_group:
  description: The placement group's ID, blank when there is none. V(null) unless O(placement_group=true).
  returned: always
  type: str
  sample: 5f1c2a4e-1f6b-4b5e-9d54-5b1c3f6d2a10
api_version:
  description: The api-version that the service answered to, blank before that. Older than O(api_version) when it refused that.
  returned: always
  type: str
  sample: "2020-07-01"
endpoint:
  description: The endpoint that was asked in the end.
  returned: always
  type: str
  sample: http://169.254.169.254
elapsed:
  description: Seconds that it took.
  returned: always
  type: float
  sample: 0.013
polls:
  description: How many requests for the document were made.
  returned: always
  type: int
  sample: 1
looked_at:
  description:
    - When the document was last seen, in UTC, by the clock of the metadata service where its answer says that, else by the machine's own.
      V(null) before the first answer.
  returned: always
  type: str
  sample: "2026-03-02T08:00:34Z"
transitions:
  description:
    - What happened to events from one document to the next during the wait, in this order. O(statuses) does not filter
      them.
  returned: always
  type: list
  elements: dict
  contains:
    kind:
      description: V(shown), V(changed), V(started) or V(gone).
      type: str
      sample: gone
    id:
      description: The event's ID.
      type: str
      sample: 3474C1DD-0917-49F4-85F7-84B9E366719B
    type:
      description: The event's type.
      type: str
      sample: Reboot
    outcome:
      description: Of an event that is gone, V(completed), V(cancelled) or V(unknown). Else blank.
      type: str
      sample: completed
    affects_self:
      description: As in RV(events[].affects_self).
      type: bool
      sample: true
failure:
  description: What went wrong, for a playbook to decide by.
  returned: on failure
  type: dict
  contains:
    kind:
      description:
        - V(unreachable) no connection, or it was cut.
        - V(timeout) no whole answer in time, or the wait gave up.
        - V(not_azure) somebody else answered, such as a proxy, a web page or another cloud.
        - V(version_refused) neither O(api_version) nor an older one is served.
        - V(throttled) too many requests; V(updating) the service is being updated; V(unavailable) it is out of order.
        - V(denied) the machine's rules for the metadata service forbid it.
        - V(malformed) and V(too_large) the answer is no document. That does not mean that there are no events.
        - V(rejected) the service refused an approval.
        - V(not_approved) an event may not be approved, and the task is to fail then.
        - V(interrupted) an approval was not sent, because the run that asked for it was gone.
        - V(invalid) an option of the task; also O(resource_name) when the metadata service gives another name.
      type: str
      sample: timeout
    status:
      description: The HTTP status, or V(null).
      type: int
      sample: 503
    url:
      description: The address that was asked, or V(null).
      type: str
      sample: http://169.254.169.254/metadata/scheduledevents?api-version=2020-07-01
"""

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._module import INFO_ARGUMENTS, run
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.info import info


def main():
    run(
        INFO_ARGUMENTS,
        lambda options, transport, clock, check_mode, find, caller: info(options, transport, clock, find),
    )


if __name__ == "__main__":
    main()
