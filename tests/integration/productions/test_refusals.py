"""What can be known before is refused before a Bates number is taken; what is found later names the documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shell.aws import clients
from shell.observability import logger
from shell.productions import missing_files, reservation
from tests.support.api.client import Client, Reply
from tests.support.application.captured_log import Log
from tests.support.application.driver import World
from tests.support.productions.final_executions import passing_run
from tests.support.productions.runs import CALLER, documents_of, execute, put_file, status_of
from tests.support.productions.written_volumes import exhibit
from tests.support.volumes.stored_files import link_file, page_set, pdf, tiff, volume, volume_file

ME = Client(CALLER.tenant_id, CALLER.user_id)
BODY = {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, "query": {}}


def requested(key: str | None = None, **fields: Any) -> Reply:
    """What a request for a production is answered."""
    return ME.post("/productions", {**BODY, **fields}, key=key)


def checked(**fields: Any) -> dict[str, dict[str, Any]]:
    """The findings of a check, by code."""
    return {each["code"]: each for each in ME.post("/productions/check", {**BODY, **fields}).json["findings"]}


def numbers_taken(world: World) -> list[Any]:
    """The rows of sequences and of documents with numbers."""
    return [*world.query("SELECT * FROM bates_sequences"), *world.query("SELECT * FROM production_documents")]


def remove_versions(world: World, prefix: str) -> None:
    """Take every version of the objects out of the bucket, past the application."""
    found = clients.s3().list_object_versions(Bucket=world.bucket, Prefix=prefix)["Versions"]
    for each in found:
        clients.s3().delete_object(Bucket=world.bucket, Key=each["Key"], VersionId=each["VersionId"])


def test_a_request_that_the_check_calls_blocked_is_refused_with_control_numbers(world: World) -> None:
    made = exhibit(world, "LOST-1", native_path="N/lost.doc")
    reply = requested(key="once")
    assert (reply.status, reply.problem) == (422, "production-refused")
    [finding] = reply.json["findings"]
    assert finding == checked()["FILE_MISSING"]
    assert (finding["controlNumbers"], finding["exhibitIds"], finding["blocks"]) == (["LOST-1"], [made], True)
    assert reply.json["detail"] == f"FILE_MISSING (LOST-1): {finding['message']} No Bates number was taken."
    assert (numbers_taken(world), world.query("SELECT id FROM productions")) == ([], [])
    put_file(world, "N/lost.doc", "found")
    accepted = requested(key="once")
    assert execute(accepted.json["id"])["status"] == "confirmed"
    assert documents_of(world, accepted.json["id"]) == [(1, 1, "produced")]
    remove_versions(world, "files/")
    assert requested(key="once").is_replay, "the answer of a request that was accepted stays"


def vanish_before_start(world: World) -> int:
    """A production that was accepted, of which a file is removed before its execution; returns its id."""
    exhibit(world, "A", native_path="a.doc")
    put_file(world, "a.doc", "native")
    production = int(requested().json["id"])
    remove_versions(world, "files/")
    assert execute(production)["status"] == "cancelled"
    return production


def test_a_file_that_vanishes_before_the_start_takes_no_number(world: World) -> None:
    production = ME.get(f"/productions/{vanish_before_start(world)}").json
    assert (production["failedStep"], production["firstBates"], numbers_taken(world)) == ("reserve", None, [])
    assert production["reason"].startswith("FILE_MISSING (document A): ")
    put_file(world, "a.doc", "native")
    following = requested().json["id"]
    assert execute(following)["status"] == "confirmed"
    assert documents_of(world, following) == [(1, 1, "produced")]


def test_without_the_refusal_of_the_reservation_numbers_are_taken(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservation, "refuse_blocking", lambda _findings: None)
    assert documents_of(world, vanish_before_start(world)) == [(1, 1, "void")]


def test_a_file_that_vanishes_after_the_reservation_is_named_by_control_number(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logger.registered_handler, "stream", (log := Log()).stream)
    for number in ("SMITH-A", "SMITH-B"):
        exhibit(world, number, native_path=f"{number}.doc")
        put_file(world, f"{number}.doc", "native")
    production = int(requested().json["id"])
    passing_run(production, lambda point: remove_versions(world, "files/") if str(point) == "after reserve" else None)
    described = ME.get(f"/productions/{production}").json
    assert (described["status"], described["failedStep"]) == ("cancelled", "copy")
    assert described["reason"] == (
        "Files of documents SMITH-A, SMITH-B cannot be copied: 2 not in the bucket. The numbers are void. Restore the "
        "files, check (POST /productions/check), and request a new production."
    )
    assert {step["reason"] for step in described["steps"]} == {None}, "all steps are compensated"
    assert "SMITH" not in log.stream.getvalue(), "ids only"
    assert documents_of(world, production) == [(1, 1, "void"), (2, 2, "void")]


def gone_native(world: World, held: int) -> None:
    """A native of the volume, of which the bucket has no version any more."""
    link_file(
        world, exhibit(world, "A", native_path="n.doc"), "native", "n.doc", volume_file(world, held, "n.doc", b"n")
    )


def deleted_native(world: World, held: int) -> None:
    """A native of a volume that was deleted."""
    gone_native(world, held)
    world.query("DELETE FROM volume_files")


def gone_image(world: World, held: int) -> None:
    """Pages in one file."""
    page_set(world, exhibit(world, "A"), [(volume_file(world, held, "a.pdf", pdf(2), page_count=2), 0)], held)


def gone_page(world: World, held: int) -> None:
    """Pages in a file each."""
    files = [volume_file(world, held, f"{number}.tif", tiff()) for number in range(2)]
    page_set(world, exhibit(world, "A"), [(file, 0) for file in files], held)


@pytest.mark.parametrize("lose", [gone_native, deleted_native, gone_image, gone_page])
def test_files_of_a_volume_that_the_bucket_lost_block_the_production(
    world: World, lose: Callable[[World, int], None]
) -> None:
    lose(world, volume(world))
    if lose is not deleted_native:
        assert "FILE_MISSING" not in checked(numbering="page")
    remove_versions(world, "volumes/")
    finding = checked(numbering="page")["FILE_MISSING"]
    assert (finding["blocks"], finding["controlNumbers"]) == (True, ["A"])
    assert "Upload the files again" in finding["message"]
    # The message is also that of a stack in AWS, where there is no such command.
    assert "exhibit-ingest" not in finding["message"]
    assert requested(numbering="page").problem == "production-refused"


def test_without_time_files_are_not_looked_up_and_the_copy_finds_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    exhibit(world, "A", native_path="a.doc")
    monkeypatch.setattr(missing_files, "seconds_left", lambda: -1.0)
    check = ME.post("/productions/check", BODY).json
    assert (check["findings"], check["uncheckedFiles"]) == ([], 1)
    production = requested().json["id"]
    assert execute(production)["status"] == "cancelled"
    assert (status_of(world, production), documents_of(world, production)) == ("cancelled", [(1, 1, "void")])
