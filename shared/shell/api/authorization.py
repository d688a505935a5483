"""Authorization: the caller of a request, and whether the route that it matches is open to them.

Guaranteed: no handler runs unless the token names a tenant and a user that can be stored, and has the role that the
route declares; the handlers themselves check neither.
Not guaranteed: that the token is genuine. API Gateway's authorizer verifies it on every route. Nor that a request is
refused for its role before it is refused for its content: a body is validated first, which discloses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from core.caller import Caller
from core.roles import parse_role, require_role
from shell.api.resolver import ApiResolver
from shell.settings import settings

CALLER = "caller"


def authorize(app: ApiResolver, next_middleware: NextMiddleware) -> Response[str]:
    """Run the handler of the matched route for a caller whom it is open to; an unknown route has nothing to protect.

    Raises ForbiddenError for a token without a tenant or a user that can be stored, and RoleMissingError.
    """
    operation = app.operations.get((app.request.method, app.request.route))
    if operation is not None:
        claims = _get_claims(app.request.resolved_event)
        # Without a caller in the context, no handler can run.
        app.context[CALLER] = Caller.from_claims(claims, settings().tenant_claim)
        require_role(parse_role(claims.get(settings().roles_claim), settings().default_role), operation.role)
    return next_middleware(app)


def _get_claims(event: Mapping[str, Any]) -> Mapping[str, Any]:
    context = event.get("requestContext") or {}
    claims: Mapping[str, Any] = ((context.get("authorizer") or {}).get("jwt") or {}).get("claims") or {}
    return claims
