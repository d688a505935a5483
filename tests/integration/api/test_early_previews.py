"""Previews of a file's beginning before the file is uploaded."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import quote

import pytest
import urllib3

from core.contracts.queries import PreviewQuery
from core.errors import FileRefusedError, UploadRefusedError
from core.imports.uploads import parse_upload
from shell.imports.previews import preview_import
from tests.integration.imports.import_requests import CALLER
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.volumes.paired_imports import DAT_PATH, OPT_PATH, announce

ADA, EVE = Client("acme", "ada"), Client("other", "eve")
CSV = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"


def put(url: str, data: bytes, headers: dict[str, str]) -> Any:
    return urllib3.request("PUT", url, body=data, headers=headers, retries=False)


def preview(data: bytes, size: int | None = None, **query: str) -> Any:
    """Send the beginning of a file, and preview it."""
    created = ADA.post("/previews", {"case": "Case", "fileName": "a.dat", "size": size or len(data)})
    assert created.status == 201
    assert created.headers["location"] == f"/previews/{created.json['id']}"
    upload = created.json["upload"]
    assert put(upload["url"], data[: created.json["bytes"]], upload["headers"]).status == 200
    return ADA.get(f"/previews/{created.json['id']}" + "".join(f"?{name}={v}" for name, v in query.items()))


def test_a_preview_before_the_upload_is_that_of_the_import(world: World) -> None:
    early = preview(CSV).json
    created = ADA.post("/imports", {"case": "Case", "fileName": "a.dat"}).json
    put(created["upload"]["url"], CSV, created["upload"]["headers"])
    world.query("UPDATE imports SET upload_key = UNHEX(SHA2('arrived', 256))")
    assert early == ADA.get(f"/imports/{created['id']}/preview").json
    assert (early["provisional"], early["rowsRead"]) == (False, 2)
    assert preview(CSV, encoding="cp1252").json["detection"]["encoding"]["certainty"] == "given"


def test_a_cut_record_is_no_error_and_the_rest_can_change_the_encoding(world: World) -> None:
    """Rule: 8 MB of ASCII, then cp1252. Nothing that the preview detects is stored."""
    row = b"A-%07d,a title of some length in plain ASCII without anything special\r\n"
    data = b"Control Number,Title\r\n" + b"".join(row % n for n in range(120_000))
    assert len(data) > 8_000_000
    found = preview(data, size=len(data) + 100).json
    assert (found["provisional"], found["bytesRead"], found["size"]) == (True, 8_000_000, len(data) + 100)
    assert "encoding" in found["mayChange"]
    assert [code for each in found["rows"] for code in each["codes"]] == []
    counts = {
        name: count for name in ("imports", "cases") for ((count,),) in [world.query(f"SELECT COUNT(*) FROM {name}")]
    }
    assert counts == {"imports": 0, "cases": 0}


def test_a_preview_is_its_tenants_and_its_cases(world: World) -> None:
    created = ADA.post("/previews", {"case": "Case", "fileName": "a.dat", "size": len(CSV)}).json
    put(created["upload"]["url"], CSV, created["upload"]["headers"])
    url = f"/previews/{created['id']}"
    assert ADA.get(url).status == 200
    # Under the prefix of the other tenant there is none.
    assert EVE.get(url).status == 409
    token, size, case_hash = created["id"].split(".")
    other = hashlib.sha256(b"Other case").hexdigest()[:32]
    # Another case or size is another object.
    for forged in (f"{token}.{size}.{other}", f"{token}.9.{case_hash}"):
        assert ADA.get(f"/previews/{forged}").status == 409
    for bad in ("1", "../../imports", f"{token}.{size}.{case_hash}x"):
        assert ADA.get(f"/previews/{quote(bad, safe='')}").status in (400, 404)


def test_a_preview_whose_bytes_are_not_there_says_what_to_do(world: World) -> None:
    created = ADA.post("/previews", {"case": "Case", "fileName": "a.dat", "size": 10}).json
    answer = ADA.get(f"/previews/{created['id']}")
    assert (answer.status, answer.problem) == (409, "wrong-state")
    assert "upload it" in answer.json["detail"]


def test_a_repeated_request_names_the_same_preview(world: World) -> None:
    body = {"case": "Case", "fileName": "a.dat", "size": 10**10}
    first, again = (ADA.post("/previews", body, key="one").json for _ in range(2))
    assert first["id"] == again["id"]
    assert first["bytes"] == 8_000_000


def test_no_import_reads_a_preview(world: World) -> None:
    created = ADA.post("/previews", {"case": "Case", "fileName": "a.dat", "size": 10}).json
    (key,) = [f"previews/acme/{created['id']}"]
    assert key in created["upload"]["url"].replace("%2F", "/")
    stored = {"key": key, "size": 10, "eTag": "e"}
    with pytest.raises(UploadRefusedError):
        parse_upload({"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": stored}})


def test_an_image_load_file_is_previewed_as_one_before_its_upload(world: World) -> None:
    found = preview(b"A-1,V1,IMAGES\\1.tif,Y,,,1\r\nA-2,V1,IMAGES\\2.tif,Y,,,1\r\n").json
    assert (found["images"]["kind"], found["images"]["documents"], found["images"]["missing"]) == ("opt", 2, None)
    assert [each["cells"][0] for each in found["rows"]] == ["A-1", "A-2"]
    assert preview(CSV).json["images"] is None


def test_the_preview_of_images_of_a_volume_has_the_files_that_are_missing(world: World) -> None:
    lines = b"A1,V,1.tif,Y,,,\r\nA2,V,2.tif,Y,,,\r\n"
    _, images = announce(world, {DAT_PATH: b"BEGDOC\r\nA1\r\n", OPT_PATH: lines, "DATA/1.tif": b"II*\0"})
    found = preview_import(CALLER, images, PreviewQuery()).images
    assert found is not None
    assert found.missing is not None
    assert (found.kind, found.paths_compared, [each.path for each in found.missing]) == ("opt", 2, ["2.tif"])
    world.query("UPDATE imports SET object_key = REPLACE(object_key, :opt, :dat), version_id = (SELECT version_id FROM "
                "volume_files WHERE path = :dat), etag = (SELECT etag FROM volume_files WHERE path = :dat) "
                "WHERE id = :id", opt=OPT_PATH, dat=DAT_PATH, id=images)  # fmt: skip
    with pytest.raises(FileRefusedError, match="not an image load file"):
        preview_import(CALLER, images, PreviewQuery())
