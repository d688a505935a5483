"""What each function around imports must have done once its event was sent to it: the effect in MySQL, S3, SQS, SNS."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from core.imports.uploads import build_correction_key
from core.texts.packs import build_pack, build_pack_key
from samples.generator import generate
from samples.spec import Spec
from shell.aws import clients
from shell.aws.new_objects import put_new
from tests.artifact.event_sender import Sender, logical_id
from tests.support.api.client import Client
from tests.support.application.driver import completion_messages, request_messages, sqs_event, taken_from
from tests.support.aws.custom_resource_server import answers

DONE: dict[str, list[str]] = {"batchItemFailures": []}
THREE = generate(Spec(rows=3)).data


def migrate_database(sender: Sender) -> None:
    """Of a database without tables, the schema of today; CloudFormation gets the response."""
    query = sender.world.query
    before = query("SELECT version_num FROM alembic_version")
    tables = [row[0] for row in query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")]
    with sender.world.engine.begin() as connection:
        connection.exec_driver_sql("SET FOREIGN_KEY_CHECKS = 0")
        connection.exec_driver_sql(f"DROP TABLE {', '.join(tables)}")
        connection.exec_driver_sql("SET FOREIGN_KEY_CHECKS = 1")
    with answers() as cloudformation:
        sender.send("migrate_database", ResponseURL=cloudformation.url)
    assert cloudformation.only()["Status"] == "SUCCESS"
    assert query("SELECT version_num FROM alembic_version") == before
    assert query("SELECT COUNT(*) FROM exhibits") == [(0,)]


def start_import(sender: Sender) -> None:
    """The import is registered and its chunk queued."""
    assert sender.send("start_import", **sender.upload("start_import", THREE)) == DONE
    found = "SELECT c.name, i.file_name, i.status, i.rows_seen FROM imports i JOIN cases c ON c.id = i.case_id"
    assert sender.world.query(found) == [("Smith v. Müller", "production_001.dat", "running", 3)]
    assert [message["chunk_no"] for message in sender.world.chunk_messages()] == [1]


def import_chunk(sender: Sender) -> None:
    """The rows are there, a change is announced, and the completion of the import is requested.

    Another worker has stored the texts of the rows already.
    """
    rows = b"A-1,2020-01-02,a text\r\nA-2,,\r\nA-3,someday,\r\n"
    import_id = sender.world.start(b"Control Number,Document Date,OCR1\r\n" + rows)
    [(case_id, tenant)] = sender.world.query("SELECT case_id, tenant_id FROM imports WHERE id = :i", i=import_id)
    pack = build_pack([(2, "a text")], ())
    put_new(sender.world.bucket, build_pack_key(tenant, case_id, import_id, 1, pack.sha256), pack.data, pack.sha256)
    assert sender.send("import_chunk", import_id=import_id) == DONE
    assert sender.world.query("SELECT COUNT(*) FROM exhibits WHERE text_id IS NOT NULL") == [(1,)]
    assert sender.world.query("SELECT COUNT(*) FROM exhibits WHERE import_id = :i", i=import_id) == [(3,)]
    assert sender.world.query("SELECT event_type FROM outbox_events ORDER BY id") == [("import.started",), ("WARNING",)]
    assert [message["import_id"] for message in completion_messages()] == [import_id]


def complete_import(sender: Sender) -> None:
    """The import has its status and its counts."""
    import_id = sender.world.start(THREE)
    assert sender.send("import_chunk", import_id=import_id) == DONE
    assert sender.send("complete_import", import_id=import_id) == DONE
    assert sender.world.query("SELECT status, imported FROM imports") == [("completed", 3)]


def handle_failed_chunk(sender: Sender) -> None:
    """The rows of the chunk that was sent back once before are rejected, and the completion is requested."""
    import_id = sender.world.start(THREE)
    assert sender.send("handle_failed_chunk", import_id=import_id) == DONE
    assert sender.world.query("SELECT chunks_left FROM imports") == [(0,)]
    assert [message["import_id"] for message in completion_messages()] == [import_id]
    assert sender.world.query("SELECT code, row_count FROM import_rejections") == [("CHUNK_FAILED", 3)]


def handle_failed_import(sender: Sender) -> None:
    """The file that was sent back once before is recorded as one that could not be read."""
    assert sender.send("handle_failed_import", **sender.upload("handle_failed_import", THREE)) == DONE
    assert sender.world.query("SELECT file_name, failure_code FROM imports") == [("production_001.dat", "NOT_READ")]


def publish_outbox(sender: Sender) -> None:
    """What was committed is published: the topic's subscriber has it."""
    queue = sender.stack.queue_url("ImportReportsQueue")
    taken_from(queue)
    import_id = sender.world.run(THREE)
    assert sender.send("publish_outbox")["batchItemFailures"] == []
    assert sender.world.query("SELECT COUNT(*) FROM outbox_events WHERE published = 0") == [(0,)]
    messages = [message for message in taken_from(queue) if message["eventType"] == "import.completed"]
    assert [message["importId"] for message in messages] == [import_id]


def write_import_report(sender: Sender) -> None:
    """The report's files are in the bucket, and say what was rejected."""
    import_id = sender.world.run(b"Control Number,Title\r\nA-1,one\r\n,two\r\n")
    assert sender.send("write_import_report", importId=import_id) == DONE
    listed = clients.s3().list_objects_v2(Bucket=sender.world.bucket, Prefix=f"reports/{import_id}/1/")
    keys = [each["Key"] for each in listed["Contents"]]
    [report] = [key for key in keys if key.endswith("/report.csv")]
    text = clients.s3().get_object(Bucket=sender.world.bucket, Key=report)["Body"].read().decode("utf-8-sig")
    assert "MISSING_ID" in text
    _export_a_case(sender)


