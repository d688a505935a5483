"""What the API takes: all that can be recorded exactly as it was meant, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, ValidationError

from core.contracts.custody import NewPeriod, NewTransfer, PeriodPatch
from core.contracts.exhibits import ExhibitChange, NewCustodians
from core.contracts.productions import NewProduction
from core.contracts.taggings import TaggingRequest
from core.exhibit_dates import DATE_FIELDS
from core.load_file.field_mapping import map_columns
from core.load_file.header_names import FAMILY_PROPERTIES, SYNONYMS, TIME_FIELDS
from core.productions.bates import Numbering
from core.productions.volume import HEADER, TEXT_COLUMNS

M = TypeVar("M", bound=BaseModel)
Model = type[BaseModel]
BEGIN, END = "2026-11-21T15:00:00Z", "2026-11-21T17:00:00Z"
# The least that each takes; of a change nothing has to be said but one field.
LEAST: dict[Model, dict[str, Any]] = {
    ExhibitChange: {},
    TaggingRequest: {"exhibitIds": [1], "tags": ["x"]},
    NewCustodians: {"custodians": ["x"]},
    NewPeriod: {"deviceId": 100, "begin": BEGIN, "end": END},
    PeriodPatch: {},
    NewTransfer: {"deviceId": 100, "at": BEGIN, "custodianId": 7},
    NewProduction: {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, "query": {}},
}


def taken(model: type[M], **fields: Any) -> M:
    """As it arrives: the least with these fields, read from JSON, then checked; an ellipsis leaves a field out."""
    body = {name: value for name, value in {**LEAST[model], **fields}.items() if value is not ...}
    return model.model_validate(json.loads(json.dumps(body)))


def refused(model: Model, **fields: Any) -> list[str]:
    """Where it is refused."""
    with pytest.raises(ValidationError) as error:
        taken(model, **fields)
    return [".".join(map(str, each["loc"])) for each in error.value.errors()]


TITLES = ["x", " x ", "two\nlines\ttabbed\x0b", "\x01", "Zoë 👍", "x" * 1024]
# Their length is counted in characters, as their column counts them.
NOTES = ["x", " x ", "two\r\nlines\ttabbed", "\u2028", "x" * 1_000, "👍" * 1_000, "é" * 1_000, "e\u0301"]
TAKEN: list[tuple[Model, str, list[Any]]] = [
    (ExhibitChange, "title", TITLES),
    (TaggingRequest, "tags", [[name] for name in ("x", "x" * 500, r"Hot\Really Hot", "Zoë", "a b")]),
    (NewPeriod, "deviceId", [1, 2**53 - 1]),
    *((model, "note", NOTES) for model in (NewPeriod, PeriodPatch, NewTransfer)),
    (NewProduction, "prefix", ["A", "a", "ACME-", "AB12_", "1A", "A-B_C", "x" * 64]),
    (NewProduction, "volume", ["V", "1", "V1", "VOL-001", "a_b", "x" * 64]),
    (NewProduction, "digits", [1, 12]),
    (NewProduction, "startAt", [1, 10**12 - 1]),
    (NewProduction, "properties", [[], ["From"], ["Date Sent"], ["a" * 255], [f"P{n}" for n in range(200)]]),
]


@pytest.mark.parametrize(("model", "member", "values"), TAKEN, ids=lambda value: getattr(value, "__name__", None))
def test_what_can_be_recorded_is_taken_as_it_is(model: Model, member: str, values: list[Any]) -> None:
    for value in values:
        assert taken(model, **{member: value}).model_dump(by_alias=True)[member] == value


DATES = ["0999-12-31T23:59:59", "10000-01-01T00:00:00", "2021-02-29T00:00:00", "2020-01-01T00:00:00Z"]
DATES += ["2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00.1234567", "2020-01-01T00:00:00,1234567", "", "soon"]
BAD_TAGS = ["", " x", "x ", "a\nb", "a\0b", "a\x7fb", "x" * 501]
NO_IDS: list[object] = ["7", True, 7.0, 1.5, 0, -1, 2**53, [7], {}]
NO_NOTES: list[object] = ["", "x" * 1_001, "👍" * 1_001, 5, True, ["x"], "\ud800", "x\udfff"]
NO_NOTES += [f"a{sign}b" for sign in "\0\x01\x0b\x1b\x7f\x85"]
NO_TIMESTAMPS: list[object] = [True, 1795273200, 1795273200.5, "", "1795273200", "2026-11-21T15:00", []]
NO_PREFIXES = [
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
]
NO_VOLUMES = ["", "a.b", "..", "a/b", "a\\b", "V OL", "-V", "V-", "_V", "x" * 65, "é", "V\n", 1]
REVISED = {
    "custodianId": NO_IDS,
    "begin": NO_TIMESTAMPS,
    "end": [*NO_TIMESTAMPS, "9999-12-31T00:00:00Z"],
    "note": NO_NOTES,
}
REFUSED: dict[Model, dict[str, list[Any]]] = {
    ExhibitChange: {
        "title": ["", "x" * 1025, "a\0b", 5, ["x"]],
        "batesBegin": ["", " x", "x\n", "a\nb", "x" * 256, "a\0b"],
        "documentDate": [*DATES, 5, "1577836800", True],
        **{name: ["x"] for name in ("controlNumber", "version", "title ", "bates_begin")},
    },
    TaggingRequest: {
        "tags": [[], ["x"] * 51, *([name] for name in BAD_TAGS)],
        "exhibitIds": [[], [*range(1, 1_002)], *([number] for number in (0, -1, 2**63, "x", None, 1.5))],
    },
    NewCustodians: {"custodians": [[], ["x"] * 51, ["x" * 256], [" x"], [None]]},
    NewPeriod: {
        **REVISED,
        "deviceId": [*NO_IDS, None],
        "begin": [*NO_TIMESTAMPS, None],
        **{name: [1] for name in ("id", "version", "tenantId", "device_id", "DeviceId", "custodian", "")},
    },
    PeriodPatch: REVISED | {name: [1] for name in ("deviceId", "version", "tenantId", "custodian")},
    NewTransfer: {"fromPeriodId": NO_IDS} | {name: [1] for name in ("version", "tenantId", "custodian")},
    NewProduction: {
        "prefix": NO_PREFIXES,
        "volume": NO_VOLUMES,
        "digits": [0, 13, -1, 7.5, "7", True],
        "startAt": [0, -1, 10**12, "1", 1.5],
        "numbering": ["PAGE", "pages", "", 1],
        "case": ["", " Case", "x" * 256, "a\nb"],
        "properties.0": [[""], [" From"], ["From "], ["a\nb"], ["a\x14b"], ["x" * 256], [5]],
        "properties": [[f"P{number}" for number in range(201)]],
        "query": [[], "all", {"tags": "x"}, {"tag": ""}, {"custodian": ""}, {"tag": "x" * 501}],
        "exhibitIds": [[], [0], [-1], ["1"], [1.0], [True], [2**53], list(range(1, 10_002))],
        "colour": ["red"],
    },
}
MEMBERS = [(model, member) for model, members in REFUSED.items() for member in members]


@pytest.mark.parametrize(("model", "member"), MEMBERS, ids=lambda value: getattr(value, "__name__", value))
def test_what_could_not_be_recorded_exactly_is_refused_by_its_place(model: Model, member: str) -> None:
    others = {"query": ...} if member == "exhibitIds" and model is NewProduction else {}
    for value in REFUSED[model][member]:
        places = refused(model, **others, **{member.partition(".")[0]: value})
        assert places
        assert all(place == member or place.startswith(f"{member}.") for place in places), (value, places)


NEEDED = [*((NewPeriod, member) for member in LEAST[NewPeriod]), (NewTransfer, "custodianId")]


@pytest.mark.parametrize(("model", "member"), NEEDED, ids=lambda value: getattr(value, "__name__", value))
def test_what_has_to_be_said_even_if_it_is_null_is_missed(model: Model, member: str) -> None:
    """A request that forgets the end would say that the device is still held."""
    assert refused(model, **{member: ...}) == [member]


ENDS = [BEGIN, "2026-11-21T14:59:59.999999Z", "2026-11-21T16:00:00+01:00", "2026-11-21T16:30:00+02:00"]
SAME_COLUMN = [("From", "From"), ("From", "FROM"), ("E-Mail To", "email_to")]
TOGETHER: list[tuple[Model, dict[str, Any]]] = [
    (ExhibitChange, {}),
    # A period ends after it begins, whatever its offset makes it look like.
    *((model, {"end": end}) for model in (NewPeriod, NewTransfer) for end in ENDS),
    *((PeriodPatch, fields) for fields in ({}, {"begin": None}, {"begin": None, "end": END})),
    # There is one way of selecting, and a column is named once.
    *((NewProduction, {"query": ...} | more) for more in ({}, {"exhibitIds": [1], "query": {"tag": "a"}})),
    (NewProduction, {"exhibitIds": [1]}),
    *((NewProduction, {"properties": [one, other]}) for one, other in SAME_COLUMN),
]


@pytest.mark.parametrize(("model", "fields"), TOGETHER, ids=lambda value: getattr(value, "__name__", str(value)))
def test_fields_that_do_not_go_together_are_refused_as_a_whole(model: Model, fields: dict[str, Any]) -> None:
    assert refused(model, **fields) == [""]


CHANGES: list[tuple[Model, dict[str, Any], set[str]]] = [
    (ExhibitChange, {"batesBegin": None, "title": "Memo"}, {"bates_begin", "title"}),
    *((PeriodPatch, {member: value}, {member}) for member, value in (("end", None), ("end", END), ("begin", BEGIN))),
    (PeriodPatch, {"custodianId": None, "note": None}, {"custodian_id", "note"}),
    (
        PeriodPatch,
        {"begin": BEGIN, "end": END, "custodianId": 7, "note": "x"},
        {"begin", "end", "custodian_id", "note"},
    ),
]


@pytest.mark.parametrize(("model", "fields", "named"), CHANGES)
def test_a_field_left_out_is_not_one_that_is_emptied(model: Model, fields: Mapping[str, Any], named: set[str]) -> None:
    assert taken(model, **fields).model_fields_set == named


@pytest.mark.parametrize("date", ["1000-01-01T00:00:00", "9999-12-31T23:59:59.999999", "2020-02-29T12:00:00.5"])
def test_a_date_is_taken_to_the_microsecond(date: str) -> None:
    assert taken(ExhibitChange, documentDate=date).document_date == datetime.fromisoformat(date)


def test_a_period_is_taken_as_it_is_meant() -> None:
    whole = taken(NewPeriod, custodianId=7, note="sealed")
    assert (whole.device_id, whole.custodian_id, whole.note) == (100, 7, "sealed")
    assert (whole.begin, whole.end) == (datetime(2026, 11, 21, 15), datetime(2026, 11, 21, 17))
    least = taken(NewPeriod, end=None)
    assert (least.end, least.custodian_id, least.note) == (None, None, None)
    short = taken(NewPeriod, end="2026-11-21T16:00:00.000001+01:00")
    assert short.end == datetime(2026, 11, 21, 15, 0, 0, 1)


def test_a_transfer_says_to_whom_even_if_that_is_not_known() -> None:
    given = taken(NewTransfer, custodianId=None)
    assert (given.custodian_id, given.end, given.from_period_id) == (None, None, None)


def test_a_production_is_of_all_that_is_selected_and_of_ten_thousand_ids_at_most() -> None:
    parsed = taken(NewProduction)
    assert (parsed.start_at, parsed.exhibit_ids) == (None, None)
    assert (parsed.numbering, parsed.properties) == (Numbering.DOCUMENT, [])
    assert taken(NewProduction, numbering="page").numbering is Numbering.PAGE
    assert len(taken(NewProduction, query=..., exhibitIds=[*range(1, 10_001)]).exhibit_ids or []) == 10_000


def test_a_column_that_would_be_read_as_a_field_or_is_there_already_is_refused() -> None:
    """Beside a column that every production has, readers would take either."""
    allowed = (*DATE_FIELDS, *TIME_FIELDS.values(), *TEXT_COLUMNS, *FAMILY_PROPERTIES)
    fields = [field for field in SYNONYMS if field not in allowed]
    names = [f"{synonym.upper()} #" for field in fields for synonym in SYNONYMS[field]]
    for name in (*names, *HEADER, "end attach", "DOCUMENT_DATE"):
        assert refused(NewProduction, properties=["From", name]) == ["properties.1"], name


def test_whatever_is_taken_leaves_our_columns_what_they_are() -> None:
    names = taken(NewProduction, properties=[*SYNONYMS["document_date"][2:], "From", "Pages", "TIFFPATH"]).properties
    assert map_columns((*HEADER, *names), {}) == (*map_columns(HEADER, {}), *(None for _ in names))
    # What they state has no effect on a row that has a parent, and its first documents have no number of theirs.
    assert taken(NewProduction, properties=["Group Identifier", "Attachment IDs", "ATTACHRANGE"]).properties
