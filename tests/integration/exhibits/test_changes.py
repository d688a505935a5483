"""One client changes an exhibit: what is stored, what is refused, what the import makes of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy.orm import Session

from core.contracts.exhibits import Exhibit, ExhibitChange
from core.errors import InvalidInputError, StaleVersionError
from shell.db.session import engine
from shell.exhibits.commands import add_custodians, patch_exhibit
from shell.exhibits.queries import get_exhibit
from shell.utils.document_properties import serialize_properties
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases

HEAD = "Control Number,Title\n"


def change(**fields: Any) -> ExhibitChange:
    return ExhibitChange.model_validate(fields)


def patched(exhibit_id: int, version: int, **fields: Any) -> Exhibit:
    return done(patch_exhibit, CALLER, exhibit_id, frozenset({version}), change(**fields))


def test_all_fields_of_an_exhibit_are_returned(cases: Cases) -> None:
    properties = serialize_properties({"Author": "Åsa 'x' \\ \"y\"", "Pages": "<nil>", "Empty": None})
    timestamp = datetime(2001, 2, 3, 4, 5, 6, 789012)
    exhibit = cases.exhibit("A-1", title="Memo", document_date=timestamp, document_properties=properties, line_no=7)
    done(add_custodians, CALLER, exhibit, ["bob", "Ann"])
    response = get_exhibit(CALLER, exhibit)
    assert (response.case, response.control_number, response.title, response.line, response.version) == (
        "Case",
        "A-1",
        "Memo",
        7,
        2,
    )
    assert (response.document_date, response.custodians, response.tags) == (timestamp, ["Ann", "bob"], [])
    assert response.properties == {"Author": "Åsa 'x' \\ \"y\"", "Pages": "<nil>", "Empty": None}
    assert get_exhibit(CALLER, cases.exhibit("A-2")).properties == {}


def test_fields_are_changed_emptied_or_left(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", title="Memo", bates_begin="B-1", file_name="a.msg")
    response = patched(
        exhibit, 1, title="Letter\tof 5\u2028May", batesBegin=None, documentDate="2020-02-29T23:59:59.999999"
    )
    row = cases.row(exhibit)
    assert (row.title, row.bates_begin, row.file_name, row.version) == ("Letter\tof 5\u2028May", None, "a.msg", 2)
    assert row.document_date == datetime(2020, 2, 29, 23, 59, 59, 999999)
    assert response == get_exhibit(CALLER, exhibit)


def test_a_date_of_a_client_is_a_time_of_no_known_zone(cases: Cases) -> None:
    sent = datetime(2020, 2, 1)
    exhibit = cases.exhibit(
        "A-1", document_date=sent, date_sent=sent, document_date_source="date_sent", date_precision="DD---"
    )
    response = get_exhibit(CALLER, exhibit)
    assert (response.date_sent, response.document_date_source) == (sent, "date_sent")
    assert response.date_precision == {"document_date": "day", "date_sent": "day"}
    response = patched(
        exhibit, 1, documentDate="2020-02-29T23:59:59", dateSent=None, dateModified="2021-01-01T00:00:00"
    )
    assert (response.document_date, response.document_date_source) == (datetime(2020, 2, 29, 23, 59, 59), None)
    assert (response.date_sent, response.date_modified) == (None, datetime(2021, 1, 1))
    assert response.date_precision == {"document_date": "time", "date_modified": "time"}
    assert response == get_exhibit(CALLER, exhibit)


def test_a_day_of_a_client_stays_a_day(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", document_date=datetime(2020, 2, 1), date_precision="U----")
    response = patched(exhibit, 1, documentDate="2020-02-29", dateSent="1000-01-01")
    assert (response.document_date, response.date_sent) == (datetime(2020, 2, 29), datetime(1000, 1, 1))
    assert response.date_precision == {"document_date": "day", "date_sent": "day"}
    assert response == get_exhibit(CALLER, exhibit)
    with pytest.raises(ValueError, match="day is out of range"):
        change(documentDate="2019-02-29")


def test_the_first_and_last_timestamps_that_can_be_stored_are(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1")
    for version, date in enumerate(("1000-01-01T00:00:00", "9999-12-31T23:59:59.999999"), start=1):
        patched(exhibit, version, documentDate=date)
        assert cases.row(exhibit).document_date == datetime.fromisoformat(date)


def test_a_change_of_nothing_is_a_version_too(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", title="Memo", row_hash=None)
    assert [patched(exhibit, version, title="Memo").version for version in (1, 2)] == [2, 3]
    with pytest.raises(StaleVersionError) as stale:
        patched(exhibit, 2, title="Memo")
    assert stale.value.current_version == cases.row(exhibit).version == 3


def test_without_the_flag_a_change_of_nothing_checks_nothing(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", title="Memo", row_hash=None)
    with Session(engine()) as naive:
        from shell.tables.exhibits import Exhibits

        row = naive.get_one(Exhibits, exhibit)
        cases.database.query("UPDATE exhibits SET version = 2 WHERE id = :id", id=exhibit)
        row.title = "Memo"
        naive.commit()
    assert cases.row(exhibit).version == 2, "neither raised nor refused"


def test_only_one_of_the_versions_that_are_named_is_changed(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", title="Memo")
    for versions in ({2}, {0, 3}, set[int]()):
        with pytest.raises(StaleVersionError) as stale:
            done(patch_exhibit, CALLER, exhibit, frozenset(versions), change(title="x"))
        assert stale.value.current_version == 1
        assert (cases.row(exhibit).title, cases.row(exhibit).version) == ("Memo", 1)
    assert done(patch_exhibit, CALLER, exhibit, frozenset({1, 9}), change(title="x")).version == 2


def test_a_text_that_its_column_cannot_hold_is_refused(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", title="Memo", file_name="a")
    for field, value in {"title": "x👍", "nativePath": "👍"}.items():
        with pytest.raises(InvalidInputError, match=f"^{field}: "):
            patched(exhibit, 1, fileName="b", **{field: value})
    long = ExhibitChange.model_construct({"title"}, title="x" * 1025)
    with pytest.raises(InvalidInputError, match="title: The value has 1025 characters; the column holds 1024"):
        done(patch_exhibit, CALLER, exhibit, frozenset({1}), long)
    assert tuple(cases.row(exhibit))[6:8] == ("Memo", "a")
    assert cases.row(exhibit).version == 1


def test_an_import_does_not_take_a_changed_exhibit_for_unchanged(cases: Cases, world: World) -> None:
    data = (HEAD + "A-1,Memo\nA-2,Memo\n").encode()
    world.run(data)
    exhibit = int(cases.database.scalar("SELECT id FROM exhibits WHERE control_number = 'A-1'"))
    patched(exhibit, 1, title="Letter")
    again = world.run(data)
    counts = world.query("SELECT unchanged, rejected FROM imports WHERE id = :id", id=again)
    assert [tuple(row) for row in counts] == [(1, 1)]
    assert (cases.row(exhibit).title, cases.row(exhibit).version) == ("Letter", 2)
