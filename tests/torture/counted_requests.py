"""Changes that a client asks for under keys, and whether each has had its one effect, and the answer that tells so."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.api import Client, Reply
from tests.support.queried import Queried
from tests.torture.findings import DOUBLED, LOST, MISPLACED, Finding

OF_CASE = "JOIN cases c ON c.id = e.case_id WHERE c.name = :case"
KEYS = "SELECT status, status_code FROM idempotency_keys WHERE idempotency_key = :key"
TAGGINGS = (
    "SELECT exhibit_id, t.user_id FROM taggings t JOIN tags ON tags.id = tag_id WHERE tags.name = :name ORDER BY 1"
)
HELD_BY = "SELECT exhibit_id FROM custodian_exhibits h JOIN custodians c ON c.id = custodian_id WHERE c.name = :name"
PERIODS = "SELECT p.id, note FROM custody_periods p JOIN devices d ON d.id = device_id WHERE number = :number"
CHANGES = "SELECT period_id, action FROM custody_changes x JOIN devices d ON d.id = device_id WHERE number = :number"


def once(what: str, count: int) -> Iterator[Finding]:
    """That there is one of it."""
    if count != 1:
        yield Finding(DOUBLED if count else LOST, f"{what}: {count}")


@dataclass
class Requests:
    """What is asked about the exhibits of one case; `number` tells this round's names from those of others."""

    client: Client
    case: str
    exhibits: list[int]
    number: int
    keys: dict[str, str] = field(default_factory=dict)

    def all(self) -> Mapping[str, Callable[[], Reply]]:
        """Each request by its name; whoever calls one again sends the same under the same key."""
        return {
            "tagging": self._post("tagging", "/taggings", {"exhibitIds": self.exhibits, "tags": [self._name("tag")]}),
            "custodian": self._post("custodian", "/custodians", {"case": self.case, "name": self._name("custodian")}),
            "held": self._post(
                "held", f"/exhibits/{self.exhibits[0]}/custodians", {"custodians": [self._name("holder")]}
            ),
            "custody": self._post("custody", "/custody-periods", [self._period()]),
            "patch": self._patch,
        }

    def judge(self, answers: Mapping[str, Reply], at: Queried) -> Iterator[Finding]:
        """The effects as they are committed, the answers, and the records of the keys."""
        for name, answer in answers.items():
            rows = at.query(KEYS, key=self.keys[name].encode())
            if [tuple(row) for row in rows] != [("completed", answer.status)] or answer.status not in (200, 201):
                yield Finding(MISPLACED, f"{name} was answered {answer.status} {answer.problem}, kept is {rows}")
        yield from self._judge_links(at)
        yield from self._judge_custody(answers["custody"], at)
        row = at.query("SELECT version, title FROM exhibits WHERE id = :id", id=self.exhibits[1])[0]
        if tuple(row) != (2, self._name("title")):
            yield Finding(DOUBLED if row.version > 2 else LOST, f"a patch made {row}")
        if answers["tagging"].json.get("created") != len(self.exhibits):
            yield Finding(MISPLACED, f"taggings were answered as {answers['tagging'].json}")

    def _judge_links(self, at: Queried) -> Iterator[Finding]:
        wanted = [(exhibit, self.client.user) for exhibit in sorted(self.exhibits)]
        tagged = [tuple(row) for row in at.query(TAGGINGS, name=self._name("tag"))]
        if tagged != wanted:
            yield Finding(LOST, f"taggings are {tagged}, not {wanted}")
        held = [row[0] for row in at.query(HELD_BY, name=self._name("holder"))]
        if held != [self.exhibits[0]]:
            yield Finding(LOST, f"{self._name('holder')} holds {held}")
        for name in ("custodian", "holder"):
            count = at.query("SELECT COUNT(*) FROM custodians WHERE name = :name", name=self._name(name))[0][0]
            yield from once(self._name(name), count)

    def _judge_custody(self, answer: Reply, at: Queried) -> Iterator[Finding]:
        periods = at.query(PERIODS, number=self.number)
        yield from once(f"periods of device {self.number}", len(periods))
        yield from once(f"changes of device {self.number}", len(at.query(CHANGES, number=self.number)))
        told = [each["id"] for each in (answer.json or {}).get("items", [])]
        if told != [row[0] for row in periods]:
            yield Finding(MISPLACED, f"custody was answered as {told}, and is {periods}")

    def _patch(self) -> Reply:
        change = {"title": self._name("title")}
        headers = {"Idempotency-Key": self._key("patch")}
        return self.client.patch(f"/exhibits/{self.exhibits[1]}", change, 1, **headers)

    def _post(self, name: str, path: str, body: Any) -> Callable[[], Reply]:
        key = self._key(name)
        return lambda: self.client.post(path, body, key)

    def _key(self, name: str) -> str:
        return self.keys.setdefault(name, secrets.token_hex(8))

    def _name(self, what: str) -> str:
        return f"{what} {self.number}"

    def _period(self) -> dict[str, Any]:
        return {"deviceId": self.number, "begin": "2026-11-21T09:00:00Z", "end": "2026-11-21T10:00:00Z"}
