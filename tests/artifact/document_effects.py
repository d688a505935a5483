"""What each function around documents must have done once its event was sent to it: the effect in MySQL and S3."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from typing import Any

import requests

from shell.aws import clients
from tests.artifact.event_sender import Sender, event_of, logical_id
from tests.artifact.import_effects import DONE
from tests.support.application.driver import sqs_event
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, objects_of, put_documents, status_of
from tests.support.purges import runs as purges
from tests.support.purges.filled_cases import fill_case
from tests.support.volumes.stored_files import page_set, volume, volume_file

PRODUCE = "ProduceFunction"
REQUESTS = "SELECT COUNT(*) FROM outbox_events WHERE event_type = 'production.requested'"


def exhibits_api(sender: Sender) -> None:
    """Both exhibits have both tags."""
    case = get_or_create_case(sender.world, "Smith v. Jones", "acme")
    for number, control_number in enumerate(("A", "B"), 1):
        put_exhibits(sender.world, case, [control_number], id=number)
    assert sender.send("exhibits_api")["statusCode"] == 200
    found = sender.world.query("SELECT exhibit_id, name FROM taggings JOIN tags ON tags.id = tag_id ORDER BY 1, 2")
    assert found == [(number, tag) for number in (1, 2) for tag in (r"Hot\Really Hot", "Privileged")]
    _tag_by_a_job(sender)


def _tag_by_a_job(sender: Sender) -> None:
    """A job that the function requests tags what matches, in the function of chunks."""
    sender.world.run(b"Control Number\r\nA-1\r\nA-2\r\n", case="Acme")
    sender.world.query("UPDATE cases SET tenant_id = 'acme' WHERE name = 'Acme'")
    body = json.dumps({"case": "Acme", "query": {}, "add": ["All"]})
    event = sender.event("exhibits_api", rawPath="/tagging-jobs", body=body)
    event["requestContext"]["http"] |= {"method": "POST", "path": event["rawPath"]}
    event["headers"]["idempotency-key"] = "a-tagging-job"
    answer = sender.stack.invoke(logical_id("exhibits_api"), event)
    assert answer["statusCode"] == 202, answer
    (message,) = sender.world.chunk_messages()
    assert sender.stack.invoke(logical_id("import_chunk"), sqs_event(message)) == DONE
    assert sender.world.query("SELECT status, tagged FROM tagging_jobs") == [("completed", 2)]


def console(sender: Sender) -> None:
    """The page is there, compressed, and its policy confines it."""
    answer = sender.send("console")
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
    assert b'<div id="root">' in gzip.decompress(base64.b64decode(answer["body"]))
    assert "script-src 'self'" in answer["headers"]["content-security-policy"]


def custodians_api(sender: Sender) -> None:
    """The custodian is one of the case; a text is read; files are got by the URLs that are signed for them."""
    case = get_or_create_case(sender.world, "Smith v. Jones", "acme")
    assert sender.send("custodians_api")["statusCode"] in (200, 201)
    assert sender.world.query("SELECT case_id, name FROM custodians") == [(case, "Evidence room 2")]
    sender.world.run(b"Control Number,OCR1\r\nA-1,a text\r\n", case="Acme")
    sender.world.query("UPDATE cases SET tenant_id = 'acme' WHERE name = 'Acme'")
    [(exhibit_id,)] = sender.world.query("SELECT id FROM exhibits")
    assert "a text" in _get_of_exhibit(sender, exhibit_id, "text")["text"]
    _put_files_of(sender, exhibit_id)
    urls = [each["url"] for each in _get_of_exhibit(sender, exhibit_id, "files")["items"] if each["url"]]
    assert [requests.get(each, timeout=20).content for each in urls] == [b"loose", b"of a volume"]


def _get_of_exhibit(sender: Sender, exhibit_id: int, what: str) -> Any:
    event = sender.event("custodians_api", rawPath=f"/exhibits/{exhibit_id}/{what}", body=None)
    event["requestContext"]["http"] |= {"method": "GET", "path": event["rawPath"]}
    answer = sender.stack.invoke(logical_id("custodians_api"), event)
    assert answer["statusCode"] == 200, answer
    return json.loads(answer["body"])


def _put_files_of(sender: Sender, exhibit_id: int) -> None:
    """A native without a volume, and a page of one."""
    clients.s3().put_object(Bucket=sender.world.bucket, Key="files/acme/Acme/1.msg", Body=b"loose")
    sender.world.query("UPDATE exhibits SET native_path = '1.msg' WHERE id = :e", e=exhibit_id)
    made = volume(sender.world, "Acme files")
    page_set(sender.world, exhibit_id, [(volume_file(sender.world, made, "I/1.tif", b"of a volume"), 0)], made)
    sender.world.query(
        "UPDATE volumes SET tenant_id = 'acme', case_id = (SELECT case_id FROM exhibits WHERE id = :e)", e=exhibit_id
    )


def cases_api(sender: Sender) -> None:
    """The case is the tenant's."""
    assert sender.send("cases_api")["statusCode"] == 201
    assert sender.world.query("SELECT tenant_id, name FROM cases") == [("acme", "Smith v. Jones")]


