"""All that functions ask AWS for: each function's event, then what its event alone does not make it do.

Done by the built functions, but for what takes hundreds of megabytes or a store that fails half-way: that is done in
this process, by the same code and in the function's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType

import pytest
import requests
from boto3.s3.transfer import TransferConfig

import start_import
from core.contracts.imports.announcements import SINGLE_PUT_BYTES
from core.errors import StorageUnavailableError
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from shell.aws import clients, s3, s3_copies
from shell.imports.state.records import load_current_import
from shell.imports.upload_matching import split_lock
from shell.outbox import leases
from shell.work.reading import dispatch
from tests.artifact import (
    case_requests,
    document_effects,
    import_effects,
    production_requests,
    volume_effects,
    volume_requests,
)
from tests.artifact.event_sender import HTTP_S, Api, Sender
from tests.artifact.export_requests import give_an_export_up
from tests.artifact.import_effects import DONE, THREE
from tests.artifact.observed_stack import Watched
from tests.artifact.queue_requests import leave_messages_behind, redeliver_what_fails
from tests.integration.volumes.volume_requests import work_messages
from tests.support.application.driver import World, completion_messages, request_messages, sqs_event, taken_from
from tests.support.database.empty_tables import empty_tables
from tests.support.productions.runs import put_file

PART = 5 * 1024 * 1024
Effect = Callable[[Sender], None]
MODULES = (import_effects, document_effects, volume_effects)
HANDLERS = {name: each.handler.partition(".")[0] for name, each in Template.load(DEFAULT_TEMPLATE).functions.items()}
REJECTED = b"Control Number,Title\r\nA-1,one\r\n,two\r\n"


def _put(method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> requests.Response:
    reply = requests.request(method, url, data=body, headers=headers, timeout=HTTP_S)
    assert reply.ok, reply.text
    return reply


def _key_of(world: World, import_id: int) -> str:
    return str(world.query("SELECT object_key FROM imports WHERE id = :i", i=import_id)[0][0])


def an_upload_by_one_put_is_imported_and_its_report_read(sender: Sender) -> None:
    """From the announcement to the report's addresses, all by what the API hands out."""
    api, world = Api(sender.stack), sender.world
    made = api.call("POST", "/imports", {"case": "Case", "fileName": "a.csv"})
    _put("PUT", made["upload"]["url"], REJECTED, made["upload"]["headers"])
    notified = world.notification_of(_key_of(world, made["id"]))
    assert sender.stack.invoke("StartImportFunction", sqs_event(notified)) == DONE
    for chunk in world.chunk_messages():
        assert sender.stack.invoke("ImportChunkFunction", sqs_event(chunk)) == DONE
    for completion in completion_messages():
        assert sender.stack.invoke("CompleteImportFunction", sqs_event(completion)) == DONE
    assert sender.send("write_import_report", importId=made["id"]) == DONE
    reports = api.call("GET", f"/imports/{made['id']}/reports")
    assert b"MISSING_ID" in _put("GET", reports["report"]["url"]).content


def an_upload_in_parts_is_completed(sender: Sender) -> None:
    """By the addresses of its parts; S3 lets the last part, here the only one that is sent, be small."""
    size = SINGLE_PUT_BYTES + len(THREE)
    made = Api(sender.stack).call("POST", "/imports", {"case": "Case", "fileName": "b.csv", "size": size})
    upload = made["upload"]
    last = upload["parts"][-1]
    etag = _put("PUT", last["url"], THREE).headers["ETag"]
    part = f"<Part><PartNumber>{last['number']}</PartNumber><ETag>{etag}</ETag></Part>"
    body = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>"
    _put("POST", upload["completeUrl"], body.encode(), upload["headers"])
    assert sender.world.notification_of(_key_of(sender.world, made["id"]))


def an_import_is_cancelled_and_retried(sender: Sender) -> None:
    """The publisher is waked, and a request sent."""
    api, import_id = Api(sender.stack), sender.world.start(THREE)
    request_messages()
    api.call("POST", f"/imports/{import_id}/cancel")
    api.call("POST", f"/imports/{import_id}/retry")
    assert [each["import_id"] for each in request_messages()] == [import_id]


def options_beside_the_file_are_read(sender: Sender) -> None:
    """Those of an upload that was not announced."""
    message = sender.world.upload(THREE, user_id="grace")
    assert sender.stack.invoke("StartImportFunction", sqs_event(message)) == DONE


