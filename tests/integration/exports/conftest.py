"""A small case with hostile values, and exports of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from moto.s3 import models as moto_s3

import write_import_report
from shell.aws import clients
from shell.exports import selection, worker
from shell.settings import settings
from tests.support.api.client import Client
from tests.support.application.driver import World, call, taken_from

HOSTILE = (
    *("=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(1)", "＝1", "a;b", 'he said "no", twice', "two\nlines\r\nand\ttabs"),
    *("\u2028line\u2029", "\u03a9mega", "null", "true", "'=quoted", "{}", "\\u0041"),
)


@dataclass
class Exporter:
    """A user of a tenant who exports the case; `queue` has the messages that continue the work."""

    world: World
    queue: str
    client: Client = field(default_factory=lambda: Client("tenant", "ada"))

    def request(self, kind: str, export_format: str = "csv", **body: Any) -> Any:
        """Request an export; returns it."""
        reply = self.client.post("/exports", {"case": "Case", "kind": kind, "format": export_format, **body})
        assert reply.status == 202, reply
        return reply.json

    def work(self, export_id: int) -> bool:
        """Deliver the message of an export, once; True if it was acknowledged."""
        return call(write_import_report.lambda_handler, {"eventType": "export.requested", "exportId": export_id})

    def run(self, kind: str, export_format: str = "csv", **body: Any) -> bytes:
        """Export to the end; returns the file."""
        made = self.request(kind, export_format, **body)
        assert self.work(made["id"])
        return self.file(made["id"])

    def get(self, export_id: int) -> Any:
        """The export as the API returns it."""
        return self.client.get(f"/exports/{export_id}").json

    def file(self, export_id: int) -> bytes:
        """The object of an export; fails unless there is exactly one, in one version."""
        listed = clients.s3().list_object_versions(Bucket=self.world.bucket, Prefix="exports/").get("Versions", [])
        [key] = [each["Key"] for each in listed if each["Key"].split("/")[3] == str(export_id)]
        return clients.s3().get_object(Bucket=self.world.bucket, Key=key)["Body"].read()

    def messages(self) -> list[Any]:
        """Take what continues exports."""
        return taken_from(self.queue)


@pytest.fixture
def exporter(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exporter]:
    """Exports in windows of two documents."""
    queue = boto3.client("sqs").create_queue(QueueName=f"reports-{secrets.token_hex(6)}")["QueueUrl"]
    monkeypatch.setenv("IMPORT_REPORTS_QUEUE_URL", queue)
    settings.cache_clear()
    monkeypatch.setattr(selection, "WINDOW", 2)
    yield Exporter(world, queue)
    monkeypatch.undo()
    settings.cache_clear()


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every document is a part of its own."""
    monkeypatch.setattr(worker, "PART_BYTES", 1)
    monkeypatch.setattr(worker, "LEAST_BYTES", 1)
    monkeypatch.setattr(moto_s3, "S3_UPLOAD_PART_MIN_SIZE", 0)


@pytest.fixture
def hostile_case(world: World) -> list[int]:
    """Documents whose values are hostile, with tags, custodians, pages and changes; returns their ids in order."""
    rows = [f"D-{number:03},{_quote(text)},{_quote(text)}" for number, text in enumerate(HOSTILE)]
    header = "Control Number,Title,Odd"
    world.run("\n".join([header, *rows, ""]).encode(), name="documents.csv")
    ids = [row[0] for row in world.query("SELECT id FROM exhibits ORDER BY control_number")]
    assert len(ids) == len(HOSTILE)
    _add_links(ids)
    _add_pages(world, ids)
    return ids


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _add_links(ids: list[int]) -> None:
    client = Client("tenant", "ada")
    for number, text in enumerate(("=tag", "b;c", "Zürich")):
        body = {"exhibitIds": ids[number : number + 3], "tags": [text]}
        assert client.post("/taggings", body).status == 200
    for number, each in enumerate(ids[:4]):
        change = {"title": f"=changed {number}", "documentDate": "2019-12-31T23:59:59"}
        version = client.get(f"/exhibits/{each}").json["version"]
        assert client.patch(f"/exhibits/{each}", change, version).status == 200
        assert client.post(f"/exhibits/{each}/custodians", {"custodians": ["@Ada", "Bo; Bob"]}).status == 200


def _add_pages(world: World, ids: list[int]) -> None:
    for number, each in enumerate(ids[:5]):
        world.query(
            "INSERT INTO page_sets (case_id, import_id, line_no, page_count, content_hash) "
            "SELECT MAX(id), 7, :line, :count, '' FROM cases",
            line=number,
            count=number + 1,
        )
        [(made,)] = world.query("SELECT MAX(id) FROM page_sets")
        for page in range(1, number + 2):
            world.query(
                "INSERT INTO pages (page_set_id, page_no, image_key, path, page_in_file, rotation) "
                "VALUES (:made, :page, :key, :path, 0, 90)",
                made=made,
                page=page,
                key=f"=KEY{page}",
                path=f"IMG\\{number}\\{page}.tif",
            )
        world.query("UPDATE exhibits SET page_set_id = :made WHERE id = :id", made=made, id=each)
