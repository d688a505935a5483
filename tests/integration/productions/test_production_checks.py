"""A check says what a production would be, and writes nothing; a repeated copy is not made again."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError
from sqlalchemy import event

from shell.aws import clients, s3_copies
from shell.aws.s3 import ObjectVersion
from shell.aws.s3_copies import CopiedObject, copy_version
from shell.productions import checks
from shell.productions.reconciliation import reconcile
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.productions.final_executions import end, passing_run
from tests.support.productions.runs import CALLER, ask, documents_of, objects_of, put_file, status_of
from tests.support.productions.saga_faults import Point
from tests.support.productions.written_volumes import exhibit
from tests.support.volumes.stored_files import page_set, pdf, tiff, volume, volume_file

ME = Client(CALLER.tenant_id, CALLER.user_id)
BODY = {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, "numbering": "page", "query": {}}
_ROWS = (
    "SELECT (SELECT COUNT(*) FROM productions) + (SELECT COUNT(*) FROM bates_sequences) "
    "+ (SELECT COUNT(*) FROM outbox_events)"
)


def checked(world: World, **changes: Any) -> dict[str, Any]:
    """What a check says; nothing is written."""
    before = world.query(_ROWS)
    reply = ME.post("/productions/check", {**BODY, **changes})
    assert reply.status == 200, reply
    assert world.query(_ROWS) == before
    return dict(reply.json)


def found(check: dict[str, Any]) -> dict[str, tuple[bool, list[int]]]:
    """The findings by code."""
    return {each["code"]: (each["blocks"], each["exhibitIds"]) for each in check["findings"]}


def test_a_check_says_what_a_production_would_be(world: World) -> None:
    held = volume(world)
    lost = exhibit(world, "A", native_path="N/lost.doc", text_path="N/there.txt")
    put_file(world, "N/there.txt", "x")
    out = exhibit(world, "B", native_path="../x", bates_begin="ACME0000002")
    child = exhibit(world, "C", parent_control_number="A")
    page_set(world, child, [(volume_file(world, held, "c.pdf", pdf(3), page_count=3), 1)], held)
    page_set(world, out, [(volume_file(world, held, f"{n}.tif", tiff()), 0) for n in range(2)], held, declared=3)
    check = checked(world)
    assert (check["documents"], check["uncountedImages"], check["uncheckedFiles"]) == (3, 0, 0)
    assert found(check) == {
        "PAGE_COUNT": (False, [out]),
        "BATES_OVERLAP": (False, [out]),
        "FILE_MISSING": (True, [lost, out]),
        "IMAGE_NOT_WHOLE": (True, [child]),
    }
    single = checked(world, query=None, exhibitIds=[out])
    assert (single["numbers"], single["firstBates"], single["lastBates"]) == (2, "ACME0000001", "ACME0000002")
    assert found(checked(world, query=None, exhibitIds=[child]))["INCOMPLETE_FAMILY"] == (False, [child])


def test_a_check_tells_nothing_of_another_case(world: World) -> None:
    """Neither its Bates numbers nor the members that it has of a family of the same ids."""
    [parent, child] = [exhibit(world, "A"), exhibit(world, "B", parent_control_number="A")]
    for number, parent_number in (("A", None), ("B", "A"), ("C", "A"), ("D", "B")):
        exhibit(world, number, "Other", parent_control_number=parent_number, bates_begin="ACME0000001")
    assert checked(world, query=None, exhibitIds=[parent, child])["findings"] == []


def test_what_a_check_does_not_look_at_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MAX_CHECK_LOOKUPS", 1)
    held, made = volume(world), exhibit(world, "A", native_path="a.doc", text_path="b.txt")
    page_set(world, made, [(volume_file(world, held, "a.pdf", pdf(2)), 0)], held)
    put_file(world, "a.doc", "x")
    check = checked(world)
    assert (check["numbers"], check["uncountedImages"], check["uncheckedFiles"]) == (None, 1, 1)
    assert check["findings"] == []


def test_a_check_is_refused_as_the_production_would_be(world: World) -> None:
    exhibit(world, "A")
    for changes, status in (
        ({"case": "Other"}, 404),
        ({"query": {"custodian": "No One"}}, 400),
        ({"digits": 1, "startAt": 10}, 409),
        ({"numbering": "document", "slipSheets": True}, 400),
    ):
        assert ME.post("/productions/check", {**BODY, **changes}).status == status, changes
    stranger = Client("another", "user")
    assert stranger.post("/productions/check", BODY).status == 404


class Holding:
    """S3, which finds the target of each copy there, as it does where If-None-Match is *."""

    def __getattr__(self, name: str) -> Any:
        return getattr(clients.s3(), name)

    def copy_object(self, **given: Any) -> None:
        """Refuse."""
        assert given["IfNoneMatch"] == "*"
        raise ClientError({"Error": {"Code": "PreconditionFailed", "Message": "no"}}, "CopyObject")


def test_a_copy_that_is_there_is_taken_as_it_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put = clients.s3().put_object(Bucket=world.bucket, Key="volumes/a", Body=b"one")
    source = ObjectVersion(world.bucket, "volumes/a", put["VersionId"], None)
    clients.s3().put_object(Bucket=world.bucket, Key="volumes/a", Body=b"another")
    expected = CopiedObject(3, hashlib.sha256(b"one").digest())
    assert copy_version(source, 3, "productions/1/a") == expected
    monkeypatch.setattr(s3_copies, "s3", Holding)
    assert copy_version(source, 3, "productions/1/a") == expected
    monkeypatch.setattr(s3_copies, "LARGEST_SINGLE_COPY", 2)
    assert copy_version(source, 3, "productions/1/a") == expected, "large objects are looked up"


def test_a_file_that_is_not_what_its_volume_says_fails_the_production(world: World) -> None:
    held, made = volume(world), exhibit(world, "A")
    files = [volume_file(world, held, f"{n}.tif", tiff(), sha256=b"0" * 32) for n in range(2)]
    page_set(world, made, [(file, 0) for file in files], held)
    assert passing_run(ask(numbering="page"), lambda _: None) == {"status": "cancelled", "unfinished": []}
    [row] = world.query("SELECT reason FROM productions")
    assert row.reason.startswith(
        f"Files of exhibits {made} cannot be copied: 2 with other content than in their volume."
    )


def end_at(at: Point, point: Point) -> None:
    """End the execution there."""
    if point == at:
        end()


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", ["reserve", "copy:1", "copy:2", "copy:3", "confirm"])
def test_an_execution_that_ends_at_any_step_is_gone_on_with(world: World, name: str, after: bool) -> None:
    held = volume(world)
    for document in ("A", "B"):
        files = [volume_file(world, held, f"{document}{n}.tif", tiff() + document.encode()) for n in range(2)]
        page_set(world, exhibit(world, document), [(file, 0) for file in files], held)
    production = ask(numbering="page", slipSheets=True)
    assert passing_run(production, partial(end_at, Point(name, after))) is None
    passing_run(production, lambda _: None)
    assert status_of(world, production) == "confirmed"
    assert documents_of(world, production) == [(1, 2, "produced"), (3, 4, "produced")]
    reconcile(production)
    images = {key for key in objects_of(world, production) if "IMAGES" in key}
    assert images == {f"VOL001/IMAGES/0001/ACME000000{n}.tif" for n in range(1, 5)}


def test_a_check_counts_families_pages_and_files(world: World) -> None:
    held = volume(world)
    first = exhibit(world, "A", native_path="../x")
    exhibit(world, "B", parent_control_number="A", native_path="../y", text_path="../y")
    page_set(world, first, [(volume_file(world, held, f"{n}.tif", tiff()), 0) for n in range(2)], held)
    counts = [checked(world, numbering=each) for each in ("document", "page")]
    names = ("documents", "families", "withPages", "files", "numbers")
    assert [[check[name] for name in names] for check in counts] == [[2, 1, 1, 3, 2], [2, 1, 1, 5, 3]]


def test_pages_that_are_not_counted_are_expected_as_they_are_listed(world: World) -> None:
    held = volume(world)
    listed, declared = exhibit(world, "A"), exhibit(world, "B")
    page_set(world, listed, [(volume_file(world, held, "a.pdf", pdf(2)), place) for place in (1, 2)], held)
    page_set(world, declared, [(volume_file(world, held, "b.pdf", pdf(3)), 0)], held, declared=3)
    check = checked(world)
    assert (check["numbers"], check["lastBates"], check["uncountedImages"]) == (None, None, 2)
    assert (check["expectedNumbers"], check["expectedLastBates"]) == (5, "ACME0000005")
    assert checked(world, prefix="FEW", digits=1, startAt=8)["expectedLastBates"] is None
    by_document = checked(world, numbering="document")
    assert (by_document["numbers"], by_document["expectedNumbers"]) == (2, 2)


def test_tags_that_say_privileged_are_a_warning(world: World) -> None:
    ids = [exhibit(world, number) for number in ("A", "B", "C")]
    for exhibit_id, tag in zip(ids, ("Privileged - Attorney", "Not Privileged", "Hot"), strict=True):
        reply = ME.post("/taggings", {"exhibitIds": [exhibit_id], "tags": [tag]}, key=tag)
        assert reply.status == 200, reply
    assert found(checked(world)) == {"PRIVILEGED_TAG": (False, ids[:1])}
    assert checked(world, query={"withoutTag": "Privileged - Attorney"})["findings"] == []


def test_the_search_for_privileged_tags_reads_only_those_of_the_documents(world: World) -> None:
    ids = [exhibit(world, f"A-{number:03}") for number in range(40)]
    for tags, tagged in ((["Privileged"], ids), (["Chosen"], ids[:2])):
        assert ME.post("/taggings", {"exhibitIds": tagged, "tags": tags}).status == 200
    read: list[int] = []

    def count(_c: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "FROM taggings FORCE INDEX" in statement:
            read.append(cursor.rowcount)

    event.listen(world.engine, "after_cursor_execute", count)
    try:
        assert found(checked(world, query={"tag": "Chosen"})) == {"PRIVILEGED_TAG": (False, ids[:2])}
    finally:
        event.remove(world.engine, "after_cursor_execute", count)
    assert read == [4], "two tags of two documents"
