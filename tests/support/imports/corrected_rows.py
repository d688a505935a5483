"""Corrections of rejected rows as a client makes them, and what a case holds afterwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import start_import
from core.exhibit_fields import KEYS, TEXTS
from shell.aws import clients
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World, call, request_messages
from tests.support.database.committed_state import Queried

CLIENT = Client("tenant", "ann")
Change = Callable[[list[str]], list[str]]
# By natural keys: the line of a corrected row is another one, and all else is equal.
_DOCUMENTS = f"""
    SELECT {", ".join((*KEYS, *TEXTS))}, document_date, date_sent, date_received, date_created, date_modified,
           document_date_source, date_precision, HEX(row_hash), line_count, document_properties,
           (SELECT HEX(t.sha256) FROM texts AS t WHERE t.id = e.text_id) AS text,
           (SELECT GROUP_CONCAT(HEX(c.name) ORDER BY HEX(c.name)) FROM custodian_exhibits AS l
            JOIN custodians AS c ON c.id = l.custodian_id WHERE l.exhibit_id = e.id) AS custodians,
           (SELECT GROUP_CONCAT(HEX(t.name) ORDER BY HEX(t.name)) FROM taggings AS l
            JOIN tags AS t ON t.id = l.tag_id WHERE l.exhibit_id = e.id) AS tags
    FROM exhibits AS e JOIN cases AS c ON c.id = e.case_id WHERE c.name = :name ORDER BY control_number
"""


def dump_case(world: Queried, name: str) -> list[dict[str, Any]]:
    """All values of the case's documents, with the names that they have."""
    return [dict(row._mapping) for row in world.query(_DOCUMENTS.replace(":name", f"'{name}'"))]


def list_rows(import_id: int, **filters: Any) -> list[dict[str, Any]]:
    """All rejected rows of an import, read page by page."""
    rows, after = [], ""
    while True:
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        page = CLIENT.get(f"/imports/{import_id}/rejected-rows?{query}{after}").json
        rows += page["items"]
        if page["next"] is None:
            return rows
        after = f"&after={page['next']}"


def post(import_id: int, rows: Mapping[int, list[str]] | None = None, discard: Iterable[int] = ()) -> Reply:
    """Send corrected rows by line, and lines to discard."""
    sent = [{"line": line, "cells": cells} for line, cells in (rows or {}).items()]
    return CLIENT.post(f"/imports/{import_id}/corrections", {"rows": sent, "discard": list(discard)})


def correct(world: World, import_id: int, changes: Mapping[int, Change]) -> int:
    """Correct lines, each with a function of its cells, to the end of the correction; return its import."""
    cells = {row["line"]: row["cells"] for row in list_rows(import_id)}
    created = post(import_id, {line: change(cells[line]) for line, change in changes.items()})
    assert created.status == 201, created
    deliver(world)
    return int(created.json["id"])


def deliver(world: World) -> None:
    """Deliver what was requested, and the chunks and completions that follow."""
    for request in request_messages():
        assert call(start_import.lambda_handler, request), request
    for message in world.chunk_messages():
        assert world.import_chunk(message), message


def set_cell(index: int, value: str) -> Change:
    """A change of one cell, by its index."""
    return lambda cells: [*cells[:index], value, *cells[index + 1 :]]


def get_state(import_id: int) -> dict[str, Any]:
    """The details of an import."""
    found: dict[str, Any] = CLIENT.get(f"/imports/{import_id}").json
    return found


def check_cases() -> None:
    """Every case has the sum of its imports, as `shell.exhibits.case_list` says."""
    sums = Counter[str]()
    for each in CLIENT.get("/imports").json["items"]:
        sums[each["case"]] += each["openRejections"]
    cases = CLIENT.get("/cases").json["items"]
    assert {each["name"]: each["openRejections"] for each in cases} == dict(sums)
    one = CLIENT.get(f"/cases/{cases[0]['id']}").json
    assert one == cases[0]


def count_open(world: World, import_id: int) -> int:
    """The rejected rows that no live correction and no discard has, counted from the tables, row by row."""
    claims = world.query(
        "SELECT c.line_no, c.status FROM import_corrections AS c WHERE c.import_id = :i AND c.status <> 'pending'",
        i=import_id,
    )
    closed = {line for line, _ in claims}
    lines = world.query(
        "SELECT line_no, row_count FROM import_rejections WHERE import_id = :i AND seq = 0", i=import_id
    )
    return sum(count for line, count in lines if line not in closed)


def read_object(world: World, import_id: int) -> list[dict[str, Any]]:
    """The rows of a correction as they are in the bucket."""
    key = world.query("SELECT object_key FROM imports WHERE id = :i", i=import_id)[0][0]
    body = clients.s3().get_object(Bucket=world.bucket, Key=key)["Body"].read()
    return [json.loads(line) for line in body.splitlines()]
