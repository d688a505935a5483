"""What a tenant asks with something of another tenant's in it, and the same with what there is not.

For every place at which the two tenants' requests differ: one's own request with the other's value, and with a value
that nobody has; a list of ids with one of each; and the other's whole request. Both must be answered alike.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.torture.access_requests import OF_EXHIBITS, requests_of
from tests.torture.access_sites import Asked, Said
from tests.torture.access_tenants import Tenant

NOBODYS_MARK, NOBODYS_ID, NEW_IDS = "ZQNONE", 7_000_001, 3_000_000
# What is stored as it comes: said with everything else, and not for itself.
CONTENT = {f"body:{name}" for name in (*OF_EXHIBITS, "note", "properties")}
# Made for one answer alone: clocks, secrets, and what signs a URL.
_FRESH = re.compile(r"(At|uploadId)$")
_SIGNATURE = re.compile(r"\?X-Amz-[^\"]*")
_FRESH_IDS = range(NEW_IDS, NEW_IDS + 1_000_000)


@dataclass(frozen=True)
class Attack:
    """What is asked with the other's values, with nobody's in their place, and where they stand."""

    where: str
    foreign: Asked
    missing: Asked

    def __str__(self) -> str:
        """As a failure names it."""
        return f"{self.foreign.route} with the other's {self.where}: {dict(self.foreign.values)}"


def attacks(ours: Tenant, theirs: Tenant) -> list[Attack]:
    """All of them."""
    return list(_attacks(ours, theirs))


def _attacks(ours: Tenant, theirs: Tenant) -> Iterator[Attack]:
    for own, other in zip(requests_of(ours), requests_of(theirs), strict=True):
        nobodys = {place: nobody(place, value, theirs) for place, value in other.values.items()}
        # What both may say, such as a status, or a moment, is nobody's.
        differing = [place for place in nobodys if other.values[place] not in (own.values[place], nobodys[place])]
        for place in _aimed(differing):
            value = other.values[place]
            yield Attack(place, own.with_values({place: value}), own.with_values({place: nobodys[place]}))
            if isinstance(value, list):
                mixed = ([*own.values[place], *value], [*own.values[place], *nobodys[place]])
                yield Attack(f"{place} beside one's own", *(own.with_values({place: each}) for each in mixed))
        if differing:
            yield Attack("everything", other, other.with_values({place: nobodys[place] for place in differing}))


def _aimed(differing: Sequence[str]) -> list[str]:
    """What names something; of a second page, where it begins: the first one was asked for with all else."""
    cursors = [place for place in differing if place == "query:after"]
    return cursors or [place for place in differing if place not in CONTENT]


def nobody(place: str, value: Any, theirs: Tenant) -> Any:
    """What nobody has, in the form of a tenant's value; the value itself where it names nothing of the tenant's."""
    if place == "query:after":
        return _next_to(value, theirs)
    if place == "header:If-Match":
        return '"4711"'
    if isinstance(value, list):
        return (
            [nobody(place, each, theirs) + at for at, each in enumerate(value)]
            if _is_ids(value)
            else [nobody(place, each, theirs) for each in value]
        )
    if isinstance(value, str):
        return value.replace(theirs.mark, NOBODYS_MARK)
    if isinstance(value, int) and re.search("(?i)id$|ids$", place):
        return NOBODYS_ID
    return value


def _is_ids(values: Sequence[Any]) -> bool:
    return all(isinstance(each, int) for each in values)


def _next_to(cursor: str, theirs: Tenant) -> str:
    """The cursor of a place beside it, where nothing is."""
    values = decoded(cursor)
    last = values[-1]
    if isinstance(last, int):
        values[-1] = last + 1
    elif theirs.mark in last:
        values[-1] = last.replace(theirs.mark, NOBODYS_MARK)
    else:
        # A moment, or a name that both have: a microsecond, or a character, behind it.
        values[-1] = f"{last}.000001" if "T" in last else f"{last}!"
    document = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(document).rstrip(b"=").decode()


def decoded(cursor: str) -> list[Any]:
    """The values of a cursor."""
    return list(json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))))


def alike(said: Said, attack: Attack) -> Said:
    """The answer to what was asked with the other's values, as it would read if they had been nobody's."""
    text = _told(said.text)
    for place, value in attack.foreign.values.items():
        theirs, nobodys = _atoms(value), _atoms(attack.missing.values[place])
        pairs = list(zip(theirs, nobodys, strict=True))
        for old, new in [*pairs, *((quote(old), quote(new)) for old, new in pairs)]:
            text = re.sub(rf"(?<![0-9A-Za-z]){re.escape(old)}(?![0-9A-Za-z])", new, text)
    return Said(said.status, _plain_headers(said), text)


def comparable(said: Said) -> Said:
    """The answer without what is new in it: ids of what was made, clocks, secrets."""
    return Said(said.status, _plain_headers(said), _told(said.text))


def leaked(said: Said, attack: Attack | None, theirs: Tenant, first_id: int) -> list[str]:
    """What of the other tenant's is told: its mark, or one of its ids, beside what the request itself said."""
    text = alike(said, attack).text if attack else _told(said.text)
    text += json.dumps([decoded(each) for each in re.findall(r'"next":"([^"]+)"', said.text)])
    ids = [each for each in re.findall(r"(?<!\d)\d{7}(?!\d)", text) if first_id <= int(each) < first_id + 1_000_000]
    return ids + re.findall(f"(?i){theirs.mark}", text)


def _atoms(value: Any) -> list[str]:
    if isinstance(value, list):
        return [atom for each in value for atom in _atoms(each)]
    return [json.dumps(value)[1:-1] if isinstance(value, str) else str(value)]


def _plain_headers(said: Said) -> tuple[tuple[str, str], ...]:
    return tuple((name, _without_new_ids(value)) for name, value in said.headers)


def _told(text: str) -> str:
    if not text:
        return ""
    for secret in re.findall(r'"uploadId":"([^"]+)"', text):
        text = text.replace(secret, "fresh")
    return json.dumps(_without_fresh(json.loads(_SIGNATURE.sub("", text))), ensure_ascii=False)


def _without_fresh(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: "fresh" if _FRESH.search(k) and each else _without_fresh(each) for k, each in value.items()}
    if isinstance(value, list):
        return [_without_fresh(each) for each in value]
    if isinstance(value, str):
        return _without_new_ids(value)
    return "new" if isinstance(value, int) and value in _FRESH_IDS else value


def _without_new_ids(text: str) -> str:
    return re.sub(r"(?<!\d)3\d{6}(?!\d)", "new", text)
