"""What the tests of the imports' operations do again and again: announce, upload, change in a transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerProcess
from typing import Any, TypeVar
from urllib.parse import quote_plus

from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

import start_import
import write_import_report
from core.caller import Caller
from core.contracts.imports.announcements import NewImport, PendingUpload
from core.contracts.imports.checks import RunRequest
from core.contracts.imports.details import ImportDetails
from core.contracts.imports.states import ImportState
from shell.aws import clients
from shell.db.session import session
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.chunk_source import load_chunk
from shell.imports.chunks.row_reader import read_rows
from shell.imports.commands import cancel_import, retry_import
from shell.imports.queries import get_import
from shell.imports.steps import run_import
from shell.imports.uploads import create_import
from tests.support.application.driver import Message, World, call, complete_imports, request_messages
from tests.support.application.handler_processes import Workers, start_alone
from tests.support.database.server_status import count_waiting, wait_until

T = TypeVar("T")
CALLER = Caller(tenant_id="tenant", user_id="ann@example.com")
STRANGER = Caller(tenant_id="other", user_id="ann@example.com")
# The run of a check that found errors.
ACCEPT: dict[str, Any] = {"acceptRejections": True}
THREE = b"Control Number,Title,Custodian\r\nA-1,one,Smith\r\nA-2,two,Jones\r\nA-3,three,Brown\r\n"

# A name of four spellings that the database holds equal, a row without an id, and an id that comes twice.
SIX = (
    b"Control Number,Title,Custodian\r\nA-1,one,SMITH\r\nA-2,two,Smith\r\n,three,smith\r\nA-4,four,smith\r\n"
    b"A-5,five,sMith\r\nA-4,six,Brown\r\n"
)


def committed(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """The result of an operation, in a transaction of its own."""
    with session() as transaction:
        return work(transaction, *arguments, **named)


def announce(caller: Caller = CALLER, **body: Any) -> PendingUpload:
    """Announce a load file."""
    fields = {"case": "Case", "fileName": "production.dat", **body}
    return committed(create_import, caller, NewImport.model_validate(fields))


def put(pending: PendingUpload, data: bytes) -> Message:
    """Put a file where it is awaited; returns the notification that S3 would send."""
    stored = clients.s3().put_object(Bucket=pending.bucket, Key=pending.object_key, Body=data)
    return notification(pending, stored["VersionId"], stored["ETag"], len(data))


def notification(pending: PendingUpload, version_id: str, etag: str, size: int) -> Message:
    """What S3 says of a file that was put where one is awaited."""
    key = quote_plus(pending.object_key, safe="/")
    uploaded = {"key": key, "versionId": version_id, "eTag": etag, "size": size, "sequencer": "1"}
    record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": pending.bucket}, "object": uploaded}}
    return {"Records": [record]}


def start(message: Message) -> bool:
    """Deliver a message to the function that starts imports; True if it was acknowledged."""
    return call(start_import.lambda_handler, message)


def run_chunks(world: World) -> None:
    """Deliver the messages of all chunks, and the completion that follows."""
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    complete_imports()


def finish(world: World) -> None:
    """Deliver what is in the queues of requests and of chunks, as the queues would."""
    for message in request_messages():
        assert start(message)
    run_chunks(world)


def deliver_all(workers: Workers, messages: Sequence[Message]) -> None:
    """Hand out chunks to several processes until all are acknowledged, as the queue would; then complete imports."""
    pending = list(messages)
    while pending:
        done = workers.deliver("import_chunk", pending)
        pending = [message for message, succeeded in zip(pending, done, strict=True) if not succeeded]
    complete_imports()


def waiting(world: World) -> int:
    """Return how many transactions of this schema wait for a row lock; the server says so."""
    with create_engine(world.engine.url, poolclass=NullPool).connect() as watching:
        return count_waiting(watching)


def until_waiting(world: World, transactions: int = 1) -> None:
    """Return once so many transactions of this schema wait for a row lock."""
    wait_until(lambda: waiting(world) >= transactions, f"the wait of {transactions} for a row lock")


def start_blocked(world: World, handler: str, *messages: Message) -> ForkServerProcess:
    """Start a process that handles a batch of messages, and return it once it waits for a row lock."""
    worker = start_alone(world.environment, handler, *messages)
    until_waiting(world)
    return worker


def cancel(import_id: int, caller: Caller = CALLER) -> ImportState:
    """Cancel an import."""
    return committed(cancel_import, caller, import_id)


def retry(import_id: int, caller: Caller = CALLER) -> ImportState:
    """Retry an import."""
    return committed(retry_import, caller, import_id)


def state(import_id: int) -> ImportState:
    """How far an import is."""
    return get_import(CALLER, import_id)


def checked(world: World, data: bytes, **body: Any) -> int:
    """Upload a file to be checked, and have it checked."""
    pending = announce(dryRun=True, **body)
    assert start(put(pending, data))
    run_chunks(world)
    return pending.id


def details(import_id: int, caller: Caller = CALLER) -> ImportDetails:
    """The import with its check."""
    return get_import(caller, import_id)


def run(import_id: int, *, caller: Caller = CALLER, **body: Any) -> ImportState:
    """Have a checked file imported."""
    return committed(run_import, caller, import_id, RunRequest.model_validate(body))


def events(world: World, event_type: str) -> list[dict[str, Any]]:
    """The payloads of the events of a type, in order."""
    rows = world.query("SELECT payload FROM outbox_events WHERE event_type = :type ORDER BY id", type=event_type)
    return [json.loads(row[0]) for row in rows]


def half_failed(world: World, chunk_no: int, case: str = "Case") -> int:
    """An import of one row a chunk, all of which came in but one that was given up."""
    pending = announce(case=case)
    assert start(put(pending, SIX))
    for message in world.chunk_messages():
        if message["chunk_no"] == chunk_no:
            world.give_up(message)
        else:
            assert world.import_chunk(message)
    return pending.id


def whole(world: World) -> int:
    """The same import where nothing failed."""
    pending = announce(case="Whole")
    assert start(put(pending, SIX))
    run_chunks(world)
    return pending.id


def reports(world: World, import_id: int, generation: int) -> set[str]:
    """Deliver the message of a completion; the names of the report files of that generation."""
    assert call(write_import_report.lambda_handler, {"importId": import_id, "generation": generation})
    prefix = f"reports/{import_id}/{generation}/"
    listed = clients.s3().list_objects_v2(Bucket=world.bucket, Prefix=prefix).get("Contents", [])
    return {each["Key"].removeprefix(prefix) for each in listed}


def completed(world: World, import_id: int) -> list[int]:
    """The generations of the import's events of its completion."""
    return [each["generation"] for each in events(world, "import.completed") if each["importId"] == import_id]


def deliver_during(world: World, workers: Workers, write: Callable[[Session], object], messages: list[Message]) -> None:
    """Deliver messages of chunks to another process, which waits for what `write` locks in a transaction."""
    with ThreadPoolExecutor(1) as thread:
        with session() as writing:
            write(writing)
            delivered = thread.submit(workers.deliver, "import_chunk", messages)
            until_waiting(world)
        assert delivered.result() == [True]


def prepare_chunk(import_id: int, chunk_no: int) -> ChunkInput | str:
    """Read a chunk of rows as its handler does before another thread writes it."""
    loaded = load_chunk(import_id, chunk_no)
    return loaded if isinstance(loaded, str) else read_rows(loaded)
