"""A volume that was produced by page and is imported into another case says there what the first case says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from shell.aws import clients
from tests.integration.volumes.volume_requests import build_zip, finish_imports, run, state, upload, upload_zip
from tests.support.application.driver import World
from tests.support.productions.runs import ask, execute, objects_of
from tests.support.volumes.stored_files import pdf, tiff

ROWS = (
    "Control Number,Parent ID,Title,Native Path,Text Path",
    r"A-1,,Letter,NATIVES\A-1.docx,TEXT\A-1.txt",
    r"A-1.1,A-1,Plan,,TEXT\A-1.1.txt",
    r"A-2,,Report,NATIVES\A-2.xlsx,TEXT\A-2.txt",
    r"A-2.1,A-2,Drawing,NATIVES\A-2.1.dwg,",
    r"A-3,,Fax,,",
)
LINES = (
    r"A-1,IN001,IMAGES\A-1_1.tif,Y,,,3",
    r"A-1_2,IN001,IMAGES\A-1_2.tif,,,,",
    r"A-1_3,IN001,IMAGES\A-1_3.tif,,,,",
    r"A-1.1,IN001,IMAGES\A-1.1.tif,Y,,,4",
    r"A-2,IN001,IMAGES\A-2.pdf,Y,,,2",
    r"A-3,IN001,IMAGES\A-3.tif,Y,,,1",
)
FILES = {
    "DATA/load.csv": "\r\n".join((*ROWS, "")).encode(),
    "DATA/load.opt": "\r\n".join((*LINES, "")).encode(),
    **{f"IMAGES/A-1_{page}.tif": tiff() + bytes([page]) for page in (1, 2, 3)},
    "IMAGES/A-1.1.tif": tiff(4),
    "IMAGES/A-2.pdf": pdf(2),
    "IMAGES/A-3.tif": tiff() + b"fax",
    **{f"NATIVES/{name}": f"native {name}".encode() for name in ("A-1.docx", "A-2.xlsx", "A-2.1.dwg")},
    **{f"TEXT/{name}.txt": f"text of {name}".encode() for name in ("A-1", "A-1.1", "A-2")},
}
PAGES = {"A-1": 3, "A-1.1": 4, "A-2": 2, "A-2.1": 0, "A-3": 1}
NUMBERS = {
    "A-1": "ACME0000001",
    "A-1.1": "ACME0000004",
    "A-2": "ACME0000008",
    "A-2.1": "ACME0000010",
    "A-3": "ACME0000011",
}
RANGES = [
    ("ACME0000001", "ACME0000003", "ACME0000001 ACME0000002 ACME0000003"),
    ("ACME0000004", "ACME0000007", "ACME0000004 ACME0000004 ACME0000004 ACME0000004"),
    ("ACME0000008", "ACME0000009", "ACME0000008 ACME0000008"),
    ("ACME0000010", "ACME0000010", None),
    ("ACME0000011", "ACME0000011", "ACME0000011"),
]
BATES = """
    SELECT e.bates_begin, e.bates_end, GROUP_CONCAT(p.image_key ORDER BY p.page_no SEPARATOR ' ')
    FROM exhibits e JOIN cases c ON c.id = e.case_id LEFT JOIN pages p ON p.page_set_id = e.page_set_id
    WHERE c.name = 'Second' GROUP BY e.id, e.bates_begin, e.bates_end ORDER BY 1
"""
FOLDERS, MANIFEST = ("IMAGES/", "NATIVES/", "TEXT/"), ("MANIFEST.csv", "MANIFEST.sha256")
Send = Callable[..., int]
PAGE_FILES = """
    SELECT e.control_number AS number, CONCAT(v.prefix, f.path) AS object_key, f.version_id, p.page_in_file
    FROM exhibits e JOIN pages p ON p.page_set_id = e.page_set_id JOIN volume_files f ON f.id = p.file_id
    JOIN volumes v ON v.id = f.volume_id WHERE e.case_id = :case ORDER BY e.control_number, p.page_no
"""
OTHER_FILES = """
    SELECT e.control_number AS number, l.kind, CONCAT(v.prefix, f.path) AS object_key, f.version_id
    FROM exhibits e JOIN exhibit_files l ON l.exhibit_id = e.id JOIN volume_files f ON f.id = l.file_id
    JOIN volumes v ON v.id = f.volume_id WHERE e.case_id = :case ORDER BY e.control_number, l.kind
