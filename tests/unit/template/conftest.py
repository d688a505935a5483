"""The template as SAM hands it to CloudFormation, with its conditions decided one way and the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from local.template.conditions import apply_conditions
from local.template.reader import PSEUDO_PARAMETERS
from tools.check_template import transform

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "template.yaml"
EVERY_OPTION = {
    "DatabaseStandby": "true",
    "DatabaseProxy": "true",
    "CacheNodeType": "cache.t4g.small",
    "AlarmEmail": "operator@example.com",
    "MonthlyBudget": "300",
    "SnapStart": "PublishedVersions",
    "AccessLogBucket": "access-logs",
}
# What a deployment asks for.
ANSWERS = {"AlarmEmail": "none"}
OTHER_ISSUER = {"JwtIssuer": "https://issuer.example.com", "JwtAudience": "exhibits"}

Properties = dict[str, Any]


class Consumer(NamedTuple):
    """A queue and the function that reads it; `mapping` is the event source mapping's properties."""

    queue: str
    function: str
    mapping: Properties


class Deployed(NamedTuple):
    """What CloudFormation makes: resources by their logical ids, with type, properties and conditions."""

    resources: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, Mapping[str, Any]]

    def of_type(self, kind: str) -> dict[str, Properties]:
        """The properties of every resource of a type, such as AWS::SQS::Queue."""
        return {name: each.get("Properties", {}) for name, each in self.resources.items() if each["Type"] == kind}

    def kinds(self) -> set[str]:
        """The types that there are."""
        return {each["Type"] for each in self.resources.values()}

    @property
    def functions(self) -> dict[str, Properties]:
        """The functions' properties by their logical ids."""
        return self.of_type("AWS::Lambda::Function")

    def variables(self, function: str) -> dict[str, Any]:
        """A function's environment."""
        found: dict[str, Any] = self.functions[function]["Environment"]["Variables"]
        return found

    def consumers(self) -> list[Consumer]:
        """Every queue that a function reads."""
        mappings = self.of_type("AWS::Lambda::EventSourceMapping").values()
        return [Consumer(target(each["EventSourceArn"]), target(each["FunctionName"]), each) for each in mappings]

    def role_of(self, function: str) -> Properties:
        """The properties of a function's role."""
        found: Properties = self.resources[target(self.functions[function]["Role"])]["Properties"]
        return found


def target(reference: Any) -> str:
    """The logical id that a Ref or Fn::GetAtt points at."""
    if "Ref" in reference:
        return str(reference["Ref"])
    return str(reference["Fn::GetAtt"][0])


def listed(value: Any) -> list[Any]:
    """The value as a list, as IAM reads one that stands alone."""
    return value if isinstance(value, list) else [value]


@pytest.fixture(scope="session")
def transformed() -> dict[str, Any]:
    """What SAM makes of template.yaml, its conditions undecided."""
    return transform(TEMPLATE)


def deployed_with(transformed: dict[str, Any], parameters: Mapping[str, str]) -> Deployed:
    """What is made where those parameters are given and the others are left alone."""
    defaults = {name: each.get("Default", ANSWERS.get(name)) for name, each in transformed["Parameters"].items()}
    left = apply_conditions(transformed, {**defaults, **PSEUDO_PARAMETERS, **parameters})
    return Deployed(left["Resources"], left["Outputs"])


@pytest.fixture(scope="session")
def plain(transformed: dict[str, Any]) -> Deployed:
    """What is made where nothing is chosen."""
    return deployed_with(transformed, {})


@pytest.fixture(scope="session")
def everything(transformed: dict[str, Any]) -> Deployed:
    """What is made with every option."""
    return deployed_with(transformed, EVERY_OPTION)


@pytest.fixture(params=["plain", "everything"])
def deployed(request: pytest.FixtureRequest) -> Deployed:
    """Both of them, one after the other."""
    made: Deployed = request.getfixturevalue(request.param)
    return made
