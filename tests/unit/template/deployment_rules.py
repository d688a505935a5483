"""Deployments of the transformed template, as far as CloudFormation's rules for replacing resources decide them.

A resource is replaced, and has another physical id, when the value of one of its create-only properties changes. Which
these are is in the schema of its type (CloudFormation's registry, as cfn-lint ships it). A property that is create-only
under conditions counts as one. Physical ids and attributes are made up; they are equal where AWS's are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from local.template.conditions import apply_conditions
from local.template.intrinsics import get_referenced_id
from local.template.reader import PSEUDO_PARAMETERS

_PLACEHOLDER = re.compile(r"\$\{([^}!]*)\}")


@cache
def create_only(kind: str) -> frozenset[str]:
    """The properties of a type whose change replaces the resource; the first step of each path."""
    # Importing it takes a second of every worker that collects these tests.
    from cfnlint.schema.manager import ProviderSchemaManager

    schema = ProviderSchemaManager().get_resource_schema("us-east-1", kind).schema
    paths = [*schema.get("createOnlyProperties", []), *schema.get("conditionalCreateOnlyProperties", [])]
    return frozenset(path.split("/")[2] for path in paths)


class Deployment:
    """One deployment of the template with these parameters; the others keep their defaults."""

    def __init__(self, transformed: Mapping[str, Any], **parameters: str) -> None:
        defaults = {name: str(each.get("Default", "none")) for name, each in transformed["Parameters"].items()}
        self._values = {**defaults, **PSEUDO_PARAMETERS, **parameters}
        self.resources = apply_conditions(transformed, self._values)["Resources"]
        self._ids: dict[str, str] = {}

    def physical_id(self, name: str) -> str:
        """The made-up physical id of a resource."""
        if name not in self._ids:
            each = self.resources[name]
            fixed = create_only(each["Type"])
            own = {key: self.resolve(item) for key, item in each.get("Properties", {}).items() if key in fixed}
            digest = hashlib.sha256(json.dumps([name, own], sort_keys=True).encode()).hexdigest()[:12]
            self._ids[name] = f"{name}-{digest}"
        return self._ids[name]

    def resolve(self, value: Any) -> Any:
        """The value with its references and substitutions replaced; other functions are kept around their arguments."""
        match value:
            case list():
                return [self.resolve(item) for item in value]
            case {"Ref": str(name)}:
                return self._values[name] if name in self._values else self.physical_id(name)
            case {"Fn::GetAtt": [str(name), *attributes]}:
                return ".".join([self.physical_id(name), *attributes])
            case {"Fn::Sub": str(text)}:
                return _PLACEHOLDER.sub(self._substitute, text)
            case {"Fn::Join": [str(separator), list(parts)]}:
                return separator.join(self.resolve(part) for part in parts)
            case Mapping():
                return {key: self.resolve(item) for key, item in value.items()}
        return value

    def _substitute(self, found: re.Match[str]) -> str:
        name, _, attribute = found[1].partition(".")
        reference = {"Fn::GetAtt": [name, attribute]} if attribute else {"Ref": name}
        return str(self.resolve(reference))

    def configuration(self, function: str) -> dict[str, Any]:
        """What a version of a function that is published now is made of."""
        found: dict[str, Any] = self.resolve(self.resources[function]["Properties"])
        return found

    def version(self, function: str) -> str:
        """The logical id of the version that a function's alias points at."""
        return get_referenced_id(self.resources[f"{function}Aliaslive"]["Properties"]["FunctionVersion"])

    def published(self, function: str) -> str:
        """The physical id of that version: another one means that a version was published."""
        return self.physical_id(self.version(function))