def a_request_of_a_file_that_is_being_split_is_postponed(sender: Sender) -> None:
    """The message is hidden; its handle is one that the queue never gave out."""
    message = sender.world.upload(THREE)
    assert sender.stack.invoke("StartImportFunction", sqs_event(message)) == DONE
    [(import_id,)] = sender.world.query("SELECT id FROM imports")
    sender.world.query("UPDATE imports SET status = 'splitting'")
    import_record = load_current_import(import_id)
    assert import_record is not None
    with split_lock(import_record, 60):
        assert sender.stack.invoke("StartImportFunction", sqs_event(message)) != DONE


def a_file_without_rows_is_completed(sender: Sender) -> None:
    """Without chunks, whose last one would request it."""
    message = sender.world.upload(b"Control Number,Title\r\n")
    assert sender.stack.invoke("StartImportFunction", sqs_event(message)) == DONE
    assert len(completion_messages()) == 1


def what_failed_goes_back_once(sender: Sender) -> None:
    """A chunk, a request, the chunks of a file that was registered all the same, and a completion."""
    import_id = sender.world.start(THREE)
    [chunk] = sender.world.chunk_messages()
    assert sender.stack.invoke("HandleFailedChunkFunction", sqs_event({**chunk, "redrive": 0})) == DONE
    again = {"import_id": import_id, "generation": 1}
    for redrive in (0, 1):
        message = sqs_event({**again, "redrive": redrive})
        assert sender.stack.invoke("HandleFailedImportFunction", message) == DONE
    assert sender.world.chunk_messages()
    completion = {**again, "task": "complete", "redrive": 0}
    assert sender.stack.invoke("HandleFailedImportFunction", sqs_event(completion)) == DONE


def a_report_is_written_of_a_file_that_is_gone(sender: Sender) -> None:
    """All of it but the rejected rows."""
    import_id = sender.world.run(REJECTED)
    found = "SELECT object_key, version_id FROM imports WHERE id = :i"
    [(key, version)] = sender.world.query(found, i=import_id)
    clients.s3().delete_object(Bucket=sender.world.bucket, Key=key, VersionId=version)
    assert sender.send("write_import_report", importId=import_id) == DONE
    assert sender.world.query("SELECT reports_generation FROM imports") == [(1,)]


def an_import_is_undone_and_the_report_of_it_read(sender: Sender) -> None:
    """From the request to the list of what was kept, by the address that the API returns."""
    api, world = Api(sender.stack), sender.world
    import_id = world.run(THREE)
    request_messages()
    api.call("POST", f"/imports/{import_id}/undo", {"dryRun": False})
    for request in request_messages():
        assert sender.stack.invoke("StartImportFunction", sqs_event(request)) == DONE
    for part in world.chunk_messages():
        assert sender.stack.invoke("ImportChunkFunction", sqs_event(part)) == DONE
    for completion in completion_messages():
        assert sender.stack.invoke("CompleteImportFunction", sqs_event(completion)) == DONE
    ended = {"eventType": "import.undone", "importId": import_id, "undoNo": 1}
    assert sender.stack.invoke("WriteImportReportFunction", sqs_event(ended)) == DONE
    undone = api.call("GET", f"/imports/{import_id}/undo")
    assert (undone["status"], undone["removed"]) == ("undone", 3)
    assert _put("GET", undone["report"]).content.startswith(b"\xef\xbb\xbfline,")


def an_event_is_published_again(sender: Sender) -> None:
    """One that was given up: the publisher is waked."""
    sender.world.start(THREE)
    giving_up = "UPDATE outbox_events SET published = :state, tenant_id = 'tenant' ORDER BY id LIMIT 1"
    sender.world.query(giving_up, state=leases.DEAD_LETTERED)
    assert Api(sender.stack).call("POST", "/operations/events/retry") == {
        "retried": 1,
        "left": 0,
        "leftIsLowerBound": False,
    }


