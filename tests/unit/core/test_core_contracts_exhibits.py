"""What the API takes for exhibits, custodians and taggings: all that can be stored exactly, and nothing else."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from pydantic import ValidationError

from core.contracts.exhibits import ExhibitChange, NewCustodians, TaggingRequest


def change(**fields: Any) -> ExhibitChange:
    """As it arrives: by its names in JSON."""
    return ExhibitChange.model_validate_json(json.dumps(fields))


def test_a_field_left_out_is_not_one_that_is_emptied() -> None:
    given = change(batesBegin=None, title="Memo")
    assert given.model_fields_set == {"bates_begin", "title"}
    assert (given.bates_begin, given.title) == (None, "Memo")


@pytest.mark.parametrize("text", ["x", " x ", "two\nlines\ttabbed\x0b", "\x01", "Zoë 👍", "x" * 1024])
def test_a_text_is_taken_as_it_is(text: str) -> None:
    assert change(title=text).title == text


DATES = ["0999-12-31T23:59:59", "10000-01-01T00:00:00", "2021-02-29T00:00:00", "2020-01-01T00:00:00Z"]
DATES += ["2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00.1234567", "2020-01-01T00:00:00,1234567", "", "soon"]
REFUSED: dict[str, list[object]] = {
    "title": ["", "x" * 1025, "a\0b", 5, ["x"]],
    "batesBegin": ["", " x", "x\n", "a\nb", "x" * 256, "a\0b"],
    "documentDate": [*DATES, 5, "1577836800", True],
    "controlNumber": ["A-1"],
    "version": [2],
    "title ": ["x"],
    "bates_begin": ["x"],
}


@pytest.mark.parametrize("field", REFUSED)
def test_what_could_not_be_stored_exactly_is_refused_by_its_place(field: str) -> None:
    for value in REFUSED[field]:
        with pytest.raises(ValidationError) as refused:
            change(**{field: value})
        assert [error["loc"] for error in refused.value.errors()] == [(field,)]


def test_a_change_of_no_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least one field"):
        change()


@pytest.mark.parametrize("date", ["1000-01-01T00:00:00", "9999-12-31T23:59:59.999999", "2020-02-29T12:00:00.5"])
def test_a_date_is_taken_to_the_microsecond(date: str) -> None:
    assert change(documentDate=date).document_date == datetime.fromisoformat(date)


@pytest.mark.parametrize("name", ["x", "x" * 500, r"Hot\Really Hot", "Zoë", "a b"])
def test_a_tag_may_be_as_long_as_its_column(name: str) -> None:
    assert TaggingRequest.model_validate({"exhibitIds": [1], "tags": [name]}).tags == [name]


BAD_TAGS = ["", " x", "x ", "a\nb", "a\0b", "a\x7fb", "x" * 501]
REQUESTS: list[tuple[type[TaggingRequest | NewCustodians], dict[str, Any]]] = [
    *((TaggingRequest, {"exhibitIds": [1], "tags": [name]}) for name in BAD_TAGS),
    *((TaggingRequest, {"exhibitIds": [number], "tags": ["x"]}) for number in (0, -1, 2**63, "x", None, 1.5)),
    *(
        (TaggingRequest, {"exhibitIds": [*range(1, exhibits + 1)], "tags": ["x"] * tags})
        for exhibits, tags in ((0, 1), (1, 0), (1_001, 1), (1, 51))
    ),
    *((NewCustodians, {"custodians": names}) for names in ([], ["x"] * 51, ["x" * 256], [" x"], [None])),
]


@pytest.mark.parametrize(("model", "body"), REQUESTS, ids=lambda value: ascii(value)[:40])
def test_too_many_or_what_is_no_id_or_name_of_the_database_is_refused(
    model: type[TaggingRequest | NewCustodians], body: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(body)