def _export_a_case(sender: Sender) -> None:
    """The file of an export is in the bucket; its worker may also look for it, write it in parts and give it up."""
    reply = Client("tenant").post("/exports", {"case": "Case", "kind": "documents", "format": "jsonl"})
    assert reply.status == 202, reply
    body = {"eventType": "export.requested", "exportId": reply.json["id"]}
    assert sender.stack.invoke(logical_id("write_import_report"), sqs_event(body)) == DONE
    [listed] = clients.s3().list_objects_v2(Bucket=sender.world.bucket, Prefix="exports/")["Contents"]
    stored = clients.s3().get_object(Bucket=sender.world.bucket, Key=listed["Key"])["Body"].read()
    assert b'"controlNumber":"A-1"' in stored


def purge_expired(sender: Sender) -> None:
    """An answer that is not requested any more is gone, and rows that no correction names; one of today stays."""
    orphan = build_correction_key("acme", datetime.now(UTC).date() - timedelta(days=3), "0" * 32)
    clients.s3().put_object(Bucket=sender.world.bucket, Key=orphan, Body=b"{}")
    for name, age in (("old", 1_000), ("young", 1)):
        sender.world.query(
            "INSERT INTO idempotency_keys (tenant_id, route, idempotency_key, fingerprint, status, owner, attempt, "
            "lease_until, created_at) VALUES ('acme', 'POST /x', :name, '', 'completed', '', 1, NOW(6), "
            "NOW(6) - INTERVAL :age HOUR)",
            name=name,
            age=age,
        )
    assert sender.send("purge_expired")["idempotency_keys"] == 1
    assert sender.world.query("SELECT idempotency_key FROM idempotency_keys") == [(b"young",)]
    assert "Contents" not in clients.s3().list_objects_v2(Bucket=sender.world.bucket, Prefix=orphan)


def imports_api(sender: Sender) -> None:
    """The import is announced, and the client knows where to upload."""
    answer = sender.send("imports_api")
    assert answer["statusCode"] == 201, answer
    assert json.loads(answer["body"])["upload"]["url"].startswith(sender.world.environment["AWS_ENDPOINT_URL"])
    found = "SELECT c.name, i.file_name, i.size FROM imports i JOIN cases c ON c.id = i.case_id"
    assert sender.world.query(found) == [("Smith v. Müller", "production_001.dat", 1_048_576)]


def import_results_api(sender: Sender) -> None:
    """What was found in the file is counted by code, and the reports have URLs."""
    import_id = sender.world.run(b"Control Number,Title\r\nA-1,one\r\n,two\r\n", case="Smith v. Müller")
    sender.world.report(import_id)
    sender.world.query("UPDATE imports SET tenant_id = 'acme' WHERE id = :i", i=import_id)
    sender.world.query("UPDATE cases SET tenant_id = 'acme'")
    answer = sender.send("import_results_api", rawPath=f"/imports/{import_id}/codes")
    assert answer["statusCode"] == 200, answer
    assert [each["code"] for each in json.loads(answer["body"])["rejections"]] == ["MISSING_ID"]
    answer = sender.send("import_results_api", rawPath=f"/imports/{import_id}/reports")
    assert "X-Amz-Signature" in json.loads(answer["body"])["report"]["url"]


def import_checks_api(sender: Sender) -> None:
    """The file that was checked is imported: its chunks will be queued, and nothing is in the case before."""
    import_id = sender.world.run(THREE, case="Smith v. Müller", dry_run=True)
    sender.world.query("UPDATE imports SET tenant_id = 'acme' WHERE id = :i", i=import_id)
    sender.world.query("UPDATE cases SET tenant_id = 'acme'")
    answer = sender.send("import_checks_api", rawPath=f"/imports/{import_id}/run")
    assert answer["statusCode"] == 200, answer
    assert sender.world.query("SELECT status, phase, chunks_left FROM imports") == [("running", "import", 1)]
    assert [message["import_id"] for message in request_messages() if "import_id" in message] == [import_id]
    _correct(sender)


def _correct(sender: Sender) -> None:
    """One rejected row is corrected, and read from the request's object; one is rejected again, and shown."""
    original = sender.world.run(b"Control Number,Title\r\nA-1,one\r\n,two\r\n,three\r\n", case="Doe v. Acme")
    sender.world.query("UPDATE imports SET tenant_id = 'acme'")
    sender.world.query("UPDATE cases SET tenant_id = 'acme'")
    rows = [{"line": 3, "cells": ["A-2", "two"]}, {"line": 4, "cells": ["", "three"]}]
    made = _request(sender, "POST", f"/imports/{original}/corrections", json.dumps({"rows": rows}))
    correcting = int(made["id"])
    for handler in ("import_chunk", "complete_import"):
        assert sender.send(handler, import_id=correcting) == DONE
    assert sender.send("write_import_report", importId=correcting) == DONE
    assert _request(sender, "GET", f"/imports/{original}")["openRejections"] == 1
    [shown] = _request(sender, "GET", f"/imports/{correcting}/rejected-rows")["items"]
    assert (shown["originalLine"], shown["cells"]) == (4, ["", "three"])


def _request(sender: Sender, method: str, path: str, body: str | None = None) -> Any:
    handler = "imports_api" if path.rsplit("/", 1)[0] == "/imports" else "import_checks_api"
    event = sender.event("import_checks_api", rawPath=path, body=body)
    event["requestContext"]["http"] |= {"method": method, "path": path}
    event["headers"] |= {"idempotency-key": path}
    answer = sender.stack.invoke(logical_id(handler), event)
    assert answer["statusCode"] < 300, answer
    return json.loads(answer["body"])