BY_BUILT_FUNCTIONS: tuple[Effect, ...] = (
    an_upload_by_one_put_is_imported_and_its_report_read,
    an_upload_in_parts_is_completed,
    an_import_is_cancelled_and_retried,
    options_beside_the_file_are_read,
    a_request_of_a_file_that_is_being_split_is_postponed,
    a_file_without_rows_is_completed,
    what_failed_goes_back_once,
    a_report_is_written_of_a_file_that_is_gone,
    an_import_is_undone_and_the_report_of_it_read,
    production_requests.a_production_with_an_archived_file_is_undone,
    production_requests.a_production_is_looked_up_that_nothing_was_heard_of,
    production_requests.a_production_is_cancelled,
    an_event_is_published_again,
    case_requests.what_arrives_for_a_purged_case_is_deleted,
    volume_requests.a_volume_is_imported_undone_and_deleted,
    volume_requests.a_volume_is_checked_and_then_imported,
    volume_requests.a_zip_that_is_not_there_is_missed,
    volume_requests.a_production_is_checked_whose_files_are_missing,
    volume_requests.a_zip_is_expanded_beside_what_is_there,
    volume_requests.a_large_file_of_a_volume_is_sent_in_parts,
    volume_requests.uploads_are_resumed,
    volume_requests.work_that_failed_goes_back_once,
)


def write_what_is_large_and_what_fails(watched: Watched, function: str, key: str) -> None:
    """An object in parts, and one whose upload ends half-way."""
    bucket, pieces = watched.sender.world.bucket, [bytes(PART)] * 3
    with watched.acting_as(function):
        s3.write_stream(bucket, key, pieces, "text/plain")
        with pytest.raises(StorageUnavailableError):
            s3.write_stream(bucket, key, _breaking(pieces), "text/plain")


def _breaking(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield from pieces
    raise StorageUnavailableError


def copy_what_is_large(watched: Watched) -> None:
    """In parts, which begin at 5 MiB here, and again, when it is there already."""
    world = watched.sender.world
    put_file(world, "NATIVE/LARGE.bin", "x" * (PART + 1))
    small = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=1)
    with watched.acting_as("ProduceFunction"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3_copies, "LARGEST_SINGLE_COPY", PART)
        patch.setattr(s3_copies, "_MULTIPART_COPY", small)
        for _ in range(2):
            copied = s3_copies.copy_object(world.bucket, "files/tenant/Case/NATIVE/LARGE.bin", "productions/1/L.bin")
            assert not isinstance(copied, str)


def split_what_is_large(watched: Watched) -> None:
    """With checkpoints, and no time left after each of them."""
    world = watched.sender.world
    messages = [world.upload(b"Control Number,Title\r\n" + b"A-1,one\r\n" * 40)]
    while messages:
        with watched.acting_as("StartImportFunction"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("shell.imports.splitting.split.SLICE_BYTES", 100)
            patch.setattr("shell.imports.splitting.checkpoints.build_deadline_check", lambda _: lambda: True)
            dispatch(start_import.OPERATIONS)(messages.pop())
        # Not the notifications of S3.
        messages += [message for message in request_messages() if "import_id" in message]
    assert world.query("SELECT status, split_checkpoint IS NULL FROM imports") == [("running", 0)]


def do_everything(watched: Watched, handlers: Iterable[str]) -> dict[str, Exception]:
    """Every handler's event, then everything else; returns the handlers whose effect was not as it has to be."""
    effects, broken = effects_in(MODULES), dict[str, Exception]()
    for handler in handlers:
        try:
            _work(watched.sender, effects[handler])
        except Exception as error:
            broken[handler] = error
    for work in BY_BUILT_FUNCTIONS:
        _work(watched.sender, work)
    write_what_is_large_and_what_fails(watched, "WriteImportReportFunction", "reports/1/1/large.csv")
    give_an_export_up(watched)
    write_what_is_large_and_what_fails(watched, "ProduceFunction", "productions/1/VOL001/DATA/large.dat")
    write_what_is_large_and_what_fails(watched, "StartImportFunction", "splits/1/large")
    volume_requests.write_large_entries(watched)
    copy_what_is_large(watched)
    redeliver_what_fails(watched)
    leave_messages_behind(watched)
    empty_tables(watched.sender.world.engine)
    split_what_is_large(watched)
    return broken


def _work(sender: Sender, work: Effect) -> None:
    """In a world without rows or messages."""
    failed_before = len(sender.stack.failures())
    empty_tables(sender.world.engine)
    sender.world.chunk_messages()
    completion_messages()
    taken_from(sender.stack.queue_url("ImportReportsQueue"))
    work_messages()
    work(sender)
    failures = sender.stack.failures(failed_before)
    assert not failures, failures


def effects_in(modules: Iterable[ModuleType]) -> dict[str, Effect]:
    """What the modules say that functions must have done, by the names of their handlers."""
    return {name: effect for module in modules for name, effect in vars(module).items() if name in HANDLERS.values()}
