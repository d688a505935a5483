"""Conditions of a template, evaluated with the default values of its parameters.

Guaranteed: afterwards the document has no resource whose condition is false, no Fn::If and no AWS::NoValue. A condition
that cannot be evaluated raises TemplateError: a guess would add or remove resources by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.errors import TemplateError
from local.template.intrinsics import resolve

_NO_VALUE = {"Ref": "AWS::NoValue"}


def apply_conditions(document: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without the parts that its conditions exclude.

    `parameters` are values by name, pseudo parameters included. Raises TemplateError for a condition that is not
    declared or that cannot be evaluated.
    """
    conditions = _Conditions(document.get("Conditions") or {}, parameters)
    sections = {name: conditions.filter_section(document.get(name) or {}) for name in ("Resources", "Outputs")}
    result: dict[str, Any] = conditions.resolve_ifs({**document, "Conditions": {}, **sections})
    return result


class _Conditions:
    """The Conditions section of one template."""

    def __init__(self, declared: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        self._declared = declared
        self._parameters = parameters

    def is_true(self, name: object) -> bool:
        """Return whether the condition with this name is true."""
        if name not in self._declared:
            raise TemplateError(f"the condition {name} is not declared")
        return self._evaluate(self._declared[str(name)])

    def filter_section(self, section: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entries of a section whose conditions are true."""
        return {
            name: each for name, each in section.items() if "Condition" not in each or self.is_true(each["Condition"])
        }

    def resolve_ifs(self, value: Any) -> Any:
        """Return the value with every Fn::If replaced by its result, and without what AWS::NoValue removes."""
        if isinstance(value, list):
            return [kept for item in value if (kept := self.resolve_ifs(item)) != _NO_VALUE]
        if not isinstance(value, Mapping):
            return value
        if list(value) == ["Fn::If"]:
            name, then, otherwise = value["Fn::If"]
            return self.resolve_ifs(then if self.is_true(name) else otherwise)
        return {key: kept for key, item in value.items() if (kept := self.resolve_ifs(item)) != _NO_VALUE}

    def _evaluate(self, rule: Any) -> bool:
        match rule:
            case {"Fn::Equals": [left, right]}:
                return self._resolve_text(left) == self._resolve_text(right)
            case {"Fn::Not": [negated]}:
                return not self._evaluate(negated)
            case {"Fn::And": list(all_of)}:
                return all(self._evaluate(each) for each in all_of)
            case {"Fn::Or": list(any_of)}:
                return any(self._evaluate(each) for each in any_of)
            case {"Condition": str(name)}:
                return self.is_true(name)
        raise TemplateError(f"the local stack does not support the condition {rule!r}")

    def _resolve_text(self, value: Any) -> str:
        return str(resolve(value, self._look_up_parameter))

    def _look_up_parameter(self, name: str, attribute: str | None) -> str:
        if attribute is None and name in self._parameters:
            return str(self._parameters[name])
        raise TemplateError(f"a condition uses {name}, which is not a parameter with a default value")
