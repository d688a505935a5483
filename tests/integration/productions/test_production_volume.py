"""A volume's load files: of each document they say what its exhibit says, however nasty that is."""

from __future__ import annotations

import tracemalloc
from datetime import datetime
from typing import Any

import pytest

from core.errors import ConflictError
from shell.productions import documents as produced_documents
from shell.productions import steps
from shell.productions.load_files import _generate_dat, _summarize, write_load_files
from shell.tables.productions import Productions
from shell.utils.document_properties import serialize_properties
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, objects_of, put_file
from tests.support.productions.written_volumes import dat_of, exhibit, running, written
from tests.support.volumes.load_file_reader import read_opt


def test_the_dat_says_what_the_exhibits_say(world: World) -> None:
    said = {"From": "ada", "To": None, "Secret": "no", "Tags": "Hot", "Document Date": "1/2/2001"}
    exhibit(
        world,
        "A",
        custodians=("Zoe", "Ada"),
        title="A title",
        file_name="a.doc",
        document_date=datetime(2001, 2, 1, 12, 30, 0, 250_000),
        properties=said,
    )
    exhibit(world, "B", document_date=datetime(1000, 1, 1))
    first, second = dat_of(world, written(properties=["From", "to", "Nothing"]))
    assert first == {
        "Begin Bates": "ACME0000001",
        "End Bates": "ACME0000001",
        "Begin Attach": "",
        "End Attach": "",
        "Parent Bates": "",
        "Custodian": "Ada; Zoe",
        "Title": "A title",
        "File Name": "a.doc",
        "Document Date": "2001-02-01T12:30:00.250000",
        "Native Link": "",
        "Text Link": "",
        "From": "ada",
        "to": "",
        "Nothing": "",
    }
    assert {name: value for name, value in second.items() if value} == {
        "Begin Bates": "ACME0000002",
        "End Bates": "ACME0000002",
        "Document Date": "1000-01-01T00:00:00",
    }


def test_a_doubtful_column_is_the_property_where_a_document_has_both(world: World) -> None:
    exhibit(world, "A", confidentiality="AEO", properties={"Designation": "Privileged"})
    exhibit(world, "B", confidentiality="Confidential")
    found = dat_of(world, written(properties=["Designation"]))
    assert [(each["Confidentiality"], each["Designation"]) for each in found] == [
        ("AEO", "Privileged"),
        ("Confidential", "Confidential"),
    ]


def test_dates_are_written_as_precise_as_they_are(world: World) -> None:
    timestamp, day = datetime(2001, 2, 1, 12, 30), datetime(2001, 2, 2)
    dates: dict[str, Any] = {
        "document_date": timestamp,
        "date_sent": timestamp,
        "date_received": day,
        "date_modified": day,
    }
    exhibit(world, "A", **dates, date_precision="UTD-D", properties={"Last Modified Date": "2/2/2001"})
    exhibit(world, "B", document_date=day, date_precision="D----")
    first, second = dat_of(world, written(properties=["Last Modified Date"]))
    assert [name for name in first if "Date" in name] == [
        *("Document Date", "Date Sent", "Date Received", "Last Modified Date")
    ]
    assert (first["Document Date"], first["Date Sent"]) == ("2001-02-01T12:30:00Z", "2001-02-01T12:30:00")
    assert (first["Date Received"], first["Last Modified Date"]) == ("2001-02-02", "2/2/2001")
    assert (second["Document Date"], second["Date Sent"], second["Date Received"]) == ("2001-02-02", "", "")


def test_tags_are_never_handed_over(world: World) -> None:
    made = exhibit(world, "A", title="t", properties={"Tags": "Privileged", "Issues": "Privileged", "From": "ada"})
    world.query("INSERT INTO tags (case_id, name) SELECT id, 'Privileged' FROM cases")
    world.query("INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT :e, id, 'u' FROM tags", e=made)
    production = written(properties=["From"], query={"tag": "Privileged"})
    assert all(b"rivileged" not in body for body in objects_of(world, production).values())


SIGNED: list[tuple[str, dict[str, Any]]] = [
    ("Title", {"title": "Acme®"}),
    ("File Name", {"file_name": "Acme®"}),
    ("Custodian", {"custodians": ("Acme®",)}),
    ("Said", {"properties": {"Said": "Acme®"}}),
]


