"""What must wait for what while a stack is made, and that nothing waits for itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.unit.template.conftest import EVERY_OPTION, deployed_with, listed

EVERYTHING = {**EVERY_OPTION, "DataEventsBucket": "logs", "BackupVaultDays": "30"}


def references(value: Any) -> Iterator[str]:
    """Every name that a value refers to, parameters too."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": text}:
            template, values = (text, {}) if isinstance(text, str) else text
            yield from (found.partition(".")[0] for found in re.findall(r"\$\{([^!}]+)\}", template))
            yield from references(values)
        case Mapping():
            yield from (name for item in value.values() for name in references(item))
        case list():
            yield from (name for item in value for name in references(item))


def waits_for(resources: Mapping[str, Any]) -> dict[str, set[str]]:
    return {
        name: {*references([each.get("Properties"), each.get("Metadata")]), *listed(each.get("DependsOn", []))}
        & resources.keys()
        for name, each in resources.items()
    }


def ordered(direct: Mapping[str, set[str]], name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """All that must be there before a resource is made; raises ValueError where it waits for itself."""
    if name in seen:
        raise ValueError(f"{name} waits for itself")
    before = set(direct[name])
    for each in direct[name]:
        before |= ordered(direct, each, seen | {name})
    return before


def test_a_proxy_gets_its_target_when_it_can_log_in_to_every_instance(transformed: dict[str, Any]) -> None:
    direct = waits_for(deployed_with(transformed, EVERYTHING).resources)
    needed = {"DatabaseWriter", "DatabaseStandbyInstance", "DatabaseMigration", "DatabaseIngressFromProxy"}
    assert needed <= ordered(direct, "ConnectionProxyTargets")


@pytest.mark.parametrize("parameters", [{}, EVERYTHING, {"Size": "small"}, {"DatabaseProxy": "true"}])
def test_nothing_waits_for_itself(transformed: dict[str, Any], parameters: dict[str, str]) -> None:
    direct = waits_for(deployed_with(transformed, parameters).resources)
    assert all(ordered(direct, name) for name in direct if direct[name])


def test_a_cycle_is_found() -> None:
    with pytest.raises(ValueError, match="A waits for itself"):
        ordered({"A": {"B"}, "B": {"A"}}, "A")
