# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of Azure Event Grid about scheduled events, as a queue of Service Bus holds them and azure.azcollection.azure_service_bus hands them over.

Their fields are those of https://learn.microsoft.com/azure/virtual-machines/scheduled-events-event-grid (page of 2026-05-01, in preview), and of a published
capture of 2024 (operationalInfo, ids in lower case, one machine and its own id). Service Bus gets one object a message, no list.
"""

import time

TYPE = "Microsoft.ResourceNotifications.MaintenanceResources.ScheduledEventEmitted"
SUBSCRIPTION = "/subscriptions/62d72a8a-5a42-4a28-a1cc-70a836ae7955"
SCALE_SET = f"{SUBSCRIPTION}/resourcegroups/rg-web/providers/microsoft.compute/virtualmachinescalesets/web"


def message(event, *resources, status="Scheduled", minutes=0, number=1, of=SCALE_SET, **properties):
    """:arg minutes: how old it is
    :arg number: of the message; Azure may send one twice
    :arg of: the id of what the event belongs to
    """
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - 60 * minutes)) + ".2675752Z"
    whole = f"{of}/providers/microsoft.maintenance/scheduledevents/{event}"
    found = {
        "Description": "Virtual machine is undergoing maintenance",
        "DurationInSeconds": -1,
        "EventId": event,
        "EventSource": "Platform",
        "EventStatus": status,
        "EventType": "Reboot",
        "NotBefore": "" if status != "Scheduled" else "Mon, 19 Sep 2025 18:29:47 GMT",
        "ResourceType": "VirtualMachine",
        "Resources": list(resources),
        **properties,
    }
    about = {
        "id": whole,
        "location": "westus2",
        "name": event,
        "properties": found,
        "tags": {},
        "type": "microsoft.maintenance/scheduledevents",
    }
    body = {
        "data": {"apiVersion": "2020-03-01", "operationalInfo": {"resourceEventTime": at}, "resourceInfo": about},
        "dataVersion": "1",
        "eventTime": at,
        "eventType": TYPE,
        "id": f"6e9f8439-8bf5-48f1-805d-{number:012}",
        "metadataVersion": "1",
        "subject": whole,
        "topic": SUBSCRIPTION,
    }
    return {"body": body, "meta": {"message_id": body["id"]}}
