"""Sends the events of events/ to built functions, with what must be known of this machine's world filled in.

The one place where events are changed: ids of what a test prepared, the local bucket, the version that was uploaded,
and the address that CloudFormation is answered at. All else arrives as AWS sends it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

import requests

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from shell.aws import clients
from tests.support.application.driver import World

EVENTS = REPOSITORY / "events"
# Nothing takes so long but what never comes.
PATIENCE_S, HTTP_S = 300, 120


def event_of(handler: str) -> dict[str, Any]:
    """A function's event, given the name of its handler's module."""
    return dict(json.loads((EVENTS / f"{handler}.json").read_text(encoding="utf-8")))


def logical_id(handler: str) -> str:
    """The function's name in the template."""
    return "".join(part.capitalize() for part in handler.split("_")) + "Function"


@dataclass
class Sender:
    """The stack whose functions are invoked, and the world that they work in."""

    stack: LocalStack
    world: World

    def send(self, handler: str, **known: Any) -> Any:
        """Invoke the handler's function with its event, in which these members are filled in; gives the answer."""
        return self.stack.invoke(logical_id(handler), self.event(handler, **known))

    def event(self, handler: str, **known: Any) -> dict[str, Any]:
        """The event; the members are its message's where it comes from a queue."""
        event = event_of(handler)
        for record in event.get("Records", []):
            body = json.dumps(_replaced(json.loads(record["body"]), known))
            record |= {"body": body, "md5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()}
        return event if "Records" in event else _replaced(event, known)

    def upload(self, handler: str, data: bytes) -> dict[str, Any]:
        """Put the object that the handler's event speaks of; gives what it must say of it."""
        [record] = json.loads(event_of(handler)["Records"][0]["body"])["Records"]
        key = unquote_plus(record["s3"]["object"]["key"])
        put = clients.s3().put_object(Bucket=self.world.bucket, Key=key, Body=data)
        bucket = {**record["s3"]["bucket"], "name": self.world.bucket}
        stored = {"size": len(data), "eTag": put["ETag"].strip('"'), "versionId": put["VersionId"]}
        s3 = {**record["s3"], "bucket": bucket, "object": {**record["s3"]["object"], **stored}}
        return {"Records": [{**record, "s3": s3}]}

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"not so after {PATIENCE_S} s: {what}; {self.stack.failures()}"
            time.sleep(0.05)


def _replaced(message: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The message with other values of members that it has: a name that is not there would change nothing."""
    unknown = set(known) - set(message)
    assert not unknown, f"{unknown} are not in {set(message)}"
    return {**message, **known}


class Api:
    """The API of a stack, as a user of the tenant calls it."""

    def __init__(self, stack: LocalStack) -> None:
        self._stack = stack

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The body of the answer; the request must succeed."""
        reply = self.answer(method, path, body)
        assert reply.ok, reply.text
        return reply.json()

    def answer(self, method: str, path: str, body: Any = None) -> requests.Response:
        """The answer, whatever its status is."""
        token = self._stack.tokens.issue("tenant", "ada")
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": secrets.token_hex(8)}
        return requests.request(method, self._stack.api_url + path, json=body, headers=headers, timeout=HTTP_S)
