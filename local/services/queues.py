"""The queues of the local server, by SQS's JSON protocol (Amazon SQS API Reference, Making API requests).

Botocore does the same; importing it and making a client of it take a sixth of a second, which every command would wait.
Requests are not signed: the local server reads only the service and the region of a signature.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any

from local.errors import LocalError
from local.template.account import REGION

# More than the 20 s that a request waits for messages.
_SECONDS = 60.0
_HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "Authorization": f"AWS4-HMAC-SHA256 Credential=test/20260101/{REGION}/sqs/aws4_request",
}


class QueueServerError(LocalError):
    """The server of the queues has ended, or has refused a request."""


class Queues:
    """The queues of the server at `endpoint`; threads can share it."""

    def __init__(self, endpoint: str) -> None:
        self._address = endpoint.removeprefix("http://")

    def call(self, action: str, **members: Any) -> dict[str, Any]:
        """Request an action of SQS's API with these members, and return those of the response.

        Raises QueueServerError.
        """
        connection = HTTPConnection(self._address, timeout=_SECONDS)
        try:
            headers = {**_HEADERS, "X-Amz-Target": f"AmazonSQS.{action}"}
            connection.request("POST", "/", json.dumps(members), headers)
            response = connection.getresponse()
            body = response.read()
        except (OSError, HTTPException) as exc:
            raise QueueServerError(f"the queue server did not answer {action}: {exc}") from exc
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            raise QueueServerError(f"the queue server refused {action}: {body.decode(errors='replace')}")
        document: dict[str, Any] = json.loads(body or b"{}")
        for attribute in _list_attributes(document):
            if "BinaryValue" in attribute:
                attribute["BinaryValue"] = base64.b64decode(attribute["BinaryValue"])
        return document


def _list_attributes(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for message in document.get("Messages", ()):
        yield from message.get("MessageAttributes", {}).values()
