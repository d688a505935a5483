"""Files of a volume: the sources' bytes, once, with nothing of ours on them, found where load files say.

They are what the numbers were given out for; all that are missing or cannot be copied are named at once.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from botocore.exceptions import ClientError

from core.errors import StorageUnavailableError
from shell.aws import clients, s3_copies
from shell.aws.s3_copies import COPIED_FROM, CopiedObject, copy_object
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.final_executions import passing_run
from tests.support.productions.runs import MANIFESTS, ask, cancelled, execute, objects_of, put_documents, put_file
from tests.support.productions.saga_faults import Point
from tests.support.productions.written_volumes import dat_of, exhibit, written

SOURCE, TARGET = "files/tenant/Case/a.doc", "productions/1/VOL001/NATIVES/0001/A1.doc"


def test_files_are_the_sources_byte_for_byte_under_the_names_that_the_dat_gives(world: World) -> None:
    bodies = {"A": b"", "B": bytes(range(256)) * 400, "C": b"\r\n\xfe\x14"}
    for number, body in bodies.items():
        exhibit(world, number, native_path=rf".\NATIVE\{number}.XLSX", text_path=f"TEXT/{number}.txt")
        for path in (f"NATIVE/{number}.XLSX", f"TEXT/{number}.txt"):
            key = f"files/tenant/Case/{path}"
            clients.s3().put_object(Bucket=world.bucket, Key=key, Body=body)
    exhibit(world, "blank", native_path="  ", text_path="\t", properties={"TIFFPATH": " "})
    production = written()
    objects = objects_of(world, production)
    *records, blank = dat_of(world, production)
    assert (blank["Native Link"], blank["Text Link"]) == ("", "")
    for record, body in zip(records, bodies.values(), strict=True):
        assert record["Native Link"] == rf"VOL001\NATIVES\0001\{record['Begin Bates']}.xlsx"
        for link in ("Native Link", "Text Link"):
            assert objects.pop(record[link].replace("\\", "/")) == body
    assert {*objects} - MANIFESTS == {"VOL001/DATA/VOL001.dat"}


def test_a_path_that_leads_out_is_a_file_that_is_missing(world: World) -> None:
    put_file(world, "x", "of another case", case="Other")
    made = exhibit(world, "A", native_path=r"..\Other\x")
    reason = cancelled(world, production := ask())
    assert reason.startswith(f"FILE_MISSING (exhibits {made}): ")
    assert objects_of(world, production) == {}


def test_all_missing_files_are_said_at_once(world: World) -> None:
    put_documents(world, ["THERE"])
    for number in range(21):
        exhibit(world, f"M-{number:02}", native_path=f"m/{number}.doc", text_path=f"m/{number}.txt")
    reason = cancelled(world, ask())
    ids = [row.id for row in world.query("SELECT id FROM exhibits WHERE control_number LIKE 'M-%' ORDER BY id")]
    named = ", ".join(map(str, ids[:20]))
    assert reason.startswith(f"FILE_MISSING (exhibits {named} and 1 more): ")


def test_two_productions_share_a_volume_and_no_object(world: World) -> None:
    put_documents(world, ["A"])
    first, second = written(), written()
    names = [set(objects_of(world, each)) - MANIFESTS - {"VOL001/DATA/VOL001.dat"} for each in (first, second)]
    assert [len(each) for each in names] == [2, 2]
    assert not names[0] & names[1]


def test_a_folder_has_five_hundred_documents(world: World) -> None:
    case_id, documents = get_or_create_case(world, "Case", "tenant"), 1_001
    numbers = [f"D{number:04}" for number in range(documents)]
    edges = [0, 499, 500, 999, 1_000]
    put_exhibits(world, case_id, [numbers[place] for place in edges], native_path="same.doc")
    put_exhibits(world, case_id, [number for place, number in enumerate(numbers) if place not in edges])
    put_file(world, "same.doc", "the same")
    production = written()
    natives = sorted(name for name in objects_of(world, production) if "NATIVES" in name)
    assert natives == [f"VOL001/NATIVES/{place // 500 + 1:04}/ACME{place + 1:07}.doc" for place in edges]
    records = dat_of(world, production)
    assert [record["Begin Bates"] for record in records] == [f"ACME{n + 1:07}" for n in range(documents)]
    links = [record["Native Link"].replace("\\", "/") for record in records if record["Native Link"]]
    assert links == natives


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
        copied = CopiedObject(len(content), hashlib.sha256(content.encode()).digest())
        assert [copy_object(world.bucket, SOURCE, TARGET) for _ in range(2)] == [copied, copied]
        assert len(versions(world)) == copies


def test_of_what_is_written_on_the_source_only_its_content_type_is_handed_over(world: World) -> None:
    given: Any = {"Metadata": {"reviewer-note": "privileged"}, "Tagging": "issue=hot", "ContentType": "a/b"}
    clients.s3().put_object(Bucket=world.bucket, Key=SOURCE, Body=b"x", **given)
    assert copy_object(world.bucket, SOURCE, TARGET) == CopiedObject(1, hashlib.sha256(b"x").digest())
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
        monkeypatch.setattr(s3_copies, "s3", lambda code=code: Refusing(code))
        assert cancelled(world, ask()).startswith(f"Files of exhibits {exhibit} cannot be copied: 2 {code}. ")


def test_what_may_pass_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put_file(world, "a.doc", "one")
    monkeypatch.setattr(s3_copies, "s3", lambda: Refusing("SlowDown"))
    with pytest.raises(StorageUnavailableError, match="SlowDown"):
        copy_object(world.bucket, SOURCE, TARGET)


def test_a_custodian_whose_name_would_be_read_as_two_is_not_handed_over(world: World) -> None:
    [exhibit, _] = put_documents(world, ["A", "B"])
    world.query("INSERT INTO custodians (case_id, name) SELECT id, 'Doe; Roe LLP' FROM cases")
    assert execute(ask(prefix="ALONE"))["status"] == "confirmed"
    link = "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) SELECT :e, id, 'u' FROM custodians"
    world.query(link, e=exhibit)
    reason = cancelled(world, ask(prefix="NAMED"))
    assert "semicolon" in reason
    assert "Roe" not in reason
