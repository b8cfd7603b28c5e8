# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""/metadata/attested/document: what a VM says of itself, signed by Azure. Here it is readable and unsigned: nobody can sign as Azure."""

import base64
import json
from datetime import datetime, timedelta, timezone
from typing import Any, Dict

from .answers import JSON, Answer
from .instance import compute
from .scenario import VmSpec

SINCE = "2018-10-01"
LIFETIME = timedelta(hours=6)


def answer_attested(spec: VmSpec, nonce: str, now: float) -> Answer:
    """GET /metadata/attested/document: in ``signature`` the document alone, as base64.

    :arg nonce: what the caller gave, or ""
    :arg now: Unix time
    """
    about = compute(spec)
    created = datetime.fromtimestamp(now, timezone.utc)
    document: Dict[str, Any] = {
        "nonce": nonce or created.strftime("%Y%m%d-%H%M%S"),
        "plan": {"name": "", "product": "", "publisher": ""},
        "sku": about["sku"],
        "subscriptionId": about["subscriptionId"],
        "timeStamp": {"createdOn": _text(created), "expiresOn": _text(created + LIFETIME)},
        "vmId": about["vmId"],
    }
    unsigned = base64.b64encode(json.dumps(document).encode("utf-8")).decode("ascii")
    return Answer(200, json.dumps({"encoding": "pkcs7", "signature": unsigned}).encode("utf-8"), JSON)


def _text(moment: datetime) -> str:
    return moment.strftime("%m/%d/%y %H:%M:%S -0000")
