#!/usr/bin/python
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: scheduled_events_approve
short_description: Let maintenance that Azure has scheduled for virtual machines start now
description:
  - Approves Scheduled Events through the instance metadata service of an Azure virtual machine. Azure may then start
    them before their not-before time.
  - An approval holds for all machines that the event lists. So an event is left alone that lists machines which the
    caller has named neither in O(prepared_resources) nor in O(allow_unknown).
  - Only events that are named are approved. A V(Terminate) is approved only by the machine that it deletes, and
    V(SpotRebalanceRecommendation) never, because it is advice.
  - Each event that was named and not approved is a warning with the reason, see RV(not_approved) and O(fail_on_not_approved).
  - An event that has started or is gone needs no approval, which is no error. An approval whose answer got lost is sent
    again only while the event has not started; one that was taken never is.
  - Nothing is sent any more when the run that asked for it has been interrupted, as far as the machine can see that. It
    can't with C(async), nor while a connection is kept open that several tasks share (C(ControlPersist)).
  - Runs on Linux and on Windows machines, with the same options and results. A Windows machine only sends the
    requests; what they mean is worked out on the controller.
options:
  event_ids:
    description:
      - The IDs of the events to approve. Case does not matter. All are approved in one request.
    type: list
    elements: str
    required: true
  prepared_resources:
    description:
      - Names of machines that the caller has prepared, as the events write them (see O(resource_name)). Case does not
        matter.
      - Without it the machine that the module runs on counts as prepared, and no other. With it, only the machines
        that it names do; with an empty list none.
    type: list
    elements: str
  allow_unknown:
    description:
      - Names of machines that an event may list though nobody has prepared them, as the events write them. Case does
        not matter.
      - An event that lists yet another machine is left alone. Azure may add machines to an event.
    type: list
    elements: str
    default: []
  fail_on_not_approved:
    description:
      - Whether the task fails where an event of O(event_ids) may not be approved. Then it is all or none, and no approval is sent.
      - By default such an event is a warning, and the others are approved. Either way RV(not_approved) says why.
      - An event that is gone needs no approval, and is no failure.
      - The failure has RV(failure.kind=not_approved). Where the answer to an approval was lost and an event has grown since, what was
        approved nevertheless is in RV(approved).
    type: bool
    default: false
  rank:
    description:
      - V(0) for the machine that approves. One of rank V(n) first waits n times O(takeover) for the events to start or to
        leave, and approves only what is left then.
      - It makes several machines stand in for each other without their knowing of each other.
    type: int
    default: 0
  takeover:
    description:
      - Seconds that each rank leaves to the one before it, V(0) or more.
    type: float
    default: 30
  wait:
    description:
      - Whether to wait until a later document shows the approved events started or gone.
      - Azure may wait for others on the same host before it starts an event. A wait that gives up fails with
        RV(failure.kind=timeout) and RV(approved) filled, and the approval stands all the same.
    type: bool
    default: true
  wait_timeout:
    description:
      - Seconds to wait at most, from the moment of the approval on. Lost approvals are sent again within it, with
        O(wait=false) as well. V(0) or more.
    type: float
    default: 60
  wait_sleep:
    description:
      - Seconds from one look to the next, V(0.2) or more.
    type: float
    default: 1
extends_documentation_fragment:
  - cloudops.azure_maintenance.attributes
  - cloudops.azure_maintenance.attributes.approve_module
  - cloudops.azure_maintenance.imds
seealso:
  - module: cloudops.azure_maintenance.scheduled_events_info
author:
  - cloudops.azure_maintenance contributors (@cloudops)
"""

EXAMPLES = r"""
- name: See what is scheduled for this machine
  cloudops.azure_maintenance.scheduled_events_info:
    affecting: self
    statuses: [Scheduled]
  register: maintenance

- name: Let it start now, where it affects no other machine
  cloudops.azure_maintenance.scheduled_events_approve:
    event_ids: "{{ maintenance.events | map(attribute='id') }}"
  when: maintenance.events | length > 0

- name: Approve for two machines that were both prepared before
  cloudops.azure_maintenance.scheduled_events_approve:
    event_ids: "{{ maintenance.events | map(attribute='id') }}"
    prepared_resources: [web1, web2]
    wait_timeout: 120
  when: maintenance.events | length > 0
  register: approval
  failed_when: approval.failed and ((approval.failure | default({})).kind | default('') != 'timeout' or not approval.approved)

- name: Approve what affects a machine, too, that is nobody's to prepare
  cloudops.azure_maintenance.scheduled_events_approve:
    event_ids: "{{ maintenance.events | map(attribute='id') }}"
    prepared_resources: [web1, web2]
    allow_unknown: [jumphost]
  when: maintenance.events | length > 0

