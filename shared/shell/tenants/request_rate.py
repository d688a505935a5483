"""The limit of requests a second: approximate.

With Redis, the requests of a tenant are counted by the second of this process's clock, over all processes; clocks
differ, so that two seconds' requests can pass in one. Without an answer from Redis, or without Redis, each process
counts its own: Lambda runs one request at a time in each, so that the limit is then reached only by short requests.
"""

from __future__ import annotations

import time
from typing import Any

from core.tenants.errors import TooManyRequestsError
from core.tenants.status import Tenant
from shell.utils import redis_client

# A second, and the difference of clocks.
_KEPT_S = 5
# The second and the number of requests in it, by tenant.
_counted: dict[str, tuple[int, int]] = {}


def count_request(tenant: Tenant) -> None:
    """Count a request; raise TooManyRequestsError if the tenant has sent more in this second than its limit."""
    limit = tenant.limits.requests_per_second
    if limit is not None and _count(tenant.tenant_id, int(time.time())) > limit:
        raise TooManyRequestsError(
            f"Your tenant may send about {limit} requests a second. Send this one again after the time in Retry-After.",
            retry_after_s=1,
        )


def _count(tenant_id: str, second: int) -> int:
    if redis_client.is_configured():
        try:
            return _count_everywhere(f"rate:{tenant_id}:{second}")
        except redis_client.RedisUnavailableError:
            pass
    counted_in, count = _counted.get(tenant_id, (second, 0))
    _counted[tenant_id] = second, (count if counted_in == second else 0) + 1
    return _counted[tenant_id][1]


def _count_everywhere(key: str) -> int:
    def increment(client: Any) -> Any:
        pipeline = client.pipeline(transaction=False)
        pipeline.incr(key)
        pipeline.expire(key, _KEPT_S)
        return pipeline.execute()

    return int(redis_client.execute(increment)[0])
