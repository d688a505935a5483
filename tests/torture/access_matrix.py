"""Two tenants with one of everything, every request with the other's things in it, and what was violated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import Engine

from tests.torture.access_attacks import NEW_IDS, Attack, alike, attacks, comparable, leaked
from tests.torture.access_requests import requests_of
from tests.torture.access_rows import Kept, rows_not_of
from tests.torture.access_sites import Asked, Said, Site
from tests.torture.access_tenants import Tenant, claim_ids, settle

OUR_IDS, THEIR_IDS = 1_000_000, 2_000_000


@dataclass
class Matrix:
    """Who asks, whom it must not concern, and what was answered to one's own requests and for what there is not."""

    site: Site
    engine: Engine
    ours: Tenant
    theirs: Tenant
    kept: Kept
    expected: dict[str, Said] = field(default_factory=dict)

    @classmethod
    def settled(cls, site: Site, engine: Engine) -> Matrix:
        """Two tenants, each with ids of its own range, and what is made later with one of a third."""
        claim_ids(site, OUR_IDS)
        ours = settle(site, Tenant("ZQACME", 2024, 7))
        claim_ids(site, THEIR_IDS)
        theirs = settle(site, Tenant("ZQBETA", 2025, 5, more=1))
        claim_ids(site, NEW_IDS)
        return cls(site, engine, ours, theirs, Kept.of(engine))

    @property
    def own(self) -> list[Asked]:
        """What is asked of one's own, under keys that nobody has used."""
        return [self.fresh(each) for each in requests_of(self.ours)]

    @property
    def attacks(self) -> list[Attack]:
        """What is asked with the other's values; keys are nobody's unless they are what is the other's."""
        found = attacks(self.ours, self.theirs)
        return [Attack(each.where, self.fresh(each.foreign), self.fresh(each.missing)) for each in found]

    def fresh(self, asked: Asked) -> Asked:
        """The request without one's own key, which would answer what was answered before."""
        own_key = self.ours.key(asked.route)
        if asked.values.get("header:Idempotency-Key") != own_key:
            return asked
        return asked.with_values({"header:Idempotency-Key": "nobodys"})

    def ask(self, asked: Asked) -> tuple[Said, list[str]]:
        """An answer, and the tables in which something changed that is not one's own; all is put back."""
        said = self.site.ask(asked, self.ours.name, self.ours.user)
        changed = self.kept.changed(self.engine)
        if not changed:
            return said, []
        self.kept.put_back(self.engine, changed)
        before = rows_not_of(self.kept.rows, self.ours.name)
        after = rows_not_of({**self.kept.rows, **changed}, self.ours.name)
        return said, [table for table in before if before[table] != after[table]]

    def unchanged(self) -> bool:
        """Whether the database is as it was, as it is after each request."""
        return not self.kept.changed(self.engine)

    def violations(self, check: Asked | Attack) -> Iterator[str]:
        """What is wrong with the answer to one request; what is answered first to one's own is right from then on."""
        return self.of_attacks([check]) if isinstance(check, Attack) else self.of_own([check])

    def of_own(self, made: Iterable[Asked]) -> Iterator[str]:
        """What is wrong with the answers to one's own requests."""
        for each in made:
            said, changed = self.ask(each)
            name = f"{each.route} of one's own: {dict(each.values)}"
            if said.status >= 300:
                yield f"{name}: answered {said.status} {said.text}"
            yield from self._wrong(name, changed, leaked(said, None, self.theirs, THEIR_IDS))
            yield from self._unlike(name, each, comparable(said))

    def of_attacks(self, made: Iterable[Attack]) -> Iterator[str]:
        """What is wrong with the answers to attacks."""
        for each in made:
            if repr(each.missing) not in self.expected:
                yield from self._of_missing(each.missing)
            said, changed = self.ask(each.foreign)
            yield from self._wrong(str(each), changed, leaked(said, each, self.theirs, THEIR_IDS))
            yield from self._unlike(str(each), each.missing, alike(said, each))

    def _of_missing(self, asked: Asked) -> Iterator[str]:
        said, changed = self.ask(asked)
        self.expected[repr(asked)] = comparable(said)
        yield from self._wrong(f"{asked} of nobody's", changed, leaked(said, None, self.theirs, THEIR_IDS))

    def _wrong(self, name: str, changed: list[str], told: list[str]) -> Iterator[str]:
        if changed:
            yield f"{name}: changed what is not one's own in {changed}"
        if told:
            yield f"{name}: told {sorted(set(told))} of the other tenant"

    def _unlike(self, name: str, asked: Asked, said: Said) -> Iterator[str]:
        expected = self.expected.setdefault(repr(asked), said)
        if said != expected:
            yield f"{name}: answered {said}, and {expected} where nothing is another's"