"""


@dataclass
class Document:
    """What a case says of a document: SHA-256 of the file, and the page in it, of every page; of its other files."""

    title: str
    parent: str | None
    pages: list[tuple[str, int]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def send_zip(world: World, files: Mapping[str, bytes], **body: Any) -> int:
    """Upload the files as a zip."""
    return upload_zip(world, build_zip(files), **body)


def import_whole(world: World, send: Send, files: Mapping[str, bytes], case: str, without_images: int = 1) -> int:
    """Import a volume into a case, warned only of so many documents without images; return the case's id."""
    volume_id = send(world, files, case=case)
    run(volume_id)
    finish_imports(world)
    volume = state(volume_id)
    assert [each.status.value for each in volume.imports] == ["completed", "completed"], volume
    assert world.query("SELECT SUM(rejected) FROM imports WHERE volume_id = :v", v=volume_id) == [(0,)]
    warned = "SELECT code FROM import_warnings w JOIN imports i ON i.id = w.import_id WHERE i.volume_id = :v"
    assert [row.code for row in world.query(warned, v=volume_id)] == ["NO_IMAGES"] * without_images
    return volume.case_id


def produce(world: World, case: str, prefix: str, **fields: Any) -> dict[str, bytes]:
    """Produce a case page by page; return the files of the volume, by path."""
    production = ask(case, prefix=prefix, numbering="page", **fields)
    assert execute(production)["status"] == "confirmed"
    folder = "VOL001/"
    objects = objects_of(world, production)
    return {key.removeprefix(folder): body for key, body in objects.items() if key.startswith(folder)}


def documents(world: World, case_id: int) -> dict[str, Document]:
    """The documents of a case by control number, with what the bucket holds of their files."""
    exhibits = world.query(
        "SELECT control_number, title, parent_control_number FROM exhibits WHERE case_id = :case", case=case_id
    )
    found = {number: Document(title, parent) for number, title, parent in exhibits}
    for page in world.query(PAGE_FILES, case=case_id):
        found[page.number].pages.append((digest(world, page), page.page_in_file))
    for file in world.query(OTHER_FILES, case=case_id):
        found[file.number].files[file.kind] = digest(world, file)
    return found


def digest(world: World, file: Any) -> str:
    """SHA-256 of the listed version of an object."""
    got = clients.s3().get_object(Bucket=world.bucket, Key=file.object_key, VersionId=file.version_id)
    return hashlib.sha256(got["Body"].read()).hexdigest()


def numbered(found: Mapping[str, Document], numbers: Mapping[str, str]) -> dict[str, Document]:
    """The documents as they are under their Bates numbers."""
    return {
        numbers[number]: replace(each, parent=each.parent and numbers[each.parent]) for number, each in found.items()
    }


def renumbered(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a volume with the numbers of the other one, without the manifest, whose hashes cover numbers."""
    kept = {path: body for path, body in files.items() if path not in MANIFEST}
    return {
        path.replace("BETA", "ACME"): body if path.startswith(FOLDERS) else body.replace(b"BETA", b"ACME")
        for path, body in kept.items()
    }


@pytest.mark.parametrize("send", [pytest.param(upload, marks=pytest.mark.slow), send_zip])
def test_what_is_produced_by_page_and_imported_whole_is_the_same(world: World, send: Send) -> None:
    first = documents(world, import_whole(world, send, FILES, "First"))
    assert {number: len(each.pages) for number, each in first.items()} == PAGES
    assert sum(len(each.files) for each in first.values()) == 6
    volume = produce(world, "First", "ACME")
    second = documents(world, import_whole(world, send, volume, "Second"))
    assert second == numbered(first, NUMBERS)
    assert [tuple(row) for row in world.query(BATES)] == RANGES
    assert renumbered(produce(world, "Second", "BETA")) == renumbered(volume)


@pytest.mark.slow
def test_a_slip_sheet_comes_back_as_the_page_that_it_is(world: World) -> None:
    first = documents(world, import_whole(world, upload, FILES, "First"))
    volume = produce(world, "First", "ACME", slipSheets=True)
    sheet = "IMAGES/0001/ACME0000010.pdf"
    second = documents(world, import_whole(world, upload, volume, "Second", without_images=0))
    first["A-2.1"].pages = [(hashlib.sha256(volume[sheet]).hexdigest(), 0)]
    assert second == numbered(first, NUMBERS)
    # The page has the first number printed on it, and has another one now.
    again = produce(world, "Second", "BETA", slipSheets=True)
    assert renumbered(again) == renumbered(volume)
