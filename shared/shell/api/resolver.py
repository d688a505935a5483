"""The resolver of the API's routes, which also keeps how each route was declared.

Guaranteed: every route declares the role that it requires, or cannot be registered. Reading a declaration needs only
the public interface of Powertools. Type hints are evaluated when a request
first needs them, not when a handler is imported.
Not guaranteed: that two requests of one process may run at once. Powertools' resolver holds the current request, and
Lambda sends one at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import BaseModel

from core.contracts.common import RequestModel
from core.roles import Role

OPERATIONS = "operations"


@dataclass(frozen=True)
class Operation:
    """A route as it was declared; `path` has its parameters in braces, `role` is the least powerful that may use it."""

    method: str
    path: str
    role: Role
    is_by_case: bool
    handler: Callable[..., Any]
    responses: Mapping[int, OpenAPIResponse]

    @cached_property
    def _hints(self) -> list[Any]:
        return list(get_type_hints(self.handler, include_extras=True).values())

    @cached_property
    def query_models(self) -> list[type[BaseModel]]:
        """The models of the query parameters."""
        annotated = [get_args(hint) for hint in self._hints if get_origin(hint) is Annotated]
        return [model for model, *metadata in annotated if any(isinstance(each, Query) for each in metadata)]

    @cached_property
    def takes_object(self) -> bool:
        """Whether the body is a JSON object, rather than an array or missing."""
        return any(isinstance(hint, type) and issubclass(hint, RequestModel) for hint in self._hints)


class ApiResolver(APIGatewayHttpResolver):
    """An HTTP API resolver with `operations`: the declared routes, by method and path.

    `is_by_case` is whether everything that its routes read and write belongs to a case.
    """

    def __init__(self, *, is_by_case: bool = True, **options: Any) -> None:
        self._is_by_case = is_by_case
        self.operations: dict[tuple[str, str], Operation] = {}
        super().__init__(**options)

    def route(self, rule: str, method: Any, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
        """Return the decorator that registers a handler, as Powertools does, and that keeps its declaration.

        Raises TypeError for a route without `security` of one role.
        """
        register = super().route(rule, method, *arguments, **options)
        given = inspect.signature(super().route).bind(rule, method, *arguments, **options).arguments
        role = _read_role(f"{method} {rule}", given.get("security"))
        path = rule.replace("<", "{").replace(">", "}")

        def keep(handler: Callable[..., Any]) -> Callable[..., Any]:
            responses = given.get("responses") or {}
            self.operations[method, path] = Operation(method, path, role, self._is_by_case, handler, responses)
            return register(handler)

        return keep


def _read_role(route: str, security: Any) -> Role:
    match security:
        case [{"token": [str(name)]}]:
            return Role(name)
    raise TypeError(f"{route} declares no role; add for_viewers, for_editors or for_admins of shell.api.app")
