"""Two users who request the same thing at the same time, again and again: only one may get what there is once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from tests.torture.clients.api_calls import Answered, Client
from tests.torture.clients.ledger import BASE, ROWS, TWINS
from tests.torture.clients.users import expect, put_to, see_to, until

T = TypeVar("T")
TURNS, DEVICE = 8, 3
DAY = datetime(2026, 4, 1, tzinfo=UTC)
_TOGETHER_S = 10.0


def rush(one: Client, other: Client) -> None:
    """A custodian's name, which both get under one id; a period of custody, which one of them gets and one changes."""
    for turn in range(TURNS):
        name = {"case": BASE, "name": f"Rushed, {turn}"}
        for answered in at_once(one, other, "POST", "/custodians", name):
            expect(one, answered.status == 200, "asking at once", answered)
            one.ledger.named(name["name"], answered.body["id"])
        begin = DAY + timedelta(hours=turn)
        period = {"deviceId": DEVICE, "begin": begin.isoformat(), "end": (begin + timedelta(hours=1)).isoformat()}
        answers = at_once(one, other, "POST", "/custody-periods", [period])
        expect(one, sorted(each.status for each in answers) == [201, 409], "asking at once", answers)
        for answered in answers:
            for made in answered.body.get("items", []):
                # Others take up what the ledger has: until then no other client changes it.
                _change(one, other, made["id"])
                one.ledger.recorded(made, "added")


def _change(one: Client, other: Client, period_id: int) -> None:
    """Both have seen the same version: of two changes to it the second would undo the first unseen."""
    path = f"/custody-periods/{period_id}"
    seen = one.get(path).etag
    answers = at_once(one, other, "PATCH", path, {"note": "Changed at once"}, if_match=seen)
    changed = [answered.body for answered in answers if answered.status == 200]
    if len(changed) > 1:
        one.ledger.complain(f"lost: {path} was changed twice from version {seen}")
    expect(one, sorted(each.status for each in answers) == [200, 412], "changing at once", answers)
    for each in changed:
        one.ledger.recorded(each, "changed")


def upload_at_once(one: Client, other: Client) -> None:
    """The same documents into one case: each comes in by one of them, and the other one has it unchanged."""
    data = "\r\n".join(["Control Number,Title", *(f"T-{number},Title" for number in range(ROWS)), ""]).encode()
    body = {"case": TWINS, "fileName": "twins.csv", "size": len(data)}
    announced = [who.change("POST", "/imports", body).body for who in (one, other)]
    one.ledger.twins += [each["id"] for each in announced]
    puts = together(*(partial(put_to, each["upload"], data) for each in announced))
    for who, put, each in zip((one, other), puts, announced, strict=True):
        if not put:
            until(partial(put_to, each["upload"], data), "an upload")
        see_to(who, each["id"])


def at_once(one: Client, other: Client, method: str, path: str, body: Any = None, **how: Any) -> list[Answered]:
    """Make the same request by two clients at the same time, each under a key of its own; return both answers."""
    return together(*(partial(who.change, method, path, body, **how) for who in (one, other)))


def together(one: Callable[[], T], other: Callable[[], T]) -> list[T]:
    """Call both at the same time; return what each returned."""
    barrier = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(_together, barrier, ask) for ask in (one, other)]
    return [each.result() for each in answers]


def _together(barrier: threading.Barrier, ask: Callable[[], T]) -> T:
    with suppress(threading.BrokenBarrierError):
        barrier.wait(_TOGETHER_S)
    return ask()
