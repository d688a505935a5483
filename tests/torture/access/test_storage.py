"""The bucket's side: what is uploaded is its own folder's tenant's, and no URL leads into another's.

That no path of a load file leads to another's files is for the tests of `core.productions.volume`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any
from urllib.parse import quote_plus, unquote, urlsplit

import start_import
from core.imports.uploads import build_options_key
from shell.aws import clients
from tests.support.api.client import Client
from tests.support.application.driver import World, call
from tests.torture.access.calls import put
from tests.torture.access.table_rows import Kept

OURS, THEIRS = "acme", "beta"
FILE = b"Control Number,Title\r\nA-1,Plan\r\n"
TRICKS = (
    *("..", ".", "...", "..%2f..%2fbeta", "%2e%2e", "..\\beta", "../beta", "/beta", "beta/x", "\u2215beta"),
    *("\uff0e\uff0e", "a?b=c", "a#b", "a&b", "a+b", "a%00b", "imports", "\u202ebeta"),
)
IMPORTS = "SELECT id, tenant_id, user_id, object_key, status FROM imports WHERE tenant_id = :tenant ORDER BY id"


def announce(tenant: str) -> Any:
    return Client(tenant).post("/imports", {"case": "Case", "fileName": "loadfile.csv"}).json


def upload_key(made: Any, tenant: str) -> str:
    return f"imports/{tenant}/{made['case']}/{made['uploadId']}/{made['fileName']}"


def test_an_upload_is_signed_for_ones_own_folder_or_refused(world: World) -> None:
    keys = []
    for place, trick in product(("case", "fileName"), TRICKS):
        said = Client(OURS).post("/imports", {"case": "Case", "fileName": "x.csv", place: trick})
        assert said.status in (201, 400), trick
        if said.status == 201:
            key = unquote(urlsplit(said.json["upload"]["url"]).path).partition("imports/")[2]
            tenant, *rest = key.split("/")
            assert (tenant, len(rest)) == (OURS, 3), trick
            assert {".", ".."}.isdisjoint(rest), trick
            keys.append(f"imports/{key}")
    assert 0 < len(keys) < 2 * len(TRICKS)
    assert [row.object_key for row in world.query("SELECT object_key FROM imports ORDER BY id")] == keys


def test_a_file_under_ones_own_folder_never_becomes_anothers_import(world: World) -> None:
    made = announce(THEIRS)
    kept = world.query(IMPORTS, tenant=THEIRS)
    put(world, upload_key(made, OURS), FILE)
    assert world.query(IMPORTS, tenant=THEIRS) == kept
    assert [(row.tenant_id, row.status) for row in world.query(IMPORTS, tenant=OURS)] == [(OURS, "completed")]
    assert [len(numbers(tenant)) for tenant in (THEIRS, OURS)] == [0, 1]


def numbers(tenant: str) -> Sequence[str]:
    return [each["controlNumber"] for each in Client(tenant).get("/exhibits?case=Case").json["items"]]


def test_a_key_that_only_looks_like_anothers_folder_is_not_that(world: World) -> None:
    announce(THEIRS)
    kept, before = Kept.of(world.engine), world.query(IMPORTS, tenant=THEIRS)
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
        assert world.query(IMPORTS, tenant=THEIRS) == before, key
        found = {row[0] for row in world.query("SELECT tenant_id FROM imports")}
        assert found - {THEIRS} <= {key.split("/")[1]}, key
        kept.put_back(world.engine)


def _notification(world: World, key: str) -> dict[str, Any]:
    """What S3 says of an object of that key, which need not be there: so that no client has a say in its spelling."""
    clients.s3().put_object(Bucket=world.bucket, Key="plain", Body=FILE)
    message = world.notification_of("plain")
    message["Records"][0]["s3"]["object"]["key"] = quote_plus(key, safe="/")
    return message


def test_options_beside_an_announced_upload_do_not_count_whichever_client_put_them(world: World) -> None:
    made = announce(OURS)
    options = {"header": False, "user_id": "mallory"}
    key = build_options_key(upload_key(made, OURS))
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=json.dumps(options))
    put(world, upload_key(made, OURS), FILE)
    assert world.query("SELECT status, user_id FROM imports") == [("completed", "ada")]


def test_options_of_anothers_upload_of_the_same_id_do_not_count(world: World) -> None:
    theirs = {"columns": {"Title": "control_number", "Control Number": "title"}}
    keys = {tenant: f"imports/{tenant}/Case/2026-11/loadfile.csv" for tenant in (THEIRS, OURS)}
    clients.s3().put_object(Bucket=world.bucket, Key=build_options_key(keys[THEIRS]), Body=json.dumps(theirs))
    for key in keys.values():
        put(world, key, FILE)
    assert (numbers(THEIRS), numbers(OURS)) == (["Plan"], ["A-1"])
