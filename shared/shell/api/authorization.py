"""Authorization: the caller of a request, and whether the route that it matches is open to them.

Guaranteed: no handler runs unless the token names a tenant and a user that can be stored, and has the role that the
route declares; the handlers themselves check neither. A request is refused for its token before it is refused for its
content. A token that is limited to cases (`Caller.cases`) gets to no route that does not keep them apart; the others do
so by `shell.exhibits.cases`. No handler runs for a tenant that is suspended, that is over its limit of requests a
second, or that does not exist and may not be created by a request.
Not guaranteed: that the token is genuine. API Gateway's authorizer verifies it on every route.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from core.caller import Caller
from core.errors import ForbiddenError
from core.roles import Role, parse_role, require_role
from shell.api.resolver import ApiResolver
from shell.observability import name_tenant
from shell.settings import settings
from shell.tenants.first_use import require_tenant
from shell.tenants.request_rate import count_request

CALLER, GRANT = "caller", "grant"


@dataclass(frozen=True)
class Grant:
    """What the token of a request grants: a role, until a time in UTC, which is None if the token does not say."""

    role: Role
    expires_at: datetime | None


def authorize(app: ApiResolver, next_middleware: NextMiddleware) -> Response[str]:
    """Run the handler of the matched route for a caller whom it is open to. Raises what `require_access` raises."""
    require_access(app)
    return next_middleware(app)


def require_access(app: ApiResolver) -> None:
    """Set the caller of the request, to whom the matched route must be open; an unknown route has nothing to protect.

    Raises ForbiddenError for a token without a tenant or a user that can be stored, for one without cases if these are
    required, and for one that is limited to cases where the route does not tell them apart; RoleMissingError;
    TenantRefusedError for a tenant that is suspended or does not exist; TooManyRequestsError.
    """
    operation = app.operations.get((app.request.method, app.request.route))
    if operation is not None:
        claims, names = _get_claims(app.request.resolved_event), settings()
        # Without a caller in the context, no handler can run.
        caller = Caller.from_claims(
            claims,
            names.tenant_claim,
            names.cases_claim,
            cases_required=names.cases_required,
            name_claim=names.user_name_claim,
        )
        app.context[CALLER] = caller
        name_tenant(caller.tenant_id)
        role = parse_role(claims.get(names.roles_claim), names.default_role, names.roles_prefix)
        granted = require_role(role, operation.role)
        app.context[GRANT] = Grant(granted, _parse_expiry(claims.get("exp")))
        if caller.cases is not None and not operation.is_by_case:
            raise ForbiddenError("This request concerns the whole tenant, and your token is limited to cases.")
        # Last: only what is allowed otherwise creates a tenant, and counts.
        tenant = require_tenant(caller.tenant_id)
        tenant.require(writes=False)
        count_request(tenant)


def _get_claims(event: Mapping[str, Any]) -> Mapping[str, Any]:
    context = event.get("requestContext") or {}
    claims: Mapping[str, Any] = ((context.get("authorizer") or {}).get("jwt") or {}).get("claims") or {}
    return claims


def _parse_expiry(claim: object) -> datetime | None:
    """Return the time of the claim `exp` (RFC 7519, section 4.1.4), which API Gateway passes on as text."""
    try:
        return datetime.fromtimestamp(int(float(str(claim))), UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None
