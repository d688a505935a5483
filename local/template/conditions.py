"""What of a template is there: its conditions, decided by the defaults of its parameters.

Guarantees that afterwards no resource is left whose condition is false, and no Fn::If and no AWS::NoValue at all. A
condition that cannot be decided raises TemplateError, for what it decides would otherwise be there or not by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.errors import TemplateError
from local.intrinsics import resolve

_NOTHING = {"Ref": "AWS::NoValue"}


def settled(document: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The document without what its conditions exclude; `parameters` are the values, pseudo parameters among them."""
    decided = _Conditions(document.get("Conditions") or {}, parameters)
    sections = {name: decided.left(document.get(name) or {}) for name in ("Resources", "Outputs")}
    kept: dict[str, Any] = decided.chosen({**document, "Conditions": {}, **sections})
    return kept


class _Conditions:
    """The Conditions of one template."""

    def __init__(self, declared: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        self._declared = declared
        self._parameters = parameters

    def holds(self, name: object) -> bool:
        """Whether the condition of that name is true."""
        if name not in self._declared:
            raise TemplateError(f"the condition {name} is not declared")
        return self._true(self._declared[str(name)])

    def left(self, section: Mapping[str, Any]) -> dict[str, Any]:
        """What of a section's entries is there."""
        return {
            name: each for name, each in section.items() if "Condition" not in each or self.holds(each["Condition"])
        }

    def chosen(self, value: Any) -> Any:
        """The value with every Fn::If in it decided, and without what an AWS::NoValue takes away."""
        if isinstance(value, list):
            return [kept for item in value if (kept := self.chosen(item)) != _NOTHING]
        if not isinstance(value, Mapping):
            return value
        if list(value) == ["Fn::If"]:
            name, then, otherwise = value["Fn::If"]
            return self.chosen(then if self.holds(name) else otherwise)
        return {key: kept for key, item in value.items() if (kept := self.chosen(item)) != _NOTHING}

    def _true(self, rule: Any) -> bool:
        match rule:
            case {"Fn::Equals": [left, right]}:
                return bool(self._value(left) == self._value(right))
            case {"Fn::Not": [negated]}:
                return not self._true(negated)
            case {"Fn::And": list(all_of)}:
                return all(self._true(each) for each in all_of)
            case {"Fn::Or": list(any_of)}:
                return any(self._true(each) for each in any_of)
            case {"Condition": str(name)}:
                return self.holds(name)
        raise TemplateError(f"the local stack does not understand the condition {rule!r}")

    def _value(self, value: Any) -> str:
        return str(resolve(value, self._parameter))

    def _parameter(self, name: str, attribute: str | None) -> str:
        if attribute is None and name in self._parameters:
            return str(self._parameters[name])
        raise TemplateError(f"a condition rests on {name}, which is no parameter with a default")
