"""Print how many bytes the environment of each function has with the longest names and parameters.

"The total size of all environment variables doesn't exceed 4 KB" (AWS Lambda Developer Guide, Environment variables);
Lambda measures them as a JSON object. Names and ids that AWS makes have their greatest length here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.template.conditions import apply_conditions
from local.template.intrinsics import resolve
from tools.check_template import transform
from tools.stack_names import LONGEST_STACK_NAME

LIMIT = 4_096
_TEMPLATE = Path(__file__).parents[1] / "template.yaml"
_STACK, _ACCOUNT, _REGION = "s" * LONGEST_STACK_NAME, "1" * 12, "ap-southeast-1"
_PSEUDO = {
    "AWS::StackName": _STACK,
    "AWS::AccountId": _ACCOUNT,
    "AWS::Region": _REGION,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackId": f"arn:aws:cloudformation:{_REGION}:{_ACCOUNT}:stack/{_STACK}/{'x' * 36}",
}
# With every resource that an environment can refer to.
_CHOICES = {"CacheNodeType": "cache.t4g.small", "DatabaseProxy": "true", "AlarmEmail": "none"}


def measure(transformed: Mapping[str, Any]) -> dict[str, int]:
    """Return the bytes of each function's environment in the transformed template by its logical id."""
    values = {name: _longest(each) for name, each in transformed["Parameters"].items()} | _PSEUDO | _CHOICES
    resources = apply_conditions(transformed, values)["Resources"]

    def look_up(name: str, attribute: str | None) -> str:
        return values[name] if name in values else _longest_name(resources[name]["Type"], name, attribute)

    functions = {name: each for name, each in resources.items() if each["Type"] == "AWS::Lambda::Function"}
    environments = {name: each["Properties"]["Environment"]["Variables"] for name, each in functions.items()}
    return {name: _count(resolve(variables, look_up)) for name, variables in environments.items()}


def _count(variables: Mapping[str, Any]) -> int:
    return len(json.dumps(variables, separators=(",", ":"), ensure_ascii=False).encode())


def _longest(declared: Mapping[str, Any]) -> str:
    """Return a value of a parameter that is as long as its declaration allows; the default where this is open."""
    choices = [str(each) for each in declared.get("AllowedValues", [])] + [str(declared.get("MaxValue", ""))]
    if limit := re.search(r"\{\d+,(\d+)\}$", declared.get("AllowedPattern", "")):
        choices.append("x" * (int(limit[1]) + 1))
    return max([*choices, str(declared.get("Default", ""))], key=len)


def _longest_name(kind: str, name: str, attribute: str | None) -> str:
    """Return a name, address or ARN of a resource as long as AWS makes them."""
    made = f"{_STACK}-{name}-{'x' * 12}"
    if kind == "AWS::SQS::Queue":
        return f"https://sqs.{_REGION}.amazonaws.com/{_ACCOUNT}/{made[:80]}"
    if attribute and attribute.endswith(("Address", "Endpoint")):
        return f"{made[:63]}.cluster-custom-{'x' * 12}.{_REGION}.rds.amazonaws.com"
    return f"arn:aws:secretsmanager:{_REGION}:{_ACCOUNT}:secret:rds!cluster-{'x' * 36}-{made}"


if __name__ == "__main__":
    for function, size in sorted(measure(transform(_TEMPLATE)).items(), key=lambda item: -item[1]):
        print(f"{size:6,}  {function}")
    sys.exit(0)
