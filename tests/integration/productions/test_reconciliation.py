"""A volume is read back before it is confirmed: whatever differs from what was reserved, nothing is confirmed.

Each fault is done to a volume that was written without one; the first test is the control, which finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.productions.readback import VolumeDiffersError
from shell.aws import clients
from shell.productions import saga, steps
from shell.productions.reconciliation import reconcile
from tests.support.application.driver import World
from tests.support.productions.final_executions import passing_run
from tests.support.productions.runs import ask, documents_of, objects_of, status_of
from tests.support.productions.written_volumes import exhibit
from tests.support.volumes.stored_files import link_file, page_set, pdf, tiff, volume, volume_file

pytestmark = pytest.mark.slow

DAT, OPT, MANIFEST = "DATA/VOL001.dat", "DATA/VOL001.opt", "MANIFEST.csv"
Fault = Callable[["Written"], None]


class Written:
    """A volume of two documents with pages and natives, whose objects can be changed."""

    def __init__(self, world: World) -> None:
        self.world, held = world, volume(world)
        for number in ("A", "B"):
            path = f"N/{number}.doc"
            made = exhibit(world, number, native_path=path, title="a\nb")
            link_file(world, made, "native", path, volume_file(world, held, path, number.encode()))
            files = [volume_file(world, held, f"I/{number}{n}.tif", tiff() + number.encode()) for n in range(2)]
            page_set(world, made, [(file, 0) for file in files], held)
        last = exhibit(world, "C")
        page_set(world, last, [(volume_file(world, held, "I/C.pdf", pdf(2)), n) for n in (1,)][:1], held)
        world.query("UPDATE pages JOIN volume_files ON file_id = volume_files.id SET page_in_file = 0")
        self.production = ask(numbering="page")
        context = {steps.PRODUCTION: self.production}
        steps.begin(context)
        context |= steps.reserve(context)
        for part in range(context[steps.PARTS] + 1):
            steps.copy({**context, "part": part})

    def key(self, path: str) -> str:
        return f"productions/{self.production}/VOL001/{path}"

    def read(self, path: str) -> bytes:
        return clients.s3().get_object(Bucket=self.world.bucket, Key=self.key(path))["Body"].read()

    def write(self, path: str, body: bytes) -> None:
        clients.s3().put_object(Bucket=self.world.bucket, Key=self.key(path), Body=body)

    def replace(self, path: str, old: bytes, new: bytes) -> None:
        """Change what is there, which must be."""
        before = self.read(path)
        assert old in before
        self.write(path, before.replace(old, new, 1))

    def swap(self, path: str, first: int, second: int) -> None:
        """Swap two lines."""
        lines = self.read(path).split(b"\r\n")
        lines[first], lines[second] = lines[second], lines[first]
        self.write(path, b"\r\n".join(lines))

    def drop(self, path: str, line: int) -> None:
        """Remove a line."""
        lines = self.read(path).split(b"\r\n")
        self.write(path, b"\r\n".join(lines[:line] + lines[line + 1 :]))


def test_a_volume_as_it_was_written_is_what_was_reserved(world: World) -> None:
    reconcile(Written(world).production)


def _delete(path: str) -> Fault:
    def delete(each: Written) -> None:
        clients.s3().delete_object(Bucket=each.world.bucket, Key=each.key(path))

    return delete


def _query(statement: str) -> Fault:
    def query(each: Written) -> None:
        each.world.query(statement)

    return query


FAULTS: dict[str, tuple[Fault, str]] = {
    "a record is removed": (lambda each: each.drop(DAT, 2), "record 2 of the DAT"),
    "the last record is removed": (lambda each: each.drop(DAT, 3), "record 3 of the DAT is missing"),
    "records are swapped": (lambda each: each.swap(DAT, 1, 2), "record 1 of the DAT"),
    "a native's link is that of another": (
        lambda each: each.replace(DAT, rb"0001\ACME0000003.doc", rb"0001\ACME0000001.doc"),
        "record 2 of the DAT, Native Link",
    ),
    "a record has another page count": (
        lambda each: each.replace(DAT, "þ2þ".encode(), "þ3þ".encode()),
        "the column Page Count",
    ),
    "a record has another hash": (lambda each: each.replace(DAT, b"55", b"56"), "the column SHA-256 Hash"),
    "a record is added": (
        lambda each: each.write(DAT, each.read(DAT) + each.read(DAT).split(b"\r\n")[3] + b"\r\n"),
        "more than 3 records",
    ),
    "the DAT is cut": (lambda each: each.write(DAT, each.read(DAT)[:-9]), "the DAT|a file of the volume"),
    "a line of the OPT is removed": (lambda each: each.drop(OPT, 1), "line 2 of the OPT"),
    "the last line of the OPT is removed": (lambda each: each.drop(OPT, 4), "line 5 of the OPT is missing"),
    "lines of the OPT are swapped": (lambda each: each.swap(OPT, 0, 1), "line 1 of the OPT"),
    "a page's path is that of another": (
        lambda each: each.replace(OPT, rb"0001\ACME0000002.tif", rb"0001\ACME0000004.tif"),
        "line 2 of the OPT: the path",
    ),
    "a document has another count": (lambda each: each.replace(OPT, b",Y,,,2", b",Y,,,3"), "the page count"),
    "a document break is missing": (lambda each: each.replace(OPT, b",Y,,,2", b",,,,2"), "the document break"),
    "an image is missing": (_delete("IMAGES/0001/ACME0000004.tif"), "the bucket has another file"),
    "an image is too many": (lambda each: each.write("IMAGES/0001/ACME0000007.tif", b""), "IMAGES has more files"),
    "a native is too many": (lambda each: each.write("NATIVES/0001/Z.doc", b""), "NATIVES has more files"),
    "a file of another size": (
        lambda each: each.write("NATIVES/0001/ACME0000001.doc", b"AA"),
        "the bucket has another",
    ),
    "a file of the manifest is removed": (lambda each: each.drop(MANIFEST, 2), "the manifest does not list"),
    "a hash of the manifest is that of another file": (
        lambda each: each.replace(MANIFEST, b"55", b"56"),
        "another SHA-256 than its source",
    ),
    "the manifest is longer": (lambda each: each.write(MANIFEST, each.read(MANIFEST) + b"x,1,aa\r\n"), "load files"),
    "the manifest is missing": (_delete(MANIFEST), "missing"),
    "the OPT is missing": (_delete(OPT), "line 1 of the OPT is missing"),
    "the hash of the manifest is another": (lambda each: each.write("MANIFEST.sha256", b"00  x\n"), "not the one"),
    "the DAT differs where nothing is compared": (
        lambda each: each.replace(DAT, "a®b".encode(), "a®c".encode()),
        "the load files are not those",
    ),
    "a reserved document is gone": (
        _query("DELETE FROM production_documents ORDER BY position LIMIT 1"),
        "not consecutive",
    ),
    "a page of the set is gone": (_query("DELETE FROM pages WHERE page_no = 2"), "the pages of a document"),
    "a page count is not that of the numbers": (
        _query("UPDATE production_documents SET page_count = 1"),
        "not as many as",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_volume_that_differs_is_detected(world: World, name: str) -> None:
    fault, difference = FAULTS[name]
    written = Written(world)
    fault(written)
    with pytest.raises(VolumeDiffersError, match=difference) as error:
        reconcile(written.production)
    assert not error.value.retryable


def test_a_production_whose_volume_differs_is_rolled_back_with_the_reason(world: World) -> None:
    exhibit(world, "A")
    production = ask()

    def damage(point: object) -> None:
        if str(point) == "after copy:2":
            key = f"productions/{production}/VOL001/{DAT}"
            clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"")

    assert passing_run(production, damage, saga.STEPS) == {"status": "cancelled", "unfinished": []}
    assert status_of(world, production) == "cancelled"
    assert documents_of(world, production) == [(1, 1, "void")]
    assert objects_of(world, production) == {}
    [row] = world.query("SELECT failed_step, reason FROM productions")
    assert (row.failed_step, "record 1 of the DAT is missing" in row.reason) == ("copy", True)