def profiles_api(sender: Sender) -> None:
    """The profile is the tenant's."""
    assert sender.send("profiles_api")["statusCode"] == 201
    found = sender.world.query("SELECT tenant_id, name, version FROM import_profiles")
    assert found == [("acme", "Smith productions", 1)]
    # The second file comes without options. What is not split yet has none recorded.
    given: tuple[dict[str, Any], ...] = ({"delimiter": "comma"}, {})
    for options in given:
        import_id = sender.world.run(b"Control Number,Title\r\nA-1,one\r\n", case=f"Acme {len(options)}", **options)
        sender.world.query("UPDATE cases SET tenant_id = 'acme' WHERE name LIKE 'Acme%'")
        sender.world.query("UPDATE imports SET tenant_id = 'acme', options = NULL WHERE id = :i", i=import_id)
        previewed = sender.stack.invoke(logical_id("profiles_api"), _ask_for_preview(sender, import_id))
        assert previewed["statusCode"] == 200, previewed
        assert "A-1" in previewed["body"]


def _ask_for_preview(sender: Sender, import_id: int) -> dict[str, Any]:
    event = sender.event("profiles_api", rawPath=f"/imports/{import_id}/preview", body=None)
    event["requestContext"]["http"] |= {"method": "GET", "path": event["rawPath"]}
    return event


def custody_api(sender: Sender) -> None:
    """Both devices were held for an evening and a night."""
    assert sender.send("custody_api")["statusCode"] == 201
    lasted = "SELECT number, TIMESTAMPDIFF(MINUTE, begin_at, end_at) FROM custody_periods JOIN devices"
    found = sender.world.query(f"{lasted} ON devices.id = device_id")
    assert sorted(map(tuple, found)) == [(100, 210), (101, 480)]


def activities_api(sender: Sender) -> None:
    """The device has its label, and the list says who gave it."""
    assert sender.send("activities_api")["statusCode"] == 200
    assert sender.world.query("SELECT number, label FROM devices") == [(100, "Ada's laptop")]
    event = sender.event("activities_api", rawPath="/activities", body=None)
    event["requestContext"]["http"] |= {"method": "GET", "path": event["rawPath"]}
    answer = sender.stack.invoke(logical_id("activities_api"), event)
    assert answer["statusCode"] == 200, answer
    assert "device.labelled" in answer["body"]


def production_files_api(sender: Sender) -> None:
    """The files of the volume are listed from its manifest, which is in the bucket."""
    put_documents(sender.world, ["A"])
    production = ask()
    sender.world.query(
        "UPDATE productions SET tenant_id = 'acme', status = 'confirmed', manifest_sha256 = REPEAT('m', 32)"
    )
    lines = "Path,Size,SHA-256", f"NATIVES/0001/ACME0000001.docx,1,{'0' * 64}", f"DATA/VOL001.dat,1,{'0' * 64}", ""
    key = f"productions/{production}/VOL001/MANIFEST.csv"
    clients.s3().put_object(Bucket=sender.world.bucket, Key=key, Body="\r\n".join(lines).encode())
    event = sender.event("production_files_api", rawPath=f"/productions/{production}/files")
    event["requestContext"]["http"]["path"] = event["rawPath"]
    answer = sender.stack.invoke(logical_id("production_files_api"), event)
    assert answer["statusCode"] == 200, answer
    assert [each["path"] for each in json.loads(answer["body"])["items"]] == [
        *("MANIFEST.csv", "MANIFEST.sha256", "DATA/VOL001.dat", "NATIVES/0001/ACME0000001.docx"),
    ]


def productions_api(sender: Sender) -> None:
    """The production is requested, in the table and on its way to the topic."""
    [exhibit] = put_exhibits(sender.world, get_or_create_case(sender.world, "Doe v. Acme", "acme"), ["A"])
    sender.world.query("INSERT INTO tags (case_id, name) SELECT id, 'Responsive' FROM cases")
    sender.world.query("INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT :e, id, 'u' FROM tags", e=exhibit)
    answer = sender.send("productions_api")
    assert answer["statusCode"] == 202, answer
    assert sender.world.query("SELECT volume, prefix, digits FROM productions") == [("VOL001", "ACME", 7)]
    assert sender.world.query(REQUESTS) == [(1,)]


