"""Cases with files in the bucket, productions of them, and their executions in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aws_durable_execution_sdk_python_testing import DurableFunctionTestRunner
from aws_durable_execution_sdk_python_testing.stores.base import ExecutionStore

import produce
from core.caller import Caller
from core.contracts.productions import NewProduction
from core.productions.bates import BatesFormat, NumberRange
from shell.aws import clients
from shell.db.session import session
from shell.productions.bates_sequences import allocate_numbers, ensure_sequence
from shell.productions.commands import cancel_production, create_production, retry_production
from shell.utils.document_properties import serialize_properties
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits

CALLER = Caller(tenant_id="tenant", user_id="user")
FORM = BatesFormat("ACME", 7)
# What a volume of one part has beside the files that its load files name.
MANIFESTS = {"VOL001/MANIFEST.csv", "VOL001/MANIFEST.sha256", ".manifest/0001.csv"}
Handler = Callable[[Any, Any], Any]


def put_documents(
    world: World,
    numbers: Sequence[str],
    case: str = "Case",
    properties: Mapping[str, str] | None = None,
    **columns: Any,
) -> list[int]:
    """Exhibits with a native and a text each, which are in the bucket; returns their ids."""
    case_id = get_or_create_case(world, case, "tenant")
    ids = []
    for number in numbers:
        paths = {"native_path": rf".\NATIVE\{number}.DOCX", "text_path": f"TEXT/{number}.txt"}
        said = {"document_properties": serialize_properties(dict(properties))} if properties else {}
        ids += put_exhibits(world, case_id, [number], **{**paths, **said, **columns})
        put_file(world, f"NATIVE/{number}.DOCX", f"native of {number}", case)
        put_file(world, f"TEXT/{number}.txt", f"text of {number}", case)
    return ids


def put_file(world: World, path: str, content: str, case: str = "Case") -> None:
    """A file of the case, as a client uploads it for a production."""
    clients.s3().put_object(Bucket=world.bucket, Key=f"files/tenant/{case}/{path}", Body=content.encode())


def ask(case: str = "Case", **fields: Any) -> int:
    """Ask for a production, by default of the whole case; returns its id."""
    body: dict[str, Any] = {"case": case, "volume": "VOL001", "prefix": "ACME", "digits": 7, **fields}
    if "exhibitIds" not in body:
        body.setdefault("query", {})
    with session() as transaction:
        return create_production(transaction, CALLER, NewProduction.model_validate(body)).id


def take(case_id: int, count: int, start_at: int | None = None, form: BatesFormat = FORM) -> NumberRange:
    """Numbers that were given out."""
    done(ensure_sequence, case_id, form, count, start_at)
    return done(allocate_numbers, case_id, form, count, start_at).numbers


def cancel(production_id: int) -> None:
    """Ask for the production to be undone."""
    with session() as transaction:
        cancel_production(transaction, CALLER, production_id)


def retry(production_id: int) -> None:
    """Ask for the production to be gone on with."""
    with session() as transaction:
        retry_production(transaction, CALLER, production_id)


def execute(
    production_id: int,
    handler: Handler = produce.lambda_handler,
    seconds: int = 300,
    retry_seconds: int | None = None,
    store: ExecutionStore | None = None,
) -> dict[str, Any]:
    """Run an execution of the production to its end, without its waits; returns what it gives back.

    The engine keeps checkpoints in `store`, and repeats a failed invocation after `retry_seconds`, unless it is None.
    """
    with DurableFunctionTestRunner(handler=handler, store=store) as runner:
        if retry_seconds is not None:
            runner._executor.RETRY_BACKOFF_SECONDS = retry_seconds
        event = json.dumps({"productionId": production_id, "generation": 1, "tenantId": CALLER.tenant_id})
        result = runner.run(input=event, execution_timeout=seconds)
    # The package stops its event loop and leaves it open.
    runner._scheduler._loop.close()
    assert result.status.value == "SUCCEEDED", result.error
    return dict(json.loads(str(result.result)))


def cancelled(world: World, production_id: int) -> str:
    """Execute the production, which ends cancelled; returns the reason."""
    execute(production_id)
    [row] = world.query("SELECT status, reason FROM productions WHERE id = :p", p=production_id)
    assert row.status == "cancelled"
    return str(row.reason)


def objects_of(world: World, production_id: int) -> dict[str, bytes]:
    """The production's objects, by key without its prefix, unless a version of one is left that was deleted."""
    prefix, s3 = f"productions/{production_id}/", clients.s3()
    found = s3.list_object_versions(Bucket=world.bucket, Prefix=prefix)
    assert not found.get("IsTruncated")
    assert not found.get("DeleteMarkers")
    keys = {version["Key"] for version in found.get("Versions", [])}
    return {key.removeprefix(prefix): s3.get_object(Bucket=world.bucket, Key=key)["Body"].read() for key in keys}


def steps_of(world: World, production_id: int) -> dict[str, str]:
    """The steps' states, by name."""
    rows = world.query(
        "SELECT name, status FROM production_steps WHERE production_id = :p ORDER BY position", p=production_id
    )
    return {row.name: row.status for row in rows}


def status_of(world: World, production_id: int) -> str:
    """The production's status."""
    return str(world.query("SELECT status FROM productions WHERE id = :p", p=production_id)[0][0])


def documents_of(world: World, production_id: int) -> list[tuple[int, int, str]]:
    """First and last number, and status, of the production's documents, in the order of the volume."""
    rows = world.query(
        "SELECT first_number, last_number, status FROM production_documents WHERE production_id = :p ORDER BY position",
        p=production_id,
    )
    return [tuple(row) for row in rows]
