"""Requests to the API about volumes, as a user of this machine."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from exhibit_ingest.stack_parts import HasApi
from exhibit_ingest.volumes.arguments import name_arguments
from local.errors import LocalError

USER = "exhibit-ingest"
Document = dict[str, Any]


class ConflictError(LocalError):
    """Something was declared or sent before, and is another one."""


class VolumeApi:
    """The API of a stack, for one tenant."""

    def __init__(self, stack: HasApi, tenant: str) -> None:
        self._stack, self._tenant = stack, tenant

    def request(self, method: str, path: str, body: object = None) -> Document:
        """Send a request and return the document of the response.

        Raises LocalError with what the API says, which is a ConflictError for the status 409.
        """
        status, raw = self._stack.request_api(self._tenant, USER, method, path, body)
        document: Document = json.loads(raw or b"{}")
        if status >= HTTPStatus.BAD_REQUEST:
            reasons = [f"{each['location']}: {each['message']}" for each in document.get("errors") or []]
            detail = "; ".join(reasons) or document.get("detail") or f"the API returned {status}"
            refused = ConflictError if status == HTTPStatus.CONFLICT else LocalError
            raise refused(f"the volume cannot be imported: {name_arguments(detail)}")
        return document
