"""Productions of documents with pages: a number for each page, images under their numbers, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import io
from typing import Any

import pytest
from pypdf import PdfReader

from shell.aws import clients
from shell.productions import reservation, steps
from shell.productions.queries import get_production
from shell.productions.selection import lock_selected_exhibits
from shell.tables.volumes import NO_FILE
from tests.support.application.driver import World
from tests.support.productions.final_executions import passing_run
from tests.support.productions.runs import CALLER, ask, cancelled, documents_of, execute, objects_of, put_file
from tests.support.productions.written_volumes import exhibit
from tests.support.volumes.load_file_reader import read_dat, read_opt
from tests.support.volumes.stored_files import link_file, page_set, pdf, tiff, volume, volume_file


def with_pages(world: World, number: str, volume_id: int, pages: int, **columns: Any) -> int:
    """A document with a file for each page."""
    made = exhibit(world, number, **columns)
    files = [
        volume_file(world, volume_id, f"IMAGES/{number}-{page}.tif", tiff() + number.encode() + bytes([page]))
        for page in range(pages)
    ]
    page_set(world, made, [(file, 0) for file in files], volume_id)
    return made


def with_file(world: World, number: str, volume_id: int, body: bytes, stated: int, **given: Any) -> int:
    """A document with one file, of which its image load file states so many pages."""
    made = exhibit(world, number)
    file = volume_file(world, volume_id, f"IMAGES/{number}.pdf", body)
    page_set(world, made, [(file, page + 1) for page in range(stated)], volume_id, **given)
    return made


def load_files(world: World, production: int) -> tuple[list[dict[str, str]], list[list[str]], dict[str, bytes]]:
    """DAT, OPT and objects of a production."""
    objects = objects_of(world, production)
    opt = objects.get("VOL001/DATA/VOL001.opt")
    return read_dat(objects["VOL001/DATA/VOL001.dat"]), read_opt(opt) if opt else [], objects


def confirmed(production: int) -> int:
    """Execute the production, which ends confirmed."""
    assert execute(production) == {"status": "confirmed", "unfinished": []}
    return production


@pytest.mark.parametrize("at_once", [1, 100_000])
def test_every_page_has_a_number_a_file_and_a_line(world: World, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("shell.productions.page_images.PAGES_AT_ONCE", at_once)
    monkeypatch.setattr("shell.productions.reconciliation.PAGES_AT_ONCE", at_once)
    held = volume(world)
    with_pages(world, "A", held, 3)
    with_file(world, "B", held, pdf(2), stated=2)
    exhibit(world, "C", properties={"Pages": "4"})
    production = confirmed(ask(numbering="page"))
    dat, opt, objects = load_files(world, production)
    assert [(each["Begin Bates"], each["End Bates"], each["Page Count"]) for each in dat] == [
        ("ACME0000001", "ACME0000003", "3"),
        ("ACME0000004", "ACME0000005", "2"),
        ("ACME0000006", "ACME0000009", ""),
    ]
    assert [[line[0], line[2][19:], line[3], line[6]] for line in opt] == [
        ["ACME0000001", "ACME0000001.tif", "Y", "3"],
        ["ACME0000002", "ACME0000002.tif", "", ""],
        ["ACME0000003", "ACME0000003.tif", "", ""],
        ["ACME0000004", "ACME0000004.pdf", "Y", "2"],
    ]
    for page in range(3):
        found = objects[f"VOL001/IMAGES/0001/ACME000000{page + 1}.tif"]
        assert found == tiff() + b"A" + bytes([page])


def test_the_manifest_lists_every_file_with_size_and_hash_and_ends_with_its_own(world: World) -> None:
    held = volume(world)
    made = with_pages(world, "A", held, 2, native_path=r"N\a.doc")
    link_file(world, made, "native", r"N\a.doc", volume_file(world, held, "N/a.doc", b"native"))
    production = confirmed(ask(numbering="page"))
    objects = {
        key.removeprefix("VOL001/"): body
        for key, body in objects_of(world, production).items()
        if key.startswith("VOL001/")
    }
    manifest, sums = objects.pop("MANIFEST.csv"), objects.pop("MANIFEST.sha256")
    digest = hashlib.sha256(manifest).hexdigest()
    assert sums == f"{digest}  MANIFEST.csv\n".encode()
    assert get_production(CALLER, production).manifest_sha256 == digest
    listed = {row["Path"]: (row["Size"], row["SHA-256"]) for row in csv.DictReader(io.StringIO(manifest.decode()))}
    assert listed == {path: (str(len(body)), hashlib.sha256(body).hexdigest()) for path, body in objects.items()}


def test_files_of_volumes_are_copied_in_their_version_and_their_hashes_are_in_the_dat(world: World) -> None:
    held = volume(world)
    made, other = exhibit(world, "A", native_path=r"N\a.doc"), exhibit(world, "B", native_path="N/b.doc")
    old, new = (volume_file(world, held, f"{n}/a.doc", f"native {n}".encode()) for n in (1, 2))
    link_file(world, made, "native", r"N\a.doc", old, import_id=1)
    link_file(world, made, "native", r"N\a.doc", new, import_id=2)
    link_file(world, made, "native", r"N\other.doc", old, import_id=3)
    # A later volume that lacks the file takes nothing away.
    link_file(world, made, "native", r"N\a.doc", NO_FILE, import_id=4)
    put_file(world, "N/b.doc", "loose")
    prefix = world.query("SELECT prefix FROM volumes WHERE id = :v", v=held)[0][0]
    clients.s3().put_object(Bucket=world.bucket, Key=f"{prefix}2/a.doc", Body=b"written later")
    production = confirmed(ask())
    [first, second], _, objects = load_files(world, production)
    assert objects[first["Native Link"].replace("\\", "/")] == b"native 2"
    assert objects[second["Native Link"].replace("\\", "/")] == b"loose"
    assert first["SHA-256 Hash"] == hashlib.sha256(b"native 2").hexdigest()
    assert (second["SHA-256 Hash"], second["MD5 Hash"]) == ("", "")
    assert other


def test_numbers_follow_the_bytes_and_not_what_is_declared(world: World) -> None:
    held = volume(world)
    made = with_file(world, "A", held, pdf(2), stated=3, declared=3)
    single = exhibit(world, "B")
    page_set(world, single, [(volume_file(world, held, "b.tif", tiff(3)), 0)], held)
    production = confirmed(ask(numbering="page"))
    assert documents_of(world, production) == [(1, 2, "produced"), (3, 5, "produced")]
    [warning] = get_production(CALLER, production).warnings
    assert (warning.code, warning.blocks, warning.exhibit_ids) == ("PAGE_COUNT", False, [made, single])
    assert [row[0] for row in world.query("SELECT page_count FROM volume_files ORDER BY id")] == [2, 3]


REFUSED: dict[str, tuple[bytes, list[int], str]] = {
    "a part": (tiff(3), [1, 2], "IMAGE_NOT_WHOLE"),
    "its end": (tiff(3), [2, 3], "IMAGE_NOT_WHOLE"),
    "another order": (pdf(2), [2, 1], "IMAGE_NOT_WHOLE"),
    "an encrypted file": (pdf(1, "x"), [0], "IMAGE_UNREADABLE"),
    "a damaged file": (tiff(3)[:-40], [1, 2, 3], "IMAGE_UNREADABLE"),
    "no image": (b"hello", [0], "IMAGE_UNREADABLE"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_document_that_cannot_be_produced_whole_is_refused_before_it_has_numbers(world: World, name: str) -> None:
    body, pages, code = REFUSED[name]
    held, made = volume(world), exhibit(world, "A")
    file = volume_file(world, held, "a", body)
    page_set(world, made, [(file, page) for page in pages], held)
    reason = cancelled(world, production := ask(numbering="page"))
    assert reason.startswith(f"{code} (exhibits {made}): ")
    assert documents_of(world, production) == []
    assert execute(ask(prefix="DOC"))["status"] == "confirmed", "by document, no image is produced"


def test_a_file_that_the_volume_lacks_and_several_files_of_several_pages_are_refused(world: World) -> None:
    held = volume(world)
    first, second = exhibit(world, "A"), exhibit(world, "B")
    page_set(world, first, [("missing.tif", 0), (volume_file(world, held, "a.tif", tiff()), 0)], held)
    assert cancelled(world, ask(numbering="page", query=None, exhibitIds=[first])).startswith("FILE_MISSING")
    several, single = volume_file(world, held, "b.tif", tiff(2)), volume_file(world, held, "c.tif", tiff())
    page_set(world, second, [(several, 1), (several, 2), (single, 0)], held)
    assert cancelled(world, ask(numbering="page", query=None, exhibitIds=[second])).startswith("IMAGE_MIXED")


def test_loose_images_are_found_by_their_paths(world: World) -> None:
    made, one = exhibit(world, "A"), exhibit(world, "B")
    page_set(world, made, [(r"IMG\1.tif", 0), (r"IMG\2.jpg", 0)], None)
    page_set(world, one, [(r"IMG\3.pdf", 1), (r"IMG\3.pdf", 2)], None)
    for name in ("1.tif", "2.jpg"):
        put_file(world, f"IMG/{name}", name)
    clients.s3().put_object(Bucket=world.bucket, Key="files/tenant/Case/IMG/3.pdf", Body=pdf(2))
    production = ask(numbering="page")

    def replaced(point: Any) -> None:
        if str(point) == "after reserve":
            clients.s3().put_object(Bucket=world.bucket, Key="files/tenant/Case/IMG/3.pdf", Body=pdf(5))

    passing_run(production, replaced)
    objects = objects_of(world, production)
    assert objects["VOL001/IMAGES/0001/ACME0000002.jpg"] == b"2.jpg"
    assert objects["VOL001/IMAGES/0001/ACME0000003.pdf"] == pdf(2), "the version that was counted"


def test_slip_sheets_stand_for_documents_without_images(world: World) -> None:
    held = volume(world)
    exhibit(world, "A", properties={"Pages": "9"})
    with_pages(world, "B", held, 2)
    exhibit(world, "C", properties={"TIFFPATH": "c.tif", "Pages": "2"})
    put_file(world, "c.tif", "image")
    production = confirmed(ask(numbering="page", slipSheets=True))
    dat, opt, objects = load_files(world, production)
    assert [(each["Begin Bates"], each["Page Count"]) for each in dat] == [
        ("ACME0000001", "1"),
        ("ACME0000002", "2"),
        ("ACME0000004", ""),
    ]
    assert opt[0] == ["ACME0000001", "VOL001", r"VOL001\IMAGES\0001\ACME0000001.pdf", "Y", "", "", "1"]
    sheet = objects["VOL001/IMAGES/0001/ACME0000001.pdf"]
    assert PdfReader(io.BytesIO(sheet)).pages[0].extract_text() == "Produced in native format\nACME0000001"
    again = confirmed(ask(numbering="page", slipSheets=True, prefix="ACME", volume="VOL001"))
    other = objects_of(world, again)["VOL001/IMAGES/0001/ACME0000006.pdf"]
    assert other.replace(b"ACME0000006", b"ACME0000001") == sheet


def test_families_stand_together_and_an_incomplete_one_is_a_warning(world: World) -> None:
    ids = {
        number: exhibit(world, number, parent_control_number=parent)
        for number, parent in (("B", None), ("A", "B"), ("Z", "A"), ("C", None), ("D", "GONE"), ("Y", "C"))
    }
    selected = [ids[number] for number in ("B", "Z", "C", "D", "Y")]
    production = confirmed(ask(query=None, exhibitIds=selected))
    rows = world.query("SELECT control_number FROM production_documents ORDER BY position")
    assert [row[0] for row in rows] == ["B", "Z", "C", "Y", "D"]
    [warning] = get_production(CALLER, production).warnings
    assert (warning.code, warning.exhibit_ids) == ("INCOMPLETE_FAMILY", sorted([ids["B"], ids["Z"]]))
    assert get_production(CALLER, confirmed(ask(prefix="ALL"))).warnings == []


def test_numbers_that_a_load_file_gave_to_documents_of_the_case_are_a_warning(world: World) -> None:
    taken = exhibit(world, "A", bates_begin="ACME0000002", bates_end="ACME0000009")
    exhibit(world, "B", bates_begin="ACME0000010")
    exhibit(world, "C", bates_begin="ACME2")
    production = confirmed(ask())
    [warning] = get_production(CALLER, production).warnings
    assert (warning.code, warning.exhibit_ids) == ("BATES_OVERLAP", [taken])


def test_pages_that_are_replaced_until_the_reservation_are_selected_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = volume(world)
    made = with_pages(world, "A", held, 2)
    files = [row[0] for row in world.query("SELECT id FROM volume_files ORDER BY id")]
    locking, replaced = lock_selected_exhibits, list[int]()

    def replace_first(*given: Any) -> None:
        if not replaced:
            replaced.append(page_set(world, made, [(file, 0) for file in files[::-1]], held))
        locking(*given)

    production = ask(numbering="page")
    monkeypatch.setattr(reservation, "lock_selected_exhibits", replace_first)
    steps.reserve({steps.PRODUCTION: production})
    [row] = world.query("SELECT page_set_id FROM production_documents")
    assert [row[0]] == replaced


def test_without_the_comparison_under_the_lock_the_old_pages_are_produced(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    held = volume(world)
    made = with_pages(world, "A", held, 2)
    [old] = world.query("SELECT page_set_id FROM exhibits")
    files = [row[0] for row in world.query("SELECT id FROM volume_files")]
    replace = lambda *_: page_set(world, made, [(file, 0) for file in files[::-1]], held)  # noqa: E731
    monkeypatch.setattr(reservation, "lock_selected_exhibits", replace)
    steps.reserve({steps.PRODUCTION: ask(numbering="page")})
    assert world.query("SELECT page_set_id FROM production_documents") == [old]


def test_pages_that_are_replaced_after_the_reservation_do_not_change_it(world: World) -> None:
    held = volume(world)
    made = with_pages(world, "A", held, 2)
    production = ask(numbering="page")

    def replaced(point: Any) -> None:
        if str(point) == "after reserve":
            page_set(world, made, [(volume_file(world, held, "new.tif", tiff()), 0)], held)

    passing_run(production, replaced)
    _, opt, objects = load_files(world, production)
    assert [line[0] for line in opt] == ["ACME0000001", "ACME0000002"]
    assert objects["VOL001/IMAGES/0001/ACME0000002.tif"] == tiff() + b"A\x01"


def test_what_was_produced_by_page_is_imported_again(world: World) -> None:
    held = volume(world)
    with_pages(world, "A", held, 3, title="one")
    with_pages(world, "A.1", held, 2, title="two", parent_control_number="A")
    production = confirmed(ask(numbering="page"))
    dat = objects_of(world, production)["VOL001/DATA/VOL001.dat"]
    world.run(dat, case="Second")
    rows = world.query(
        "SELECT control_number, bates_end, title, parent_control_number FROM exhibits JOIN cases ON cases.id = case_id "
        "WHERE name = 'Second' ORDER BY 1"
    )
    assert [tuple(row) for row in rows] == [
        ("ACME0000001", "ACME0000003", "one", None),
        ("ACME0000004", "ACME0000005", "two", "ACME0000001"),
    ]