- name: Approve all of them or none, and fail if it is none
  cloudops.azure_maintenance.scheduled_events_approve:
    event_ids: "{{ maintenance.events | map(attribute='id') }}"
    fail_on_not_approved: true
  when: maintenance.events | length > 0

- name: Stand in for the first approver, should it not have approved within 20 seconds
  cloudops.azure_maintenance.scheduled_events_approve:
    event_ids: "{{ maintenance.events | map(attribute='id') }}"
    rank: 1
    takeover: 20
  when: maintenance.events | length > 0
"""

RETURN = r"""
approved:
  description: The IDs of the events that were approved, or would be in check mode.
  returned: always
  type: list
  elements: str
  sample: [3474C1DD-0917-49F4-85F7-84B9E366719B]
already:
  description: The IDs of the events that had started already.
  returned: always
  type: list
  elements: str
  sample: []
not_approved:
  description: The named events that were not approved, and why.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: The event's ID.
      type: str
      sample: 3474C1DD-0917-49F4-85F7-84B9E366719B
    reason:
      description:
        - V(gone) the document does not hold it (any more).
        - V(unknown_machines) it affects machines that are neither in O(prepared_resources) nor in O(allow_unknown).
        - V(unreadable) its entry in the document can't be read, or one has lost its ID and may be this event.
        - V(not_own_terminate) it deletes another machine, or may do so, because its type can't be read.
        - V(advice) it is advice, which needs no approval.
        - V(not_all) it may be approved, but another named event may not, and O(fail_on_not_approved=true).
      type: str
      sample: unknown_machines
    message:
      description: The same for people, with the names.
      type: str
      sample: >-
        Event 3474C1DD-0917-49F4-85F7-84B9E366719B was not approved: it affects web3, too: prepare these machines and
        name them in prepared_resources, or name them in allow_unknown.
confirmed:
  description:
    - The IDs of the approved events that were seen started or gone afterwards. Empty with O(wait=false).
    - An event is not gone while the document has an entry that can't be read and may be this event.
  returned: always
  type: list
  elements: str
  sample: [3474C1DD-0917-49F4-85F7-84B9E366719B]
events:
  description: All events of the last document that was seen, as M(cloudops.azure_maintenance.scheduled_events_info) returns them.
  returned: always
  type: list
  elements: dict
  sample:
    - id: 3474C1DD-0917-49F4-85F7-84B9E366719B
      type: Reboot
      status: Started
      resource_type: VirtualMachine
      resources: [web1]
      raw_resources: [web1]
      not_before: ""
      not_before_utc:
      notice:
      source: Platform
      description: Host server is undergoing maintenance.
      duration: -1
      affects_self: true
unusable_events:
  description: Entries of that document that can't be read, as M(cloudops.azure_maintenance.scheduled_events_info) returns them.
  returned: always
  type: list
  elements: dict
  sample:
    - position: 2
      id: 5A1C2F6B-0917-49F4-85F7-84B9E366719B
      reason: it has no Resources
      raw: '{"EventId": "5A1C2F6B-0917-49F4-85F7-84B9E366719B"}'
incarnation:
  description: The number of that document. V(null) before the first answer, or when it was empty.
  returned: always
  type: int
  sample: 33
resource_name:
  description:
    - The machine's own name as the metadata service has it, else O(resource_name). V(null) when it could not be determined,
      or when the two contradict each other.
  returned: always
  type: str
  sample: web1
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
  sample: 1.027
polls:
  description: How many requests for the document were made.
  returned: always
  type: int
  sample: 2
looked_at:
  description:
    - When the document was last seen, in UTC, by the clock of the metadata service where its answer says that, else by the machine's own.
      V(null) before the first answer.
  returned: always
  type: str
  sample: "2026-03-02T08:00:34Z"
failure:
  description: What went wrong, for a playbook to decide by. The kinds are those of M(cloudops.azure_maintenance.scheduled_events_info).
  returned: on failure
  type: dict
  contains:
    kind:
      description: The kind of failure, such as V(timeout), V(rejected), V(not_approved), V(interrupted) or V(unreachable).
      type: str
      sample: timeout
    status:
      description: The HTTP status, or V(null).
      type: int
      sample: 400
    url:
      description: The address that was asked, or V(null).
      type: str
      sample: http://169.254.169.254/metadata/scheduledevents?api-version=2020-07-01
"""

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._module import APPROVE_ARGUMENTS, run
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.approve import approve


def main():
    run(APPROVE_ARGUMENTS, approve)


if __name__ == "__main__":
    main()
