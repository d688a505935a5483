"""Every count that the commands print and the API returns, compared with `SELECT COUNT(*)` after every step of a case.

The case gets a load file with rejected rows, a checked and imported volume with its faults, an overlay, and undos with
and without something that they keep. test_import_counts.py looks between the chunks of an import and of an undo.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, Engine, create_engine, text

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.stack.served_stack import publish_stack
from local.time_scale import TimeScale
from samples.volume import VolumeSpec, generate_volume
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow

Document = dict[str, Any]
VOLUME = generate_volume(VolumeSpec(families=4))
ROWS = """\
Control Number,Title,Custodian,Tags
A-1,one,Ann,Hot
A-2,two,Bob,
,no number,Ann,
A-3,three,ann,Cold
A-1,again,,
"""
OVERLAY = "Control Number,Title\nA-1,uno\nA-2,two\nA-9,nine\n"

# By the kind of an import: what its counts count. A document that an undo removed has left a tombstone.
CREATED = (
    "SELECT (SELECT COUNT(*) FROM exhibits WHERE import_id = :id) "
    "+ (SELECT COUNT(*) FROM exhibit_tombstones WHERE import_id = :id)"
)
REJECTED = (
    "SELECT COALESCE(SUM(n), 0) FROM (SELECT MAX(row_count) AS n FROM import_rejections WHERE import_id = :id "
    "GROUP BY line_no) AS by_line"
)
WARNINGS = "SELECT COUNT(*) FROM import_warnings WHERE import_id = :id"
CHANGED = "SELECT COUNT(DISTINCT exhibit_id) FROM exhibit_changes WHERE import_id = :id AND undo_no IS NULL"
WITH_PAGES = "SELECT COUNT(*) FROM page_sets WHERE import_id = :id"
PAGES = "SELECT COUNT(*) FROM pages JOIN page_sets ON page_sets.id = page_set_id WHERE import_id = :id"
KEPT = "SELECT COUNT(DISTINCT exhibit_id) FROM import_undo_kept WHERE import_id = :id AND undo_no = :no"
LINKED = "SELECT COUNT(*) FROM exhibit_files WHERE import_id = :id AND kind = :kind AND file_id > 0"
CODES = "SELECT COUNT(*) FROM import_warnings WHERE import_id = :id AND code = :code"


@dataclass
class Counted:
    """A case, the commands on it, the API, and the database past both."""

    stack: LocalStack
    workspace: Workspace
    engine: Engine
    capsys: pytest.CaptureFixture[str]
    case: str = "Case 12"
    printed: dict[int, Document] = field(default_factory=dict)

    def run(self, *arguments: str | Path) -> Document:
        """Return the JSON object of a command."""
        main([*map(str, arguments), "--json"], self.workspace)
        return dict(json.loads(self.capsys.readouterr().out))

    def load(self, command: str, source: Path, *options: str) -> Document:
        """Import or check a file or volume, and keep what is printed of each import."""
        document = self.run(command, source, "--case", self.case, *options)
        for entry in document.get("imports") or document["checks"]:
            self.printed[entry["import_id"]] = entry
        return document

    def get(self, path: str) -> Document:
        """Return what the API answers."""
        return dict(json.loads(self.stack.request_api("local", "ann", "GET", path)[1]))

    def count(self, statement: str, **values: Any) -> int:
        """Return the number that a statement selects."""
        with self.engine.connect() as connection:
            return int(connection.execute(text(statement), values).scalar_one())

    def count_pages(self, path: str) -> int:
        """Return how many items a list of the API has, page by page."""
        page = self.get(path)
        count = len(page["items"])
        while page["next"]:
            page = self.get(f"{path}&after={page['next']}")
            count += len(page["items"])
        return count


@pytest.fixture
def counted(tmp_path: Path, schema_url: URL, capsys: pytest.CaptureFixture[str]) -> Iterator[Counted]:
    with schema_beside(schema_url, "counts") as url:
        workspace = Workspace(tmp_path / "state", database_url=url.render_as_string(hide_password=False))
        scale = TimeScale(0.05, shortest_timeout=float("inf"))
        options = StackOptions(
            workers=1, time_scale=scale, database_url=workspace.database_url, template=DEFAULT_TEMPLATE
        )
        engine = create_engine(workspace.database_url or "")
        with LocalStack(workspace.state_dir, options) as stack, publish_stack(stack, os.getpid()):
            yield Counted(stack, workspace, engine, capsys)
        engine.dispose()


def compare_case(counted: Counted) -> None:
    """Compare the counts of the case, of its lists and of each of its imports with the rows of the tables."""
    documents, imports = counted.count("SELECT COUNT(*) FROM exhibits"), counted.count("SELECT COUNT(*) FROM imports")
    [listed], [found] = counted.run("cases")["cases"], counted.get("/cases")["items"]
    assert (listed["documents"], listed["imports"]) == (documents, imports)
    assert (found["documents"], found["imports"]) == (documents, imports)
    assert len(counted.run("documents", "--case", counted.case)["documents"]) == documents
    assert counted.count_pages("/exhibits?case=Case%2012&limit=2") == documents
    custodians = counted.count("SELECT COUNT(*) FROM custodians")
    assert counted.count_pages("/custodians?case=Case%2012&limit=2") == custodians
    rows = counted.run("imports", "--case", counted.case)["imports"]
    items = {each["id"]: each for each in counted.get("/imports?limit=500")["items"]}
    assert len(rows) == len(items) == imports
    for row in rows:
        details = counted.get(f"/imports/{row['id']}")
        for described in (row, _with_words(items[row["id"]]), _with_words(details)):
            compare_import(counted, row["id"], described)
        compare_files(counted, details)


def _with_words(item: Document) -> Document:
    return {**item, "rows_seen": item["rowsSeen"]}


def compare_import(counted: Counted, import_id: int, described: Document) -> None:
    """Compare the counts of an import, or of a check with what the check printed."""
    printed = counted.printed[import_id]
    added_up = sum(described[name] for name in ("imported", "unchanged", "updated", "rejected"))
    assert described["rows_seen"] == printed["rows_seen"] == added_up
    if described["phase"] == "check":
        counts = {"imported": "would_import", "updated": "would_update", "rejected": "would_reject"}
        assert {name: described[name] for name in counts} == {name: printed[each] for name, each in counts.items()}
        assert described["unchanged"] == printed["unchanged"]
        assert counted.count(CREATED, id=import_id) == counted.count(WITH_PAGES, id=import_id) == 0
        return
    names = ("imported", "unchanged", "updated", "rejected", "warnings")
    assert {name: described[name] for name in names} == {name: printed[name] for name in names}
    assert described["rejected"] == counted.count(REJECTED, id=import_id)
    assert described["warnings"] == counted.count(WARNINGS, id=import_id) == sum(printed["warnings_by_code"].values())
    assert sum(printed["rejected_by_code"].values()) == described["rejected"]
    # The history of a document and its pages go with it: what an undo took away was compared before.
    if described["status"].startswith("completed"):
        is_images = printed["pages"] is not None
        assert described["imported"] == counted.count(WITH_PAGES if is_images else CREATED, id=import_id)
        assert is_images or described["updated"] == counted.count(CHANGED, id=import_id)


def compare_files(counted: Counted, details: Document) -> None:
    """Compare the counts of files and pages with the links and pages, as long as the import is not undone."""
    if details["phase"] == "check" or not details["status"].startswith("completed"):
        return
    place, files, pages = {"id": details["id"]}, details["files"], details["pages"]
    if pages:
        assert pages["imported"] == counted.count(PAGES, **place)
        assert pages["documents"] == counted.count(WITH_PAGES, **place)
        assert pages["missingImages"] == counted.count(f"{PAGES} AND file_id IS NULL", **place)
    elif files:
        for kind in ("native", "text"):
            assert files[f"{kind}sLinked"] == counted.count(LINKED, **place, kind=kind)
            assert files[f"{kind}sMissing"] == counted.count(CODES, **place, code=f"{kind.upper()}_MISSING")


def compare_volume(counted: Counted, document: Document) -> None:
    """Compare what is printed of a volume with what it has, and with its imports."""
    volume_id = document["volume"]["id"]
    stored = counted.count("SELECT COUNT(*) FROM volume_files WHERE volume_id = :id", id=volume_id)
    assert document["volume"]["files"] == counted.get(f"/volumes/{volume_id}")["files"] == stored
    assert counted.count_pages(f"/volumes/{volume_id}/files?limit=10") == stored
    assert document["files"]["unreferenced"] == sum(fault.code == "UNREFERENCED_FILE" for fault in VOLUME.faults)


def compare_undo(counted: Counted, import_id: int) -> None:
    """Undo an import, and compare what is printed of it with the documents that are gone."""
    before = counted.count("SELECT COUNT(*) FROM exhibits")
    undone = counted.run("undo", str(import_id), "--yes")
    described = counted.get(f"/imports/{import_id}/undo")
    place = {"id": import_id, "no": described["undoNo"]}
    removed = counted.count("SELECT COUNT(*) FROM exhibit_tombstones WHERE import_id = :id AND undo_no = :no", **place)
    assert described["removed"] == undone["removed"] == removed
    assert removed == before - counted.count("SELECT COUNT(*) FROM exhibits")
    assert described["kept"] == undone["kept"] == counted.count(KEPT, **place)
    compare_case(counted)


def test_every_count_that_is_printed_is_the_number_of_rows(counted: Counted, tmp_path: Path) -> None:
    for name, content in (("rows.csv", ROWS), ("overlay.csv", OVERLAY)):
        (tmp_path / name).write_text(content)
    folder = VOLUME.write(tmp_path)
    [first] = counted.load("import", tmp_path / "rows.csv")["imports"]
    assert first["custodians_created"] == counted.count("SELECT COUNT(*) FROM custodians") == 2
    assert first["tags_created"] == counted.count("SELECT COUNT(*) FROM tags") == 2
    assert (first["imported"], first["rejected"]) == (3, 2)
    compare_case(counted)
    counted.load("check", folder)
    compare_case(counted)
    document = counted.load("import", folder)
    compare_volume(counted, document)
    compare_case(counted)
    counted.load("check", tmp_path / "overlay.csv", "--mode", "append_overlay")
    [overlaid] = counted.load("import", tmp_path / "overlay.csv", "--mode", "append_overlay")["imports"]
    assert (overlaid["imported"], overlaid["updated"], overlaid["unchanged"]) == (1, 1, 1)
    compare_case(counted)
    rows, images = (each["import_id"] for each in document["imports"])
    # A-1 is kept: the overlay has changed it.
    for import_id in (first["import_id"], images, rows, overlaid["import_id"], first["import_id"]):
        compare_undo(counted, import_id)
    assert counted.count("SELECT COUNT(*) FROM exhibits") == 0
