"""What the steps of a smoke test share."""

from __future__ import annotations

from dataclasses import dataclass, field

from tools.smoke.client import Api
from tools.smoke.target import Target


@dataclass
class Trial:
    """What the steps share: the stack, a tenant of this run's own, its users, and what earlier steps made."""

    target: Target
    tenant: str
    admin: Api = field(init=False)
    import_id: int = 0
    exhibits: dict[str, int] = field(default_factory=dict)

    def log_in(self, tenant: str, role: str) -> Api:
        """Return the API for a user of a tenant."""
        return Api(self.target["ApiUrl"], self.target.get_token(tenant, role))
