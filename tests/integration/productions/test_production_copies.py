"""What is copied is what the numbers were given out for, once, with nothing of ours on it; what cannot be is said."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from core.errors import StorageUnavailableError
from shell.aws import clients, s3
from shell.aws.s3 import COPIED_FROM, copy_object
from tests.support.production_ends import passing_run
from tests.support.production_faults import Point
from tests.support.productions import ask, execute, objects_of, put_documents, put_file, status_of
from tests.support.world import World
from tests.support.written import dat_of

SOURCE, TARGET = "files/tenant/Case/a.doc", "productions/1/VOL001/NATIVES/0001/A1.doc"


def versions(world: World) -> list[str]:
    """Of the copy."""
    found = clients.s3().list_object_versions(Bucket=world.bucket, Prefix=TARGET)
    return [version["VersionId"] for version in found.get("Versions", [])]


def test_a_path_that_is_corrected_meanwhile_is_not_what_the_load_file_names(world: World) -> None:
    [exhibit] = put_documents(world, ["A"])
    put_file(world, "NATIVE/other.pdf", "another file")
    production = ask()

    def corrected(point: Point) -> None:
        if str(point) == "after copy:1":
            update = "UPDATE exhibits SET native_path = 'NATIVE/other.pdf', text_path = NULL WHERE id = :e"
            world.query(update, e=exhibit)

    passing_run(production, corrected)
    objects, [record] = objects_of(world, production), dat_of(world, production)
    links = [record[name].replace("\\", "/") for name in ("Native Link", "Text Link")]
    assert [objects[link] for link in links] == [b"native of A", b"text of A"]


def test_a_copy_that_is_there_is_not_made_again_but_of_a_new_version_it_is(world: World) -> None:
    for content, copies in (("one", 1), ("one", 1), ("two", 2)):
        if copies != len(versions(world)):
            put_file(world, "a.doc", content)
        assert [copy_object(world.bucket, SOURCE, TARGET) for _ in range(2)] == [None, None]
        assert len(versions(world)) == copies


def test_of_what_is_written_on_the_source_only_its_content_type_is_handed_over(world: World) -> None:
    given: Any = {"Metadata": {"reviewer-note": "privileged"}, "Tagging": "issue=hot", "ContentType": "a/b"}
    clients.s3().put_object(Bucket=world.bucket, Key=SOURCE, Body=b"x", **given)
    assert copy_object(world.bucket, SOURCE, TARGET) is None
    head = clients.s3().head_object(Bucket=world.bucket, Key=TARGET)
    assert (set(head["Metadata"]), head["ContentType"]) == ({COPIED_FROM}, "a/b")
    assert clients.s3().get_object_tagging(Bucket=world.bucket, Key=TARGET)["TagSet"] == []


class Refusing:
    """S3, which answers every copy with the same error."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __getattr__(self, name: str) -> Any:
        return getattr(clients.s3(), name)

    def copy_object(self, **_: Any) -> None:
        """Refuse."""
        raise ClientError({"Error": {"Code": self.code, "Message": "no"}}, "CopyObject")


def test_what_s3_will_never_copy_is_said_and_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    [exhibit] = put_documents(world, ["A"])
    for code in ("InvalidObjectState", "AccessDenied", "InvalidRequest"):
        production = ask()
        monkeypatch.setattr(s3, "s3", lambda code=code: Refusing(code))
        execute(production)
        [(reason,)] = world.query("SELECT reason FROM productions WHERE id = :p", p=production)
        said = f"files of exhibits {exhibit} cannot be copied: 2 {code}"
        assert (status_of(world, production), reason) == ("cancelled", said)
        monkeypatch.setattr(s3, "s3", clients.s3)


def test_what_may_pass_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put_file(world, "a.doc", "one")
    monkeypatch.setattr(s3, "s3", lambda: Refusing("SlowDown"))
    with pytest.raises(StorageUnavailableError, match="SlowDown"):
        copy_object(world.bucket, SOURCE, TARGET)


def test_a_custodian_whose_name_would_be_read_as_two_is_not_handed_over(world: World) -> None:
    [exhibit, _] = put_documents(world, ["A", "B"])
    world.query("INSERT INTO custodians (case_id, name) SELECT id, 'Doe; Roe LLP' FROM cases")
    alone = ask(prefix="ALONE")
    execute(alone)
    link = "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) SELECT :e, id, 'u' FROM custodians"
    world.query(link, e=exhibit)
    named = ask(prefix="NAMED")
    execute(named)
    [(reason,)] = world.query("SELECT reason FROM productions WHERE id = :p", p=named)
    assert (status_of(world, alone), status_of(world, named)) == ("confirmed", "cancelled")
    assert "semicolon" in reason
    assert "Roe" not in reason
