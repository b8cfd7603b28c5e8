# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""/metadata/versions and /metadata/instance: enough of them for a VM to learn who it is.

Everything below /metadata/instance is a text, and "" when there is nothing to say (unlike scheduled events).
"""

import ipaddress
import json
import uuid
from typing import Any, Dict, List, Optional, Sequence

from .answers import JSON, TEXT, Answer, error
from .scenario import VmSpec

VERSIONS = (
    "2017-03-01",
    "2017-04-02",
    "2017-08-01",
    "2017-10-01",
    "2017-12-01",
    "2018-02-01",
    "2018-04-02",
    "2018-10-01",
    "2019-02-01",
    "2019-03-11",
    "2019-04-30",
    "2019-06-01",
    "2019-06-04",
    "2019-08-01",
    "2019-08-15",
    "2019-11-01",
    "2020-06-01",
    "2020-07-15",
    "2020-09-01",
    "2020-10-01",
    "2020-12-01",
    "2021-01-01",
    "2021-02-01",
    "2021-03-01",
    "2021-05-01",
    "2021-10-01",
    "2021-11-01",
    "2021-11-15",
    "2021-12-13",
    "2022-01-01",
    "2023-07-01",
    "2023-11-15",
    "2024-03-15",
    "2024-07-17",
    "2025-04-07",
)
NEWEST = tuple(reversed(VERSIONS[-3:]))

SINCE = {  # what the first version of /instance did not have yet
    "placementGroupId": "2017-08-01",
    "resourceGroupName": "2017-08-01",
    "subscriptionId": "2017-08-01",
    "tags": "2017-08-01",
    "tagsList": "2019-06-04",
    "vmScaleSetName": "2017-12-01",
    "zone": "2017-12-01",
    "resourceId": "2019-03-11",
    "priority": "2020-12-01",
    "osProfile": "2020-07-15",
    "evictionPolicy": "2020-12-01",
    "virtualMachineScaleSet": "2021-03-01",
}
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
NAMESPACE = uuid.UUID("5f0c1d3e-6d0c-4c0e-9a55-7d1f0d6f6f11")


def guid(*words: str) -> str:
    """The same GUID for the same words, always."""
    return str(uuid.uuid5(NAMESPACE, "/".join(words)))


def compute(spec: VmSpec) -> Dict[str, Any]:
    """What a VM learns about itself, in the newest version."""
    group = str(spec.compute.get("resourceGroupName", "rehearsal"))
    provider = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Compute"
    scale_set = f"{provider}/virtualMachineScaleSets/{spec.scale_set}"
    instance_id = _instance_id(spec)
    members: Dict[str, Any] = {
        "azEnvironment": "AzurePublicCloud",
        "evictionPolicy": "",
        "location": spec.location,
        "name": spec.name,
        "offer": "",
        "osProfile": {
            "adminUsername": "azureuser",
            "computerName": spec.computer_name,
            "disablePasswordAuthentication": "true",
        },
        "osType": "Linux",
        "placementGroupId": spec.placement_group or (guid("placement group", spec.scope) if spec.scale_set else ""),
        "platformFaultDomain": "0",
        "platformUpdateDomain": "0",
        "priority": "Regular",
        "publisher": "",
        "resourceGroupName": group,
        "resourceId": f"{scale_set}/virtualMachines/{instance_id}"
        if instance_id
        else f"{provider}/virtualMachines/{spec.name}",
        "sku": "",
        "subscriptionId": SUBSCRIPTION,
        "tags": "",
        "version": "",
        "virtualMachineScaleSet": {"id": scale_set if spec.scale_set and not instance_id else ""},
        "vmId": guid("vm", spec.name.lower()),
        "vmScaleSetName": spec.scale_set,
        "vmSize": "Standard_D2s_v5",
        "zone": "",
    }
    members.update(spec.compute)
    return {"tagsList": _tags_list(str(members["tags"])), **members}


def _tags_list(tags: str) -> List[Dict[str, str]]:
    """Tags are a text such as ``team:web;stage:production``, and a list of their names and values."""
    pairs = [tag.partition(":") for tag in tags.split(";") if tag]
    return [{"name": name, "value": value} for name, _colon, value in pairs]


def _instance_id(spec: VmSpec) -> str:
    """The number of an instance of a Uniform scale set, whose VMs are named SCALESET_NUMBER (S5); else ""."""
    scale_set, _mark, number = spec.name.rpartition("_")
    uniform = spec.scale_set and scale_set.lower() == spec.scale_set.lower() and number.isdigit()
    return number if uniform else ""


def instance(spec: VmSpec, version: str) -> Dict[str, Any]:
    """The whole tree that a version shows."""
    shown = {key: value for key, value in compute(spec).items() if SINCE.get(key, "") <= version}
    return {"compute": shown, "network": {"interface": [_interface(spec)]}}


def _interface(spec: VmSpec) -> Dict[str, Any]:
    """Its only one, in a subnet of 256 addresses."""
    four = [address for address in spec.addresses if ":" not in address]
    six = [address for address in spec.addresses if ":" in address]
    network = ipaddress.ip_network(f"{four[0]}/24", strict=False).network_address if four else ""
    return {
        "ipv4": {
            "ipAddress": [{"privateIpAddress": address, "publicIpAddress": ""} for address in four],
            "subnet": [{"address": str(network), "prefix": "24"}] if four else [],
        },
        "ipv6": {"ipAddress": [{"privateIpAddress": address} for address in six]},
        "macAddress": "000D3A" + guid("interface", spec.name.lower())[:6].upper(),
    }


def _below(tree: Any, steps: Sequence[str]) -> Any:
    """The node at a path, names in any case; None when there is none."""
    for step in steps:
        if isinstance(tree, dict):
            tree = next((value for name, value in tree.items() if name.lower() == step.lower()), None)
        elif isinstance(tree, list) and step.isdigit() and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return None
    return tree


def _listing(node: Any) -> str:
    keys = list(node) if isinstance(node, dict) else range(len(node))
    return "\n".join(f"{key}/" if isinstance(node[key], (dict, list)) else str(key) for key in keys)


def answer_instance(spec: VmSpec, version: str, steps: Sequence[str], form: Optional[str]) -> Answer:
    """GET /metadata/instance/...: JSON of a folder; of a leaf its text, which must be asked for."""
    node = _below(instance(spec, version), steps)
    if node is None:
        return error(404, "Not found")
    leaf = not isinstance(node, (dict, list))
    wanted = (form or "json").lower()
    if wanted == "text":
        return Answer(200, (str(node) if leaf else _listing(node)).encode("utf-8"), TEXT)
    if wanted != "json" or leaf:
        return error(
            400, "Bad request. The requested format is not supported here: format=text is needed for a single value"
        )
    return Answer(200, json.dumps(node, separators=(",", ":"), ensure_ascii=False).encode("utf-8"), JSON)


def answer_versions() -> Answer:
    """GET /metadata/versions."""
    return Answer(200, json.dumps({"apiVersions": VERSIONS}, separators=(",", ":")).encode("utf-8"), JSON)
