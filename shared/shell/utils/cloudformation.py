"""The answer that CloudFormation waits for after it called a custom resource."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import urllib3


@contextmanager
def answer(event: Mapping[str, Any]) -> Iterator[None]:
    """Report the block's success, or its failure, to the address in the event; without one, report nothing.

    A resource that does not answer blocks its stack for an hour, so a failure is reported before it is raised.
    """
    try:
        yield
    except Exception as error:
        _send(event, "FAILED", type(error).__name__)
        raise
    _send(event, "SUCCESS", "")


def _send(event: Mapping[str, Any], status: str, reason: str) -> None:
    url = event.get("ResponseURL")
    if not url:
        return
    body = {
        "Status": status,
        "Reason": reason or "see the function's log",
        "PhysicalResourceId": event.get("PhysicalResourceId") or "database-schema",
        **{name: event.get(name) for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    urllib3.request("PUT", str(url), body=json.dumps(body), headers={"Content-Type": ""}, timeout=10.0)
