"""A user who imports a file again and again, and corrects its documents before that and meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.torture.clients.api_calls import Client
from tests.torture.clients.ledger import Repeat
from tests.torture.clients.users import expect, put_to, see_to, until
from tests.torture.plans.repeats import LINES, REPEATED_CASE, RepeatStep, build_data, build_number


class Repeater:
    """Takes the steps of the plan; `second` is another client of the same tenant, who corrects."""

    def __init__(self, client: Client, second: Client, steps: Sequence[RepeatStep]) -> None:
        self._client, self._second, self._steps = client, second, steps
        self._exhibits: dict[str, int] = {}
        self._corrected: frozenset[int] = frozenset()

    def run(self) -> None:
        """Until all steps were taken."""
        self._import(frozenset())
        listed = self._client.get(f"/exhibits?case={REPEATED_CASE}&limit=100").body["items"]
        self._exhibits = {each["controlNumber"]: each["id"] for each in listed}
        expect(self._client, len(listed) == len(LINES), "importing a file that is repeated", len(listed))
        for step in self._steps:
            self._correct(step.before)
            with ThreadPoolExecutor(1) as pool:
                corrected = pool.submit(self._correct, step.beside)
                self._import(frozenset(step.beside))
            corrected.result()

    def _import(self, beside: frozenset[int]) -> None:
        client, data = self._client, build_data()
        before = self._corrected - beside
        body = {"case": REPEATED_CASE, "fileName": "repeated.csv", "size": len(data)}
        answered = client.change("POST", "/imports", body)
        expect(client, answered.status == 201, "announcing a file again", answered)
        client.ledger.repeats.append(Repeat(answered.body["id"], before, beside))
        until(partial(put_to, answered.body["upload"], data), "an upload")
        see_to(client, answered.body["id"])

    def _correct(self, lines: Sequence[int]) -> None:
        """Give the documents of these lines other titles; no other client changes them."""
        for line in lines:
            path = f"/exhibits/{self._exhibits[build_number(line)]}"
            title = f"Corrected title of {line}"
            answered = self._second.change("PATCH", path, {"title": title}, if_match=self._second.get(path).etag)
            expect(self._second, answered.status == 200, "correcting a document of a file that is repeated", answered)
            self._second.ledger.titled(answered.body["id"], answered.body["version"], title)
            self._corrected |= {line}
