"""The event in events/ is one that API Gateway sends, and records what it says."""

from __future__ import annotations

import json
from pathlib import Path

from custody_api import lambda_handler
from tests.support.world import Context, World

EVENT = Path(__file__).parents[3] / "events" / "custody_api.json"


def test_the_event_records_an_evening_and_a_night(world: World) -> None:
    answer = lambda_handler(json.loads(EVENT.read_text()), Context())
    assert answer["statusCode"] == 201
    rows = world.query("SELECT number, begin_at, end_at FROM custody_periods JOIN devices ON devices.id = device_id")
    assert [(row[0], str(row[1]), str(row[2])) for row in sorted(rows)] == [
        (100, "2026-11-20 23:00:00", "2026-11-21 02:30:00"),
        (101, "2026-11-21 03:00:00", "2026-11-21 11:00:00"),
    ]
