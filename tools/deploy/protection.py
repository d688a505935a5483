"""What of a stack holds data, what a change set would do to it, and the stack policy that prevents it.

The policy is deploy/stack-policy.json, by types of resources: CloudFormation refuses a policy that names a resource
which the stack does not have, and some parameters leave resources out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_POLICY = Path(__file__).parents[2] / "deploy" / "stack-policy.json"


@dataclass(frozen=True)
class Loss:
    """A resource that holds data and that a deployment would replace or remove."""

    name: str
    kind: str
    is_removed: bool
    # The properties whose change replaces it.
    causes: tuple[str, ...]

    def __str__(self) -> str:
        if self.is_removed:
            return f"{self.name} ({self.kind}) would be removed from the stack."
        because = f", because {' and '.join(self.causes)} changes" if self.causes else ""
        return f"{self.name} ({self.kind}) would be replaced by an empty one{because}."


def build_policy(unprotected: Collection[str] = ()) -> str:
    """Return the stack policy as JSON, without the types in `unprotected`."""
    policy = json.loads(_POLICY.read_text(encoding="utf-8"))
    condition = policy["Statement"][1]["Condition"]["StringEquals"]
    condition["ResourceType"] = [kind for kind in condition["ResourceType"] if kind not in unprotected]
    if not condition["ResourceType"]:
        del policy["Statement"][1]
    return json.dumps(policy)


def list_protected() -> frozenset[str]:
    """Return the types of the resources that hold data."""
    policy = json.loads(_POLICY.read_text(encoding="utf-8"))
    return frozenset(policy["Statement"][1]["Condition"]["StringEquals"]["ResourceType"])


def find_losses(changes: Iterable[Mapping[str, Any]]) -> Iterator[Loss]:
    """Yield what the changes of a change set (DescribeChangeSet) certainly replace or remove of what holds data.

    Where `Replacement` is `Conditional`, CloudFormation decides during the deployment, as for what refers to a changed
    resource; then the stack policy refuses a replacement, and the deployment is rolled back.
    """
    protected = list_protected()
    for change in changes:
        resource = change.get("ResourceChange", {})
        is_removed = resource.get("Action") == "Remove"
        if resource.get("ResourceType") in protected and (is_removed or resource.get("Replacement") == "True"):
            causes = tuple(sorted(set(_list_causes(resource))))
            yield Loss(resource["LogicalResourceId"], resource["ResourceType"], is_removed, causes)


def _list_causes(resource: Mapping[str, Any]) -> Iterator[str]:
    targets = (detail.get("Target", {}) for detail in resource.get("Details", []))
    return (target["Name"] for target in targets if target.get("RequiresRecreation") == "Always" and "Name" in target)
