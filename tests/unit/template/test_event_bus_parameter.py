"""An event bus is published to only where one is named, by the publisher alone, and on this bus alone."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.template.conftest import Deployed, deployed_with

BUS = "acme-events"
ENDPOINT = "EventsEndpoint"


def putters(deployed: Deployed) -> dict[str, Any]:
    """The resources that allow PutEvents, by their names."""
    texts = {name: json.dumps(each) for name, each in deployed.resources.items()}
    return {name: text for name, text in texts.items() if "events:PutEvents" in text}


def test_without_a_bus_nothing_may_publish_to_one(plain: Deployed) -> None:
    assert putters(plain) == {}
    assert ENDPOINT not in plain.resources


def test_with_a_bus_the_publisher_may_publish_to_this_one(transformed: dict[str, Any]) -> None:
    deployed = deployed_with(transformed, {"EventBusName": BUS})
    [(name, text)] = putters(deployed).items()
    assert name == "PublishOutboxFunctionRole"
    assert "event-bus/" in text
    assert '"events:*"' not in text
    assert deployed.resources[ENDPOINT]["Properties"]["PrivateDnsEnabled"] is True
    assert all(deployed.variables(each)["EVENT_BUS_NAME"] == {"Ref": "EventBusName"} for each in deployed.functions)
