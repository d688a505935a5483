"""What a tenant asks with something of another tenant's in it, and what of an answer can be compared.

For every place at which the two tenants' requests differ: one's own request with the other's value, a list of ids with
one of each, and the other's whole request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from tests.torture.access.calls import ApiRequest, ApiResponse
from tests.torture.access.document_requests import OF_EXHIBITS
from tests.torture.access.tenants import Tenant
from tests.torture.access.valid_requests import requests_of

NEW_IDS = range(3_000_000, 4_000_000)
EVERYTHING = "everything"
# What is stored as it comes: said with everything else, and not for itself.
CONTENT = {f"body:{name}" for name in (*OF_EXHIBITS, "note", "properties")}
# Made for one answer alone: clocks, secrets, and what signs a URL.
# Of an upload, and of a preview.
_SECRETS = re.compile(r'"uploadId":"([^"]+)"|"id":"([\w-]{32})\.')
_FRESH = re.compile(r"(At|uploadId)$")
_SIGNATURE = re.compile(r"\?(?:X-Amz|response)-[^\"]*")


class Check(NamedTuple):
    """A request, and the place at which it says what is another's; of one's own there is no such place."""

    place: str
    request: ApiRequest

    def __str__(self) -> str:
        """As a failure names it."""
        return f"{self.request.route} with the other's {self.place or 'nothing'}: {dict(self.request.values)}"


def attacks(ours: Tenant, theirs: Tenant) -> Iterator[Check]:
    """All of them."""
    for own, other in zip(requests_of(ours), requests_of(theirs), strict=True):
        differing = [place for place, value in other.values.items() if value != own.values[place]]
        for place in _aimed(differing):
            value = other.values[place]
            yield Check(place, own.with_values({place: value}))
            if isinstance(value, list):
                yield Check(place, own.with_values({place: [*own.values[place], *value]}))
        if differing:
            yield Check(EVERYTHING, other)


def _aimed(differing: Sequence[str]) -> list[str]:
    """What names something; of a second page, where it begins: the first one was requested with all else."""
    cursors = [place for place in differing if place == "query:after"]
    return cursors or [place for place in differing if place not in CONTENT]


def comparable(said: ApiResponse) -> ApiResponse:
    """The answer without what is new in it: ids of what was made, clocks, secrets."""
    text = said.text
    secrets = ["".join(found) for found in _SECRETS.findall(text)]
    for secret in secrets:
        text = _hide(text, secret)
    plain = _without_fresh(json.loads(_SIGNATURE.sub("", text))) if text else None
    values = ((name, reduce(_hide, secrets, value)) for name, value in said.headers)
    headers = tuple((name, _without_fresh(value)) for name, value in values)
    return ApiResponse(said.status, headers, json.dumps(plain, ensure_ascii=False))


def _hide(text: str, secret: str) -> str:
    return text.replace(secret, "fresh")


def _without_fresh(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: "fresh" if _FRESH.search(k) and each else _without_fresh(each) for k, each in value.items()}
    if isinstance(value, list):
        return [_without_fresh(each) for each in value]
    if isinstance(value, str):
        return re.sub(r"(?<!\d)3\d{6}(?!\d)", "new", value)
    return "new" if isinstance(value, int) and value in NEW_IDS else value
