"""What an S3 notification says was uploaded, and that nothing else is taken for an upload."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from core.contracts.exhibits import NewCustodian
from core.contracts.imports.announcements import NewImport
from core.errors import InvalidInputError, UploadRefusedError
from core.imports.uploads import Upload, build_object_key, build_options_key, parse_upload


def record(key: str = "imports/acme/Smith+v.+Jones/u1/a+b.dat", **changes: Any) -> dict[str, Any]:
    stored: dict[str, Any] = {"key": key, "size": 5, "eTag": "e", "versionId": "v1", "sequencer": "s"}
    stored = {name: value for name, value in {**stored, **changes}.items() if value is not None}
    return {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "drop"}, "object": stored}}


def upload(*key: str, **changes: Any) -> Upload:
    found = parse_upload(record(*key, **changes))
    assert found is not None
    return found


def test_a_key_says_tenant_case_upload_and_file() -> None:
    found = upload()
    assert (found.bucket, found.key, found.size) == ("drop", "imports/acme/Smith v. Jones/u1/a b.dat", 5)
    assert build_options_key(found.key) == "options/acme/Smith v. Jones/u1.json"


KEYS = {
    "imports/acme/Smith+v.+Jones/u1/a+b.dat": ("acme", "Smith v. Jones", "u1", "a b.dat"),
    # Keys come URL-encoded.
    "imports/t/M%C3%BCller%2BS%C3%B6hne/u/%E5%A5%91%E7%B4%84+%281%29%25.dat": (
        "t",
        "Müller+Söhne",
        "u",
        "契約 (1)%.dat",
    ),
    # A file may lie in folders of its own, and an encoded slash divides like any other; dots climb nowhere.
    "imports/t/c/u/VOL01/DATA/a.dat": ("t", "c", "u", "VOL01/DATA/a.dat"),
    "imports/t/c/u/a%2Fb.dat": ("t", "c", "u", "a/b.dat"),
    "imports/t/c/u/x/..%2F..%2Fa.dat": ("t", "c", "u", "x/../../a.dat"),
    # Names may be as long as their columns.
    f"imports/{'t' * 64}/{'é' * 255}/u/a.dat": ("t" * 64, "é" * 255, "u", "a.dat"),
}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:40])
def test_the_parts_of_a_key_are_read_as_s3_sends_them(key: str) -> None:
    found = upload(key)
    assert (found.tenant_id, found.case_name, found.upload_id, found.file_name) == KEYS[key]


def test_a_key_may_be_as_long_as_s3_allows() -> None:
    longest = 1_024 - len(build_object_key("t", "c", "u", ""))
    assert len(build_object_key("t", "c", "u", "é" * (longest // 2) + "e" * (longest % 2)).encode()) == 1_024
    with pytest.raises(InvalidInputError, match="1025 bytes"):
        build_object_key("t", "c", "u", "e" * (longest + 1))


@pytest.mark.parametrize("name", [".", "..", "a/b"])
def test_no_case_is_called_what_is_taken_for_a_folder(name: str) -> None:
    for contract, field in ((NewImport, "fileName"), (NewCustodian, "name")):
        with pytest.raises(ValidationError):
            contract.model_validate({"case": name, field: "x"})


@pytest.mark.parametrize("event", ["ObjectRemoved:Delete", "ObjectRestore:Completed", "", None])
def test_other_events_are_no_uploads(event: str | None) -> None:
    assert parse_upload({**record(), "eventName": event}) is None


def test_folders_and_the_test_event_of_a_new_notification_are_no_uploads() -> None:
    assert parse_upload(record("imports/t/c/u/")) is None
    assert parse_upload({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "drop"}) is None


@pytest.mark.parametrize("event", ["Put", "Post", "Copy", "CompleteMultipartUpload"])
def test_every_way_of_creating_an_object_is_an_upload(event: str) -> None:
    assert parse_upload({**record(), "eventName": f"ObjectCreated:{event}"}) is not None


REFUSED = [
    *("a.dat", "imports/a.dat", "imports/t/c/a.dat", "imports//c/u/a.dat", "imports/t//u/a.dat", "imports/t/c//a.dat"),
    *("Imports/t/c/u/a.dat", "/imports/t/c/u/a.dat", "files/t/c/u/a.dat", "reports/1/1/x/y.csv", "imports2/t/c/u/a"),
    *("imports/+t/c/u/a.dat", "imports/t/c+/u/a.dat", "imports/t/%20/u/a.dat", "imports/t/c/u/+"),
    *("imports/t/c%00/u/a.dat", "imports/t/c%0A/u/a.dat", "imports/t/c/u%1B/a.dat", "imports/t/c/u/a%0D.dat"),
    *("imports/t/../u/a.dat", "imports/../c/u/a.dat", "imports/t/c/./a.dat"),
    *("imports/../../../a.dat", "imports%2Ft%2Fc", "imports/t/%C2%85c/u/a.dat"),
    f"imports/{'t' * 65}/c/u/a.dat",
    f"imports/t/{'c' * 256}/u/a.dat",
]


def test_a_key_that_names_no_upload_is_refused() -> None:
    for key in REFUSED:
        with pytest.raises(UploadRefusedError):
            parse_upload(record(key))


def test_the_same_version_has_the_same_key_whatever_the_event() -> None:
    assert len(upload().upload_key) == 32
    assert upload().upload_key == upload(sequencer="other", eTag="other").upload_key


@pytest.mark.parametrize("version", [None, "null"])
def test_without_versions_etag_and_sequencer_tell_one_put_from_the_next(version: str | None) -> None:
    plain = upload(versionId=version)
    assert plain.version_id is None
    assert plain.upload_key == upload(versionId=version).upload_key
    others = [upload(versionId=version, sequencer="s2"), upload(versionId=version, eTag="e2"), upload()]
    assert len({plain.upload_key, *(other.upload_key for other in others)}) == 4


def test_another_key_bucket_or_case_of_letters_is_another_upload() -> None:
    keys = {upload(f"imports/t/c/u/{name}").upload_key for name in ("a.dat", "A.dat", "a.dat ".strip(), "á.dat")}
    assert len(keys) == 3
    other = record()
    other["s3"]["bucket"]["name"] = "drop2"
    found = parse_upload(other)
    assert found is not None
    assert found.upload_key != upload().upload_key
