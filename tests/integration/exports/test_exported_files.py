"""The file of an export is what the tables have, in each kind and format."""

from __future__ import annotations

import codecs
import csv
import io
import json
from typing import Any

import pytest

from core.csv_cells import neutralize_formula
from core.exports.columns import COLUMNS, ExportKind, to_camel
from shell.exports import numbered_rows
from tests.integration.exports.conftest import HOSTILE, Exporter
from tests.support.api.client import Client
from tests.support.application.driver import World

pytestmark = pytest.mark.usefixtures("hostile_case")
_DOCUMENTS = (
    "SELECT e.*, (SELECT GROUP_CONCAT(c.name ORDER BY c.name SEPARATOR '\n') FROM custodian_exhibits AS l "
    "JOIN custodians AS c ON c.id = l.custodian_id WHERE l.exhibit_id = e.id) AS custodians, "
    "(SELECT GROUP_CONCAT(t.name ORDER BY t.name SEPARATOR '\n') FROM taggings AS l "
    "JOIN tags AS t ON t.id = l.tag_id WHERE l.exhibit_id = e.id) AS tags, "
    "COALESCE((SELECT page_count FROM page_sets AS s WHERE s.id = e.page_set_id), 0) AS page_count "
    "FROM exhibits AS e ORDER BY e.control_number"
)
_PAGES = (
    "SELECT e.id AS exhibitId, e.control_number AS controlNumber, p.page_no AS page, p.image_key AS imageKey, "
    "NULL AS volumeId, NULL AS file, p.path, p.page_in_file AS pageInFile, p.rotation, s.import_id AS importId "
    "FROM exhibits AS e JOIN page_sets AS s ON s.id = e.page_set_id JOIN pages AS p ON p.page_set_id = s.id "
    "ORDER BY e.control_number, p.page_no"
)
_TAGS = (
    "SELECT e.id AS exhibitId, e.control_number AS controlNumber, t.name AS tag, l.user_id AS userId "
    "FROM exhibits AS e JOIN taggings AS l ON l.exhibit_id = e.id JOIN tags AS t ON t.id = l.tag_id "
    "ORDER BY e.control_number, t.name"
)


def documents(world: World) -> list[dict[str, Any]]:
    """The documents as the tables have them."""
    found = []
    for row in world.query(_DOCUMENTS):
        each = {name: row._mapping.get(name) for name in COLUMNS[ExportKind.DOCUMENTS]}
        each |= {"line": row.line_no, "has_native": False, "has_text": False}
        each |= {"properties": json.loads(row.document_properties or "{}")}
        each |= {kind: (row._mapping[kind] or "").split("\n") if row._mapping[kind] else [] for kind in LISTS}
        dated = row.document_date and row.document_date.isoformat()
        each |= {"document_date": dated, "date_precision": {"document_date": "time"} if dated else {}}
        found.append({to_camel(name): value for name, value in each.items()})
    return found


def history(world: World) -> list[dict[str, Any]]:
    """The history as the API has it, a row for each value."""
    found = []
    for number, each in world.query("SELECT control_number, id FROM exhibits ORDER BY control_number"):
        entries = Client("tenant", "ada").get(f"/exhibits/{each}/changes?order=asc&limit=500").json["items"]
        for entry in entries:
            kinds = {kind: entry.pop(kind) for kind in ("fields", "properties", "custodians", "tags")}
            values = [{"kind": k, "name": n, **v} for k in sorted(kinds) for n, v in sorted(kinds[k].items())]
            place = {"exhibitId": each, "controlNumber": number}
            shown = {name: value for name, value in entry.items() if name != "userName"}
            found += [{**place, **shown, **value} for value in values or [NO_VALUE]]
    return found


LISTS = ("custodians", "tags")
NO_VALUE = {"kind": None, "name": None}
REFERENCES = {
    "documents": documents,
    "pages": lambda world: [dict(row._mapping) for row in world.query(_PAGES)],
    "tags": lambda world: [dict(row._mapping) for row in world.query(_TAGS)],
    "history": history,
}


def read_jsonl(body: bytes) -> list[Any]:
    """The objects, of which each is a line, however a reader takes lines apart."""
    lines = body.decode("ascii").splitlines()
    assert lines == body.decode().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def cell(value: Any) -> str:
    """What a cell of a CSV file has."""
    if value is None:
        return ""
    if isinstance(value, list):
        value = "; ".join(value)
    return neutralize_formula(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    """The rows of a history as texts; the order of the values of one change is its own."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize("parts", ["one", "many"])
@pytest.mark.parametrize("kind", list(REFERENCES))
def test_the_file_is_what_the_tables_have(
    request: pytest.FixtureRequest, exporter: Exporter, world: World, kind: str, parts: str
) -> None:
    if parts == "many":
        request.getfixturevalue("small_parts")
        for name in ("ROWS_AT_ONCE", "VERSIONS_AT_ONCE"):
            request.getfixturevalue("monkeypatch").setattr(numbered_rows, name, 2)
    expected = REFERENCES[kind](world)
    assert len(expected) >= 9
    lines = read_jsonl(exporter.run(kind, "jsonl"))
    assert in_order(lines) == in_order(expected)
    keys = [row.get("controlNumber") for row in lines]
    assert keys == sorted(keys)
    body = exporter.run(kind, "csv")
    assert body.startswith(codecs.BOM_UTF8)
    header, *rows = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))
    assert header == [to_camel(name) for name in COLUMNS[ExportKind(kind)]]
    assert sorted(rows) == sorted([cell(row.get(name)) for name in header] for row in expected)
    assert not [each for row in rows for each in row if each[:1] in "=+-@" and each[:1]]


def test_columns_are_chosen_and_ordered(exporter: Exporter) -> None:
    body = exporter.run("documents", "csv", columns=["title", "controlNumber"]).decode("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(body, newline=""))
    assert header == ["title", "controlNumber"]
    assert [row[1] for row in rows] == [f"D-{number:03}" for number in range(len(HOSTILE))]
    assert [row[0] for row in rows][4:] == [neutralize_formula(text) for text in HOSTILE[4:]]


def test_filters_are_those_of_the_list(exporter: Exporter) -> None:
    listed = exporter.client.get("/exhibits?case=Case&tag=%3Dtag&hasImages=true").json["items"]
    filters = {"tag": "=tag", "hasImages": True}
    found = read_jsonl(exporter.run("documents", "jsonl", filters=filters))
    assert [each["id"] for each in found] == [each["id"] for each in listed]
    assert len(found) == 3
    [made] = exporter.client.get("/exports?case=Case").json["items"]
    assert (made["filters"], made["documents"], made["expectedDocuments"]) == (
        {"tag": ["=tag"], "hasImages": True},
        3,
        3,
    )
    assert exporter.run("documents", "jsonl", filters={"tag": "none of this name"}) == b""
    assert exporter.run("tags", "csv", filters={"controlNumber": "D-014"}).count(b"\n") == 1
