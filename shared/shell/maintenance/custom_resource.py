"""Send CloudFormation the response that it waits for after it invoked a custom resource.

Guaranteed: the block's outcome is sent in the documented form (CloudFormation User Guide, custom resource response
objects): in at most 4,096 bytes, and with a physical id that never changes, since CloudFormation deletes a resource
whose id changes as replaced. A response that cannot be delivered is retried for at most `RESPONSE_S` seconds. An
invocation whose response arrived ends without an error, so that Lambda invokes the function again only for one that was
killed or could not respond.
Not guaranteed: a response from an invocation that is killed. Work in the block must end `RESPONSE_S` seconds before
that; otherwise Lambda's two further attempts respond.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import urllib3

from core.errors import ExhibitIngestError, UnavailableError
from shell.db.errors import error_number
from shell.observability import log_failure

RESPONSE_S = 30
MAX_BYTES = 4096
_RETRIES, _TIMEOUT_S = 3, 3.0


class ContinuedError(ExhibitIngestError):
    """Another invocation does the rest of the work, and responds."""


@contextmanager
def respond(event: Mapping[str, Any]) -> Iterator[None]:
    """Send the block's success or failure to the event's ResponseURL; nothing if it raises ContinuedError.

    A failure that was sent is logged and not raised; without a ResponseURL it is raised.
    Raises UnavailableError if the response could not be delivered; Lambda then invokes the function again.
    """
    try:
        yield
    except ContinuedError:
        return
    except Exception as error:
        if not event.get("ResponseURL"):
            raise
        _send(event, "FAILED", summarize_error(error))
        log_failure(error)
        return
    if event.get("ResponseURL"):
        _send(event, "SUCCESS", "")


def summarize_error(error: Exception) -> str:
    """Return the message for the stack's events: this application's own, or the type and number of any other error.

    Only this application's messages are certain to contain no values of documents.
    """
    if isinstance(error, ExhibitIngestError):
        return str(error)
    number = error_number(error)
    return type(error).__name__ if number is None else f"{type(error).__name__} {number}"


def _send(event: Mapping[str, Any], status: str, reason: str) -> None:
    retries = urllib3.Retry(
        _RETRIES, backoff_factor=0.5, status_forcelist=(500, 502, 503, 504), allowed_methods=("PUT",)
    )
    timeout = urllib3.Timeout(connect=_TIMEOUT_S, read=_TIMEOUT_S)
    url, headers = str(event["ResponseURL"]), {"Content-Type": ""}
    body = _format_body(event, status, reason.removesuffix("."))
    try:
        response = urllib3.request("PUT", url, body=body, headers=headers, timeout=timeout, retries=retries)
    except urllib3.exceptions.HTTPError as exc:
        raise UnavailableError(f"The response {status} could not be sent to CloudFormation.") from exc
    if response.status >= 300:
        raise UnavailableError(
            f"CloudFormation's response URL returned HTTP {response.status} for the response {status}."
        )


def _format_body(event: Mapping[str, Any], status: str, reason: str) -> str:
    log = "details are in the log of this resource's function"
    body = {
        "Status": status,
        "PhysicalResourceId": event.get("PhysicalResourceId") or "database-schema",
        **{name: event.get(name) for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    while len(text := json.dumps(body | {"Reason": f"{reason}; {log}" if reason else log})) > MAX_BYTES and reason:
        reason = reason[: len(reason) * 3 // 4]
    return text
