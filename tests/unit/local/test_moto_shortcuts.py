"""moto gives the same responses with the shortcuts as without."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from local.services.moto_shortcuts import is_retained


@pytest.mark.parametrize(("age_s", "retained"), [(59, True), (61, False)])
def test_a_message_is_retained_for_the_queue_s_period(age_s: int, *, retained: bool) -> None:
    backend: Any = SimpleNamespace(get_queue={"queue": SimpleNamespace(message_retention_period=60)}.get)
    message = SimpleNamespace(sent_timestamp=(time.time() - age_s) * 1000)
    assert is_retained(backend, "queue", message) is retained