def test_in_whatever_column_the_sign_for_line_breaks_stands_line_breaks_stand_as_they_are(world: World) -> None:
    for column, said in SIGNED:
        exhibit(world, "A", column, properties={"Body": "one\ntwo"})
        exhibit(world, "B", column, **said)
        first, second = dat_of(world, written(column, prefix="P", properties=["Said", "Body"]), marks=False)
        assert (first["Body"], second[column]) == ("one\ntwo", "Acme®")


def test_a_sign_for_line_breaks_that_comes_late_has_the_dat_written_again(world: World) -> None:
    exhibit(world, "A", title="one\ntwo")
    context = steps.reserve({steps.PRODUCTION: ask()})
    production, start = running(), (context[steps.DESTINATION], context[steps.POSITION])
    overview = _summarize(production, start)
    world.query("UPDATE exhibits SET title = 'Acme®'")
    with pytest.raises(ConflictError, match="changed") as error:
        list(_generate_dat(production, start, overview))
    assert error.value.retryable
    steps.copy({steps.PRODUCTION: production.id, **context, "part": 0})
    write_load_files(production, start)
    assert [record["Title"] for record in dat_of(world, production.id, marks=False)] == ["Acme®"]


def test_families_go_to_the_last_page(world: World) -> None:
    for number, parent, said in (("A", None, "3"), ("A.1", "A", "20"), ("B", None, "1")):
        exhibit(world, number, parent_control_number=parent, properties={"Pages": said})
    first, second, third = dat_of(world, written(numbering="page"))
    assert (first["Begin Bates"], first["End Bates"]) == ("ACME0000001", "ACME0000003")
    assert {(each["Begin Attach"], each["End Attach"]) for each in (first, second)} == {("ACME0000001", "ACME0000023")}
    assert (second["Parent Bates"], third["Begin Bates"]) == ("ACME0000001", "ACME0000024")


def test_images_have_an_opt_with_a_line_a_document(world: World) -> None:
    exhibit(world, "A", properties={"TIFFPATH": r".\IMG\a.TIF", "Pages": "3"})
    exhibit(world, "B", properties={"TIFFPATH": "  ", "Pages": "2"})
    exhibit(world, "C", properties={"PDF Path": "IMG/c.pdf", "Pages": "1"})
    for name in ("a.TIF", "c.pdf"):
        put_file(world, f"IMG/{name}", f"image {name}")
    production = written(numbering="page")
    objects = objects_of(world, production)
    assert read_opt(objects["VOL001/DATA/VOL001.opt"]) == [
        ["ACME0000001", "VOL001", r"VOL001\IMAGES\0001\ACME0000001.tif", "Y", "", "", "3"],
        ["ACME0000006", "VOL001", r"VOL001\IMAGES\0001\ACME0000006.pdf", "Y", "", "", "1"],
    ]
    assert objects["VOL001/IMAGES/0001/ACME0000006.pdf"] == b"image c.pdf"
    counted = read_opt(objects_of(world, written())["VOL001/DATA/VOL001.opt"])
    assert [line[6] for line in counted] == ["", ""], "numbered by document, the counts were not read"


def peak(production: Productions, start: tuple[int, int]) -> tuple[int, int]:
    """The bytes that the DAT has, and the most that was held while it was made."""
    tracemalloc.start()
    size = sum(map(len, _generate_dat(production, start, _summarize(production, start))))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, most


def test_the_dat_is_never_held_as_a_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(produced_documents, "PART_SIZE", 100)
    case_id = get_or_create_case(world, "Case", "tenant")
    found = []
    for documents in (100, 300):
        have = world.query("SELECT COUNT(*) FROM exhibits")[0][0]
        numbers = [f"D{number:05}" for number in range(have, documents)]
        put_exhibits(world, case_id, numbers, document_properties=serialize_properties({"Body": "x" * 10_000}))
        context = steps.reserve({steps.PRODUCTION: ask(properties=["Body"])})
        found.append(peak(running(), (context[steps.DESTINATION], context[steps.POSITION])))
    print(f"bytes of the DAT and most held: {found}")
    (small, least), (large, most) = found
    assert large > 2.9 * small
    assert most < 1.3 * least
