"""CloudFormation's YAML and its intrinsic functions.

Supports Ref, Fn::GetAtt, Fn::Sub and Fn::Join. Any other function raises TemplateError only when its value is needed,
because most of a template describes resources that a local stack does not use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from local.errors import TemplateError

Lookup = Callable[[str, str | None], str]
"""Returns the value of a parameter, pseudo parameter or resource (attribute None), or of an attribute of a resource."""

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


if TYPE_CHECKING:
    from yaml import SafeLoader as _SafeLoader
else:
    # The parser in C is ten times as fast; PyYAML can be built without it.
    _SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):
    """A safe YAML loader that also reads the short forms of the intrinsic functions."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)  # noqa: S101 - YAML has three node types
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)


def load_document(path: Path) -> dict[str, Any]:
    """Return a parsed template; raise TemplateError if the file cannot be read or is not a YAML mapping."""
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (OSError, yaml.YAMLError) as exc:
        raise TemplateError(f"cannot read the template {path}: {exc}") from exc
    if not isinstance(document, dict):
        raise TemplateError(f"the template {path} must be a YAML mapping")
    return document


def get_referenced_id(value: Any) -> str:
    """Return the logical id that a Ref or Fn::GetAtt refers to; raise TemplateError for any other value."""
    match value:
        case {"Ref": str(name)} if len(value) == 1:
            return name
        case {"Fn::GetAtt": [str(name), *_]} if len(value) == 1:
            return name
    raise TemplateError(f"expected a reference to a resource of the template, found {value!r}")


def resolve(value: Any, lookup: Lookup) -> Any:
    """Return the value with its intrinsic functions replaced; raise TemplateError for one that is not supported."""
    if isinstance(value, list):
        return [resolve(item, lookup) for item in value]
    if not isinstance(value, Mapping):
        return value
    match value:
        case {"Ref": str(name)} if len(value) == 1:
            return lookup(name, None)
        case {"Fn::GetAtt": [str(name), str(attribute)]} if len(value) == 1:
            return lookup(name, attribute)
        case {"Fn::Sub": text} if len(value) == 1:
            return _substitute(text, lookup)
        case {"Fn::Join": [str(separator), list(parts)]} if len(value) == 1:
            return separator.join(str(resolve(part, lookup)) for part in parts)
        case {"Fn::Select": [int(index), {"Fn::Split": [str(separator), text]}]} if len(value) == 1:
            return str(resolve(text, lookup)).split(separator)[index]
    unknown = [key for key in value if str(key).startswith("Fn::")]
    if unknown:
        raise TemplateError(f"the local stack does not support {unknown[0]} in {dict(value)!r}")
    return {key: resolve(item, lookup) for key, item in value.items()}


def _substitute(text: Any, lookup: Lookup) -> str:
    variables: Mapping[str, Any] = {}
    if isinstance(text, list):
        text, variables = text

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("!"):
            return "${" + name[1:] + "}"
        if name in variables:
            return str(resolve(variables[name], lookup))
        resource, _, attribute = name.partition(".")
        return lookup(resource, attribute or None)

    return _PLACEHOLDER.sub(replace, text)
