"""What a tenant may do, by its status.

Guaranteed: a tenant that is not active writes nothing by the API; one that is suspended reads nothing either, and one
that is suspended or leaving starts nothing.
The purge of a case begins for an active tenant only.
Not guaranteed: that work ends which has started. It goes on to its end, whatever the status becomes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from core.tenants.errors import TenantRefusedError
from core.tenants.limits import NO_LIMITS, Limits


class TenantStatus(StrEnum):
    """The status of a tenant: it works, only reads, does neither, or only reads while it moves to another stack."""

    ACTIVE = "active"
    READ_ONLY = "read_only"
    SUSPENDED = "suspended"
    LEAVING = "leaving"


_SENTENCES = {
    TenantStatus.READ_ONLY: "Your tenant is read-only",
    TenantStatus.SUSPENDED: "Your tenant is suspended",
    TenantStatus.LEAVING: "Your tenant is moving to another place and is read-only here",
}


@dataclass(frozen=True)
class Tenant:
    """A tenant as its row describes it; `reason` is for its users, None if no reason was given."""

    tenant_id: str
    status: TenantStatus = TenantStatus.ACTIVE
    reason: str | None = None
    limits: Limits = field(default=NO_LIMITS)

    @property
    def starts_work(self) -> bool:
        """Whether work that was requested starts; else it is postponed. A read-only tenant has it end."""
        return self.status in (TenantStatus.ACTIVE, TenantStatus.READ_ONLY)

    @property
    def takes_uploads(self) -> bool:
        """Whether a file becomes an import that no request has announced; else its event is postponed."""
        return self.status is TenantStatus.ACTIVE

    def require(self, *, writes: bool) -> None:
        """Raise TenantRefusedError if the status refuses a request that writes, or one that reads."""
        if self.status is TenantStatus.SUSPENDED or (writes and self.status is not TenantStatus.ACTIVE):
            reason = f": {self.reason.rstrip('.')}" if self.reason else ""
            raise TenantRefusedError(f"{_SENTENCES[self.status]}{reason}. Ask the operator of this deployment.")