def start_production(sender: Sender) -> None:
    """An execution has begun that is known by its name, and makes the production."""
    put_documents(sender.world, ["A"])
    production = ask()
    assert sender.send("start_production", productionId=production) == {"batchItemFailures": []}
    [(arn,)] = sender.world.query("SELECT execution_arn FROM productions WHERE id = :p", p=production)
    execution = arn.split("/")[-2]
    assert execution in sender.stack.get_execution_statuses(PRODUCE)
    sender.until(
        lambda: sender.stack.get_execution_statuses(PRODUCE)[execution] != "RUNNING", "the execution has ended"
    )
    assert status_of(sender.world, production) == "confirmed"


def resume_productions(sender: Sender) -> None:
    """A production of which nothing was heard is requested once more."""
    put_documents(sender.world, ["A"])
    ask()
    sender.world.query("UPDATE productions SET updated_at = NOW(6) - INTERVAL 1 DAY")
    assert sender.send("resume_productions")["resumed"] == 1
    assert sender.world.query(REQUESTS) == [(2,)]


def purge_cases(sender: Sender) -> None:
    """Of the case, rows and versions are gone, and counted; a production past its pivot was waited for."""
    case = fill_case(sender.world, 1, rows=1)
    sender.world.query("UPDATE productions SET is_open = 1")
    purges.request(sender.world, 1)
    sender.send("purge_expired")
    assert sender.send("purge_cases") == DONE
    sender.world.query("UPDATE productions SET is_open = 0")
    while not purges.has_ended(sender.world, 1):
        purges.end_pauses(sender.world)
        assert sender.send("purge_cases") == DONE
    certificate = purges.stored(sender.world, 1)
    # The key of the case had expired: `purge_expired` deleted it.
    assert Counter({each.table: each.rows for each in certificate.rows}) == case.rows - Counter(["idempotency_keys"])
    assert sum(each.versions for each in certificate.objects) == len(case.keys)


def produce(sender: Sender) -> None:
    """The durable execution makes the volume and confirms the production."""
    put_documents(sender.world, ["A", "B"])
    sender.world.run(b"Control Number,OCR1\r\nC,text of C\r\n")
    production = ask()
    payload = {**event_of("produce"), "productionId": production}
    answer = sender.stack.lambda_client.invoke(
        FunctionName=PRODUCE,
        Qualifier=str(sender.stack.template.functions[PRODUCE].alias),
        Payload=json.dumps(payload).encode(),
    )
    assert "FunctionError" not in answer, answer["Payload"].read()
    assert status_of(sender.world, production) == "confirmed"
    made = objects_of(sender.world, production)
    assert {b"native of A", b"native of B", b"text of A", b"text of B", b"text of C"} <= set(made.values())
    assert "VOL001/DATA/VOL001.dat" in made


def wait_for_executions(sender: Sender) -> None:
    """Not only for the productions: what an execution does last would otherwise fall into the next world."""

    def ended() -> bool:
        return "RUNNING" not in sender.stack.get_execution_statuses(PRODUCE).values()

    sender.until(ended, "every execution has ended")


def exports_api(sender: Sender) -> None:
    """The export is requested, in the table and on its way to the topic; the file of a completed one is downloaded."""
    case = get_or_create_case(sender.world, "Smith v. Jones", "acme")
    assert sender.send("exports_api")["statusCode"] == 202
    [(export_id,)] = sender.world.query("SELECT id FROM exports WHERE status = 'requested'")
    events = "SELECT aggregate_id FROM outbox_events WHERE event_type = 'export.requested'"
    assert sender.world.query(events) == [(str(export_id),)]
    sender.world.query("UPDATE exports SET status = 'completed', started_at = NOW(6), size = 4")
    key = f"exports/acme/{case}/{export_id}/documents.csv"
    clients.s3().put_object(Bucket=sender.world.bucket, Key=key, Body=b"file")
    event = sender.event("exports_api", rawPath=f"/exports/{export_id}/file", body=None)
    event["requestContext"]["http"] |= {"method": "GET", "path": event["rawPath"]}
    answer = sender.stack.invoke(logical_id("exports_api"), event)
    assert answer["statusCode"] == 200, answer
    assert requests.get(json.loads(answer["body"])["url"], timeout=20).content == b"file"
