"""What the API takes for a production: numbers that can be told apart, and columns that readers take for no other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from core.contracts.common import MAX_ID
from core.contracts.productions import NewProduction
from core.load_file.field_mapping import SYNONYMS, map_columns
from core.productions.bates import Numbering
from core.productions.volume import HEADER

ASKED: dict[str, Any] = {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, "query": {}}


def taken(**fields: Any) -> NewProduction:
    """As it arrives: read from JSON, then checked; None leaves a member out."""
    body = {name: value for name, value in {**ASKED, **fields}.items() if value is not None}
    return NewProduction.model_validate(json.loads(json.dumps(body)))


def refused(**fields: Any) -> list[str]:
    """Where it is refused."""
    with pytest.raises(ValidationError) as error:
        taken(**fields)
    return [".".join(map(str, each["loc"])) for each in error.value.errors()]


def test_the_least_that_can_be_asked_for() -> None:
    asked = taken()
    assert (asked.start_at, asked.exhibit_ids) == (None, None)
    assert (asked.numbering, asked.properties) == (Numbering.DOCUMENT, [])
    assert taken(numbering="page").numbering is Numbering.PAGE


GOOD: dict[str, list[object]] = {
    "prefix": ["A", "a", "ACME-", "AB12_", "1A", "A-B_C", "x" * 64],
    "volume": ["V", "1", "VOL-001", "a_b", "x" * 64],
    "digits": [1, 12],
    "startAt": [1, 10**12 - 1],
    "properties": [[], ["From"], ["Date Sent"], ["a" * 255], [f"P{n}" for n in range(200)]],
}


@pytest.mark.parametrize("member", GOOD)
def test_what_is_in_order_is_taken(member: str) -> None:
    for value in GOOD[member]:
        assert taken(**{member: value}).model_dump(by_alias=True)[member] == value


BAD: dict[str, list[object]] = {
    "prefix": [
        "",
        "ACME1",
        "A[1]",
        "A B",
        " A",
        "A ",
        "A.",
        "A/B",
        "A\\",
        "é",
        "-A",
        "x" * 65,
        "A\n",
        "A\0",
        "\u0661A",
        7,
    ],
    "volume": ["", "a.b", "..", "a/b", "a\\b", "V OL", "-V", "V-", "_V", "x" * 65, "é", "V\n", 1],
    "digits": [0, 13, -1, 7.5, "7", True],
    "startAt": [0, -1, 10**12, "1", 1.5],
    "numbering": ["PAGE", "pages", "", 1],
    "case": ["", " Case", "x" * 256, "a\nb"],
    "properties.0": [[""], [" From"], ["From "], ["a\nb"], ["a\x14b"], ["x" * 256], [5]],
    "query": [[], "all", {"tags": "x"}, {"tag": ""}, {"custodian": ""}, {"tag": "x" * 501}],
    "exhibitIds": [[], [0], [-1], ["1"], [1.0], [True], [MAX_ID + 1], list(range(1, 10_002))],
}


@pytest.mark.parametrize("member", BAD)
def test_what_is_not_is_refused_where_it_stands(member: str) -> None:
    for value in BAD[member]:
        fields = {member.partition(".")[0]: value}
        places = refused(**{**({"query": None} if member == "exhibitIds" else {}), **fields})
        assert places
        assert all(place.startswith(member) for place in places), value


TOGETHER = [
    *({"query": None}, {"exhibitIds": [1]}, {"exhibitIds": [1], "query": {"tag": "a"}}),
    *({"properties": names} for names in (["From", "From"], ["From", "FROM"], ["E-Mail To", "email_to"])),
]


@pytest.mark.parametrize("fields", TOGETHER)
def test_there_is_one_way_of_selecting_and_a_column_is_named_once(fields: dict[str, Any]) -> None:
    assert refused(**fields) == [""]


def test_ten_thousand_ids_are_taken_and_members_that_nobody_knows_are_not() -> None:
    assert len(taken(query=None, exhibitIds=list(range(1, 10_001))).exhibit_ids or []) == 10_000
    assert refused(colour="red") == ["colour"]


def test_a_column_that_would_be_read_as_a_field_or_is_there_already_is_refused() -> None:
    """Beside a column that every production has, readers would take either."""
    fields = [field for field in SYNONYMS if field != "document_date"]
    names = [f"{synonym.upper()} #" for field in fields for synonym in SYNONYMS[field]]
    for name in (*names, *HEADER, "end attach", "DOCUMENT_DATE"):
        assert refused(properties=["From", name]) == ["properties.1"], name


def test_whatever_is_taken_leaves_our_columns_what_they_are() -> None:
    names = taken(properties=[*SYNONYMS["document_date"][2:], "From", "Pages", "TIFFPATH"]).properties
    assert map_columns((*HEADER, *names), {}) == (*map_columns(HEADER, {}), *(None for _ in names))
