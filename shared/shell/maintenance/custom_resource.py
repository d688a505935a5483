"""The answer that CloudFormation waits for after it called a custom resource.

Guaranteed: the block's outcome is answered as AWS documents it: in at most 4,096 bytes, and under an id that stays the
same, for another one would have CloudFormation delete what it then believes to be replaced. An answer that does not get
through is tried again, for `ANSWER_S` seconds at most.
Not guaranteed: that anything is answered by a function that is killed. What is done in the block ends `ANSWER_S` before
that, or the stack waits until its ServiceTimeout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import urllib3

from core.errors import ExhibitIngestError, UnavailableError
from shell.utils.db_errors import error_number

ANSWER_S = 30
MOST_BYTES = 4096
_TIMES, _TIMEOUT_S = 3, 3.0


@contextmanager
def answer(event: Mapping[str, Any]) -> Iterator[None]:
    """Report the block's success, or its failure, to the address in the event; without one, report nothing.

    A resource that does not answer blocks its stack, so a failure is reported before it is raised.
    Raises UnavailableError if the answer did not get through; Lambda then invokes the function again.
    """
    try:
        yield
    except Exception as error:
        _send(event, "FAILED", summary(error))
        raise
    _send(event, "SUCCESS", "")


def summary(error: Exception) -> str:
    """What an operator may read of it in the stack's events: our own messages hold no values, those of others may."""
    if isinstance(error, ExhibitIngestError):
        return str(error)
    number = error_number(error)
    return type(error).__name__ if number is None else f"{type(error).__name__} {number}"


def _send(event: Mapping[str, Any], status: str, reason: str) -> None:
    url = event.get("ResponseURL")
    if not url:
        return
    again = urllib3.Retry(_TIMES, backoff_factor=0.5, status_forcelist=(500, 502, 503, 504), allowed_methods=("PUT",))
    timeout = urllib3.Timeout(connect=_TIMEOUT_S, read=_TIMEOUT_S)
    body, headers = _body(event, status, reason), {"Content-Type": ""}
    try:
        answered = urllib3.request("PUT", str(url), body=body, headers=headers, timeout=timeout, retries=again)
    except urllib3.exceptions.HTTPError as exc:
        raise UnavailableError(f"CloudFormation was not reached with the answer {status}") from exc
    if answered.status >= 300:
        raise UnavailableError(f"CloudFormation's address refused the answer {status} with {answered.status}")


def _body(event: Mapping[str, Any], status: str, reason: str) -> str:
    log = "the rest is in the log of the function behind this resource"
    body = {
        "Status": status,
        "PhysicalResourceId": event.get("PhysicalResourceId") or "database-schema",
        **{name: event.get(name) for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    while len(text := json.dumps(body | {"Reason": f"{reason}; {log}" if reason else log})) > MOST_BYTES and reason:
        reason = reason[: len(reason) * 3 // 4]
    return text
