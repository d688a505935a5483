"""The durations that the application keeps as constants, on the torture's scale.

What the template says goes through the stack's time scale; leases and pauses stand in the code. Here an hour is some
seconds, in the same order of lengths: a publisher's lease is longer than a call, a claim's longer than a request.
"""

from __future__ import annotations

import os

from shell import claiming_ops, failed_import_ops, import_ops, invocation, publishing_ops
from shell.utils import idempotency, redis_client

SHORT_LEASES = "TORTURE_SHORT_LEASES"
LEASE_S = 1.0


def quicken() -> None:
    """Shorten them, in this process and for good.

    In a run with short leases a claim of an Idempotency-Key ends while its owner may be at work, as it does where a
    host was frozen: only the owner's fence then keeps two from the effect.
    """
    claiming_ops.LEASE_S, claiming_ops.LONGEST_PAUSE_S = 3, 1
    publishing_ops.SAFE_S = 1.0
    invocation.MARGIN_S = 0.5
    idempotency.MARGIN_S = 0.5  # type: ignore[attr-defined]
    import_ops.SPLITTING_S, failed_import_ops.GIVING_UP_S = 4, 3
    redis_client.REST_S = 0.3
    if os.environ.get(SHORT_LEASES):
        idempotency._lease_s = lambda: LEASE_S
