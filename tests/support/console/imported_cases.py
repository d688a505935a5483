"""Imports of a served stack, made past the page: load files in the bucket, volumes, and what the API says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from local.stack import LocalStack

USER, ATTEMPTS = "me", 5


def call(stack: LocalStack, method: str, path: str, body: object = None) -> Any:
    """The body of a successful response; what is only read is read again while the server has too much to do."""
    for _ in range(ATTEMPTS if method == "GET" else 1):
        status, raw = stack.request_api("local", USER, method, path, body)
        if status != HTTPStatus.SERVICE_UNAVAILABLE:
            break
    assert status < 300, (status, raw)
    return json.loads(raw)


def import_file(stack: LocalStack, case: str, data: bytes, name: str = "rows", **options: Any) -> int:
    """Put a load file into the bucket and wait for its import; `name` is new in the case. Returns its id."""
    if options:
        stack.s3.put_object(
            Bucket=stack.bucket, Key=f"options/local/{case}/{name}.json", Body=json.dumps(options).encode()
        )
    stack.s3.put_object(Bucket=stack.bucket, Key=f"imports/local/{case}/{name}/{name}.csv", Body=data)
    stack.wait_until_idle()
    found = call(stack, "GET", f"/imports?case={quote(case)}&limit=1")["items"]
    assert found[0]["fileName"] == f"{name}.csv"
    return int(found[0]["id"])


def import_volume(stack: LocalStack, case: str, files: Mapping[str, bytes]) -> tuple[int, int]:
    """Have a volume imported; returns the ids of its imports, of the rows and of the images."""
    volume = call(stack, "POST", "/volumes", {"case": case, "name": "VOL001"})["id"]
    declared = [{"path": path, "size": len(data)} for path, data in files.items()]
    call(stack, "POST", f"/volumes/{volume}/files", declared)
    prefix = call(stack, "GET", f"/volumes/{volume}")["prefix"]
    for path, data in files.items():
        stack.s3.put_object(Bucket=stack.bucket, Key=prefix + path, Body=data)
    call(stack, "POST", f"/volumes/{volume}/import", {})
    stack.wait_until_idle()
    by_kind = {each["kind"]: each["id"] for each in list_imports(stack, case)}
    return int(by_kind["rows"]), int(by_kind["images"])


def list_imports(stack: LocalStack, case: str) -> list[dict[str, Any]]:
    """The imports of a case, the newest first."""
    return list(call(stack, "GET", f"/imports?case={quote(case)}")["items"])


def list_documents(stack: LocalStack, case: str) -> dict[str, dict[str, Any]]:
    """All documents of a case by control number, each as the API returns one."""
    listed = call(stack, "GET", f"/exhibits?case={quote(case)}&limit=500")["items"]
    return {each["controlNumber"]: call(stack, "GET", f"/exhibits/{each['id']}") for each in listed}


def count_open(stack: LocalStack, import_id: int) -> int:
    """The rejected rows of an import that are open."""
    return int(call(stack, "GET", f"/imports/{import_id}/progress")["openRejections"])
