"""Cases for the tests of the console, made through the API and the bucket of a stack."""

from __future__ import annotations

import json
from typing import Any

import urllib3

from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume

TENANT = "local"
# What a producing party's file may hold: markup, a text that runs backwards, a formula, and a very long one.
HOSTILE_NAMES = ["<img src=x onerror=alert(1)>", "exe.\u202egnp.txt", '=HYPERLINK("http://x","y")', "y" * 4_000]


def request(stack: LocalStack, method: str, path: str, body: object = None, if_match: str | None = None) -> Any:
    """Send a request as the user `me`, and return its JSON; fails for a response without success."""
    status, answered = stack.request_api(TENANT, "me", method, path, body, if_match)
    assert status < 300, (status, answered)
    return json.loads(answered)


def load_file(stack: LocalStack, case: str, content: str | bytes, name: str = "rows.csv", **options: Any) -> int:
    """Import a file, and return the id of its import once it has ended; `options` are those of `POST /imports`."""
    import_id = send_file(stack, case, content, name, **options)
    stack.wait_until_idle()
    return import_id


def send_file(stack: LocalStack, case: str, content: str | bytes, name: str = "rows.csv", **options: Any) -> int:
    """Send a file, and return the id of its import."""
    created = request(stack, "POST", "/imports", {"case": case, "fileName": name, **options})
    upload = created["upload"]
    headers = {**upload["headers"], "Content-Type": "application/octet-stream"}
    answered = urllib3.request("PUT", upload["url"], body=content, headers=headers)
    assert answered.status == 200, answered.data
    return int(created["id"])


def load_volume(stack: LocalStack, case: str, spec: VolumeSpec) -> list[int]:
    """Import a volume, and return the ids of its imports, that of the data file first."""
    volume = request(stack, "POST", "/volumes", {"case": case, "name": spec.name})
    for path, data in generate_volume(spec).list_files():
        stack.s3.put_object(Bucket=stack.bucket, Key=f"{volume['prefix']}{path}", Body=data)
    request(stack, "POST", f"/volumes/{volume['id']}/import", {})
    stack.wait_until_idle()
    imports = request(stack, "GET", f"/volumes/{volume['id']}")["imports"]
    return sorted(int(each["id"]) for each in imports)


def find_case(stack: LocalStack, name: str) -> int:
    """Return the id of a case."""
    return int(request(stack, "GET", f"/cases?prefix={name.replace(' ', '%20')}")["items"][0]["id"])


def build_file(*rows: str, header: str = "Control Number,Title,Custodian,Tags") -> str:
    """Return a CSV file of rows."""
    return "\n".join((header, *rows)) + "\n"


def quote(text: str) -> str:
    """Return a cell of a CSV file."""
    escaped = text.replace('"', '""')
    return f'"{escaped}"'
