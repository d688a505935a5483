"""The bucket's side: what is uploaded is its own folder's tenant's, and no URL or path leads into another's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any
from urllib.parse import parse_qs, quote_plus, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

import start_import
from core.errors import InvalidInputError
from core.imports.uploads import build_options_key
from core.productions.volume import resolve_source_key
from shell.aws import clients
from tests.support.api import Client
from tests.support.world import World, call
from tests.torture.access_rows import Kept, rows_not_of

OURS, THEIRS = "acme", "beta"
FILE = b"Control Number,Title\r\nA-1,Plan\r\n"
TRICKS = (
    *("..", ".", "...", "..%2f..%2fbeta", "%2e%2e", "..\\beta", "../beta", "/beta", "beta/x", "\u2215beta"),
    *("\uff0e\uff0e", "a?b=c", "a#b", "a&b", "a+b", "a%00b", "imports", "\u202ebeta"),
)


def announce(tenant: str, case: str = "Case", file: str = "loadfile.csv", **more: Any) -> Any:
    return Client(tenant).post("/imports", {"case": case, "fileName": file, **more})


def put(world: World, key: str, data: bytes = FILE) -> None:
    """An object, with all that follows from it."""
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=data)
    world.finish(world.notification_of(key))


def key_of(url: str) -> str:
    """The key for which a URL is signed, with whatever stands before it as the bucket."""
    return unquote(urlsplit(url).path).partition("imports/")[2]


def upload_key(made: Any, tenant: str) -> str:
    return f"imports/{tenant}/{made['case']}/{made['uploadId']}/{made['fileName']}"


def test_an_upload_is_signed_for_ones_own_folder_or_refused(world: World) -> None:
    keys = []
    for place, trick in product(("case", "fileName"), TRICKS):
        said = Client(OURS).post("/imports", {"case": "Case", "fileName": "x.csv", place: trick})
        assert said.status in (201, 400), trick
        if said.status == 201:
            tenant, *rest = key_of(said.json["upload"]["url"]).split("/")
            assert (tenant, len(rest)) == (OURS, 3), trick
            assert {".", ".."}.isdisjoint(rest), trick
            keys.append(f"imports/{tenant}/{'/'.join(rest)}")
    assert 0 < len(keys) < 2 * len(TRICKS)
    assert [row.object_key for row in world.query("SELECT object_key FROM imports ORDER BY id")] == keys


def test_a_tenant_that_is_a_way_up_gets_no_url(world: World) -> None:
    assert [announce(tenant).status for tenant in ("..", ".")] == [403, 403]
    assert world.query("SELECT * FROM imports") == []


def test_every_part_of_an_upload_is_signed_for_the_same_key(world: World) -> None:
    upload = announce(OURS, size=5_000_000_000).json["upload"]
    urls = [*(part["url"] for part in upload["parts"]), upload["completeUrl"]]
    [key] = {key_of(url) for url in urls}
    assert key.startswith(f"{OURS}/Case/")
    assert len({parse_qs(urlsplit(url).query)["uploadId"][0] for url in urls}) == 1


def test_a_file_under_ones_own_folder_never_becomes_anothers_import(world: World) -> None:
    made = announce(THEIRS).json
    kept = Kept.of(world.engine)
    put(world, upload_key(made, OURS))
    assert world.query("SELECT status FROM imports WHERE id = :id", id=made["id"])[0][0] == "awaiting_upload"
    found = {**kept.rows, **kept.changed(world.engine)}
    assert rows_not_of(found, OURS) == rows_not_of(kept.rows, OURS)
    assert [row["tenant_id"] for row in found["imports"]] == [THEIRS, OURS]
    assert Client(THEIRS).get("/exhibits?case=Case").json["items"] == []
    assert len(Client(OURS).get("/exhibits?case=Case").json["items"]) == 1


def test_a_key_that_only_looks_like_anothers_folder_is_not_that(world: World) -> None:
    announce(THEIRS)
    kept = Kept.of(world.engine)
    for key in (
        f"imports/{OURS}/../{THEIRS}/Case/u/x.csv",
        f"imports/{OURS}/../../{THEIRS}/Case/x.csv",
        f"imports/{OURS}%2F..%2F{THEIRS}/Case/u/x.csv",
        f"imports/{OURS}%252F..%252F{THEIRS}/Case/u/x.csv",
        "imports/%62eta/Case/u/x.csv",
        f"imports//{THEIRS}/Case/u/x.csv",
        f"imports/ {THEIRS}/Case/u/x.csv",
        f"imports/{THEIRS} /Case/u/x.csv",
        f"imports/{THEIRS}\u0000/Case/u/x.csv",
        f"imports/{THEIRS.upper()}/Case/u/x.csv",
        f"imports/{THEIRS}+/Case/u/x.csv",
        f"imports/../imports/{THEIRS}/Case/x.csv",
        f"imports/{THEIRS}/Case/x.csv",
    ):
        call(start_import.lambda_handler, _notification(world, key))
        changed = kept.changed(world.engine)
        found = {**kept.rows, **changed}
        of_theirs = [row for row in rows_not_of(found, "nobody")["imports"] if row["tenant_id"] == THEIRS]
        assert of_theirs == kept.rows["imports"], key
        assert {row["tenant_id"] for row in found["imports"]} - {THEIRS} <= {key.split("/")[1]}, key
        kept.put_back(world.engine, changed)


def _notification(world: World, key: str) -> dict[str, Any]:
    """What S3 says of an object of that key, which need not be there: so that no client has a say in its spelling."""
    clients.s3().put_object(Bucket=world.bucket, Key="plain", Body=FILE)
    message = world.notification_of("plain")
    message["Records"][0]["s3"]["object"]["key"] = quote_plus(key, safe="/")
    return message


def test_options_beside_an_announced_upload_do_not_count_whoever_put_them(world: World) -> None:
    made = announce(OURS).json
    options = {"header": False, "user_id": "mallory"}
    key = build_options_key(upload_key(made, OURS))
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=json.dumps(options))
    put(world, upload_key(made, OURS))
    assert world.query("SELECT status, user_id FROM imports") == [("completed", "ada")]


def test_options_of_anothers_upload_of_the_same_id_do_not_count(world: World) -> None:
    theirs = {"columns": {"Title": "control_number", "Control Number": "title"}}
    clients.s3().put_object(
        Bucket=world.bucket,
        Key=build_options_key(f"imports/{THEIRS}/Case/2026-11/loadfile.csv"),
        Body=json.dumps(theirs),
    )
    put(world, f"imports/{THEIRS}/Case/2026-11/loadfile.csv")
    put(world, f"imports/{OURS}/Case/2026-11/loadfile.csv")
    assert numbers(world, THEIRS) == ["Plan"]
    assert numbers(world, OURS) == ["A-1"]


def numbers(world: World, tenant: str) -> Sequence[str]:
    return [each["controlNumber"] for each in Client(tenant).get("/exhibits?case=Case").json["items"]]


PARTS = st.sampled_from(["..", ".", "", "/", "\\", "C:", THEIRS, "files", "%2e%2e", "%2F", "x.tif", " ", "\u2025"])


@given(st.lists(PARTS, max_size=8).map("".join), st.lists(PARTS, max_size=8).map("/".join))
def test_no_path_of_a_load_file_leads_to_anothers_files(first: str, second: str) -> None:
    for path in (first, second, first + second):
        try:
            key = resolve_source_key(OURS, "Case", path)
        except InvalidInputError:
            continue
        assert key.startswith(f"files/{OURS}/Case/")
        assert ".." not in key.replace("\\", "/").split("/")
