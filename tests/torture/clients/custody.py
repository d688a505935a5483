"""People who record who held a device, correct it and hand it on, whatever others do at the same time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.torture.clients.api_calls import Client
from tests.torture.clients.users import expect

DAY = datetime(2026, 3, 2, tzinfo=UTC)


def hand_on(client: Client) -> None:
    """Periods of the same two devices: recorded, ended, removed and handed on, whatever others do."""
    for _ in range(7):
        if client.draw.random() < 0.6 or not client.ledger.custody:
            _record(client)
        else:
            _revise(client)


def _record(client: Client) -> None:
    draw = client.draw
    begins = [DAY + timedelta(hours=draw.randrange(48)) for _ in range(draw.randint(1, 3))]
    body = [_period(draw.randint(1, 2), begin, begin + timedelta(hours=draw.randint(1, 3))) for begin in begins]
    answered = client.change("POST", "/custody-periods", body)
    expect(client, answered.status in (201, 409), "recording custody", answered)
    for period in answered.body.get("items", []):
        client.ledger.recorded(period, "added")


def _revise(client: Client) -> None:
    draw, ledger = client.draw, client.ledger
    period_id = draw.choice(sorted({period for period, _ in list(ledger.custody)}))
    found = client.get(f"/custody-periods/{period_id}")
    if found.status != 200:
        return
    period, path = found.body, f"/custody-periods/{period_id}"
    begin = datetime.fromisoformat(period["begin"])
    match draw.randrange(3):
        case 0:
            end = (begin + timedelta(minutes=30)).isoformat()
            answered = client.change("PATCH", path, {"end": end}, if_match=found.etag)
            expect(client, answered.status in (200, 404, 409, 412), "changing custody", answered)
            if answered.status == 200:
                if answered.body["version"] != period["version"] + 1:
                    ledger.complain(f"lost: {path} was changed from {found.etag} and is {answered.body['version']}")
                ledger.recorded(answered.body, "changed")
        case 1:
            answered = client.change("DELETE", path, if_match=found.etag)
            expect(client, answered.status in (200, 404, 412), "removing custody", answered)
            if answered.status == 200:
                expect(client, answered.body["version"] == period["version"], "removing custody", answered)
                gone = {**answered.body, "version": answered.body["version"] + 1}
                ledger.recorded(gone, "removed")
        case _:
            at = begin + timedelta(minutes=15)
            body = {"deviceId": period["deviceId"], "at": at.isoformat(), "custodianId": None}
            answered = client.change(
                "POST", "/custody-transfers", {**body, "end": (at + timedelta(minutes=15)).isoformat()}
            )
            expect(client, answered.status in (201, 409), "handing on", answered)
            if answered.status == 201:
                ledger.recorded(answered.body["ended"], "changed")
                ledger.recorded(answered.body["begun"], "added")


def _period(device: int, begin: datetime, end: datetime) -> dict[str, Any]:
    return {"deviceId": device, "begin": begin.isoformat(), "end": end.isoformat()}
