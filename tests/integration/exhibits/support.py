"""What the tests of exhibits, custodians and taggings do again and again: a caller, requests."""

from __future__ import annotations

from core.caller import Caller
from core.contracts.exhibits import TaggingRequest

CALLER = Caller(tenant_id="tenant", user_id="reviewer")


def tagging(exhibit_ids: list[int], *tags: str) -> TaggingRequest:
    """A request as a client sends it."""
    return TaggingRequest.model_validate({"exhibitIds": exhibit_ids, "tags": list(tags)})
