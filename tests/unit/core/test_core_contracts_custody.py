"""What the API takes for custody: periods that can be recorded exactly as they were meant, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, ValidationError

from core.contracts.common import MAX_ID
from core.contracts.custody import NewPeriod, NewTransfer, PeriodPatch

M = TypeVar("M", bound=BaseModel)
BEGIN, END = "2026-11-21T15:00:00Z", "2026-11-21T17:00:00Z"
PERIOD = {"deviceId": 100, "begin": BEGIN, "end": END}
TRANSFER = {"deviceId": 100, "at": BEGIN, "custodianId": 7}


def taken(model: type[M], fields: Mapping[str, object]) -> M:
    """As it arrives: read from JSON, then checked."""
    return model.model_validate(json.loads(json.dumps(fields)))


def refused(model: type[BaseModel], fields: Mapping[str, object]) -> list[tuple[tuple[int | str, ...], str]]:
    """Where and why."""
    with pytest.raises(ValidationError) as error:
        taken(model, fields)
    return [(each["loc"], each["type"]) for each in error.value.errors()]


def test_a_period_is_taken_as_it_is_meant() -> None:
    whole = taken(NewPeriod, {**PERIOD, "custodianId": 7, "note": "sealed"})
    assert (whole.device_id, whole.custodian_id, whole.note) == (100, 7, "sealed")
    assert (whole.begin, whole.end) == (datetime(2026, 11, 21, 15), datetime(2026, 11, 21, 17))
    least = taken(NewPeriod, {**PERIOD, "end": None})
    assert (least.end, least.custodian_id, least.note) == (None, None, None)


@pytest.mark.parametrize("member", PERIOD)
def test_a_period_has_a_device_a_begin_and_an_end_that_may_be_null(member: str) -> None:
    """A request that forgets the end would say that the device is still held."""
    rest = {name: value for name, value in PERIOD.items() if name != member}
    assert refused(NewPeriod, rest) == [((member,), "missing")]


NO_IDS: list[object] = ["7", True, 7.0, 1.5, 0, -1, MAX_ID + 1, [7], {}]
NO_NOTES: list[object] = ["", "x" * 1_001, "👍" * 1_001, 5, True, ["x"], "\ud800", "x\udfff"]
NO_NOTES += [f"a{sign}b" for sign in "\0\x01\x0b\x1b\x7f\x85"]
NO_MOMENTS: list[object] = [True, 1795273200, 1795273200.5, "", "1795273200", "2026-11-21T15:00", []]
REVISED = {
    "custodianId": NO_IDS,
    "begin": NO_MOMENTS,
    "end": [*NO_MOMENTS, "9999-12-31T00:00:00Z"],
    "note": NO_NOTES,
}
STRANGE = REVISED | {"deviceId": [*NO_IDS, None], "begin": [*NO_MOMENTS, None]}
STRANGE |= {name: [1] for name in ("id", "version", "tenantId", "device_id", "DeviceId", "custodian", "")}


@pytest.mark.parametrize("member", STRANGE)
def test_what_could_not_be_recorded_exactly_is_refused_by_its_place(member: str) -> None:
    for value in STRANGE[member]:
        assert [place for place, _ in refused(NewPeriod, {**PERIOD, member: value})] == [(member,)], value


@pytest.mark.parametrize("member", [*REVISED, "deviceId"])
def test_a_revision_takes_what_a_period_does(member: str) -> None:
    for value in REVISED.get(member, [100]):
        assert [place for place, _ in refused(PeriodPatch, {member: value})] == [(member,)], value


def test_no_body_has_a_member_that_is_not_known() -> None:
    bodies: list[tuple[type[BaseModel], dict[str, object]]] = [(PeriodPatch, {"note": "x"}), (NewTransfer, TRANSFER)]
    for model, fields in bodies:
        for member in ("version", "tenantId", "custodian"):
            assert refused(model, {**fields, member: 1}) == [((member,), "extra_forbidden")]


def test_a_device_is_any_number_that_json_holds_exactly() -> None:
    for number in (1, MAX_ID):
        assert taken(NewPeriod, {**PERIOD, "deviceId": number}).device_id == number


NOTES = ["x", " x ", "two\r\nlines\ttabbed", "\u2028", "x" * 1_000, "👍" * 1_000, "é" * 1_000, "e\u0301"]


@pytest.mark.parametrize("note", NOTES)
def test_a_note_is_taken_as_it_is(note: str) -> None:
    """Its length is counted in characters, as its column counts them."""
    assert taken(NewPeriod, {**PERIOD, "note": note}).note == note
    assert taken(PeriodPatch, {"note": note}).note == note
    assert taken(NewTransfer, {**TRANSFER, "note": note}).note == note


ENDS = [BEGIN, "2026-11-21T14:59:59.999999Z", "2026-11-21T16:00:00+01:00", "2026-11-21T16:30:00+02:00"]


@pytest.mark.parametrize("end", ENDS)
def test_a_period_ends_after_it_begins(end: str) -> None:
    """Whatever its offset makes it look like."""
    assert refused(NewPeriod, {**PERIOD, "end": end}) == [((), "value_error")]
    assert refused(NewTransfer, {**TRANSFER, "end": end}) == [((), "value_error")]


def test_a_period_of_a_microsecond_is_one() -> None:
    short = taken(NewPeriod, {**PERIOD, "end": "2026-11-21T16:00:00.000001+01:00"})
    assert short.end == datetime(2026, 11, 21, 15, 0, 0, 1)


REVISIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"end": None}, {"end"}),
    ({"end": END}, {"end"}),
    ({"begin": BEGIN}, {"begin"}),
    ({"custodianId": None, "note": None}, {"custodian_id", "note"}),
    ({"begin": BEGIN, "end": END, "custodianId": 7, "note": "x"}, {"begin", "end", "custodian_id", "note"}),
]


@pytest.mark.parametrize(("fields", "named"), REVISIONS)
def test_a_member_left_out_is_not_one_that_is_null(fields: dict[str, Any], named: set[str]) -> None:
    assert taken(PeriodPatch, fields).model_fields_set == named


@pytest.mark.parametrize("fields", [{}, {"begin": None}, {"begin": None, "end": END}])
def test_a_revision_changes_something_and_leaves_a_begin(fields: dict[str, Any]) -> None:
    assert refused(PeriodPatch, fields) == [((), "value_error")]


def test_a_transfer_says_to_whom_even_if_that_is_not_known() -> None:
    given = taken(NewTransfer, {**TRANSFER, "custodianId": None})
    assert (given.custodian_id, given.end, given.from_period_id) == (None, None, None)
    assert refused(NewTransfer, {"deviceId": 100, "at": BEGIN}) == [(("custodianId",), "missing")]


def test_a_transfer_names_a_period_by_its_id() -> None:
    for value in NO_IDS:
        assert [place[0] for place, _ in refused(NewTransfer, {**TRANSFER, "fromPeriodId": value})] == ["fromPeriodId"]
