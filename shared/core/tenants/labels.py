"""The label of a tenant, which stands for it in log lines, in metrics and in the groups of messages.

Guaranteed: it is the tenant's id if that consists of ASCII letters, digits and punctuation, which all of them accept;
otherwise the SHA-256 of the id, in hexadecimal digits. The label of a label is that label.
Sources: Amazon SQS developer guide, "Using the MessageGroupId property"; CloudWatch API reference, "Dimension".
"""

from __future__ import annotations

import hashlib
import json
import re
from urllib.parse import unquote_plus

from core.imports.uploads import find_tenant

_PLAIN = re.compile(r"[!-~]{1,128}")


def build_label(tenant_id: str) -> str:
    """Return the label of a tenant."""
    return tenant_id if _PLAIN.fullmatch(tenant_id) else hashlib.sha256(tenant_id.encode()).hexdigest()


def find_label(body: str, group: str | None) -> str | None:
    """Return the label of the tenant of a message in SQS; None if it has none, or is not JSON.

    An event names its tenant, and S3 the key of an upload; any other message is in the group of its tenant.
    """
    try:
        document = json.loads(body)
    except ValueError:
        return None
    match document:
        case {"tenantId": str(tenant_id)}:
            found = tenant_id
        case {"Records": [{"s3": {"object": {"key": str(key)}}}, *_]}:
            found = find_tenant(unquote_plus(key))
        case _:
            found = group or ""
    return build_label(found) if found else None
