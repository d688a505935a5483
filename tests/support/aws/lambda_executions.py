"""Lambda's durable executions, as far as the start of productions uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "Invoke")


@dataclass
class FakeLambda:
    """Lambda as far as it is used here: executions by name; a name that comes again is the execution that has it.

    `fault` is raised by every call, and by looking up the execution `unknown`; `looked` is called whenever the state
    of an execution is requested.
    """

    executions: dict[str, str] = field(default_factory=dict)
    payloads: list[dict[str, Any]] = field(default_factory=list)
    fault: Exception | None = None
    unknown: str | None = None
    looked: Callable[[], object] = lambda: None

    def invoke(
        self, FunctionName: str, InvocationType: str, DurableExecutionName: str, Payload: bytes
    ) -> dict[str, Any]:
        """Start an execution."""
        if self.fault:
            raise self.fault
        assert (FunctionName, InvocationType) == ("arn:produce:live", "Event")
        if DurableExecutionName not in self.executions:
            self.executions[DurableExecutionName] = "RUNNING"
            self.payloads.append(json.loads(Payload))
        return {"StatusCode": 202, "DurableExecutionArn": f"arn:{DurableExecutionName}"}

    def get_durable_execution(self, DurableExecutionArn: str) -> dict[str, Any]:
        """The state of an execution."""
        self.looked()
        if self.fault:
            raise self.fault
        name = DurableExecutionArn.removeprefix("arn:")
        if name == self.unknown:
            raise refusal("TooManyRequestsException")
        if name not in self.executions:
            raise refusal("ResourceNotFoundException")
        return {"Status": self.executions[name]}
