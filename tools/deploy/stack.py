"""One stack of CloudFormation, as far as a guarded deployment asks for it."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient

# Nothing can be done with such a stack but to delete it.
_NEVER_CREATED = {"CREATE_FAILED", "ROLLBACK_IN_PROGRESS", "ROLLBACK_FAILED", "ROLLBACK_COMPLETE"}


class State(Enum):
    """What a deployment has to know of a stack."""

    MISSING = auto()
    CREATED = auto()
    # Its first deployment failed.
    NEVER_CREATED = auto()


class Stack:
    """A stack by its name, which need not exist."""

    def __init__(self, client: CloudFormationClient, name: str) -> None:
        self._client, self.name = client, name

    def read_state(self) -> State:
        """Return in what state the stack is; one whose creation was only planned is missing."""
        try:
            (described,) = self._client.describe_stacks(StackName=self.name)["Stacks"]
        except ClientError as error:
            if "does not exist" in error.response["Error"]["Message"]:
                return State.MISSING
            raise
        status = described["StackStatus"]
        if status == "REVIEW_IN_PROGRESS":
            return State.MISSING
        return State.NEVER_CREATED if status in _NEVER_CREATED else State.CREATED

    def list_change_sets(self) -> set[str]:
        """Return the ids of the change sets that can be executed."""
        pages = self._client.get_paginator("list_change_sets").paginate(StackName=self.name)
        found = [each for page in pages for each in page["Summaries"]]
        return {each["ChangeSetId"] for each in found if each["Status"] == "CREATE_COMPLETE"}

    def list_changes(self, change_set: str) -> list[Any]:
        """Return the changes of a change set."""
        pages = self._client.get_paginator("describe_change_set").paginate(ChangeSetName=change_set)
        return [change for page in pages for change in page["Changes"]]

    def delete_change_set(self, change_set: str) -> None:
        """Delete a change set that is not executed."""
        self._client.delete_change_set(ChangeSetName=change_set)

    def set_policy(self, policy: str) -> None:
        """Set the stack policy, which replaces the one before."""
        self._client.set_stack_policy(StackName=self.name, StackPolicyBody=policy)
