"""What becomes of a damaged file that is imported: every record is in exactly one place, and can be had back.

The handlers are the real ones, from S3's notification to the report files. What the records are is read again from the
chunks that were registered; what the database has of them is read in plain SQL.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import start_import
from core.codes import FileFailure, Rejection
from core.imports.uploads import build_options_key
from core.load_file.chunk_reader import read_chunk
from core.load_file.layout import Layout
from core.load_file.record_reader import SourceRecord
from samples.words import build_random
from shell.aws import clients
from shell.observability import metrics
from tests.support.application.driver import World, call, complete_imports
from tests.support.imports.error_file_reference import error_file_of
from tests.support.imports.row_outcomes import Accounts, accounts, summed_over_chunks
from tests.torture.mutations.cells import check_cells
from tests.torture.mutations.load_files import Mutated
from tests.torture.mutations.records import demand, form_of

# What says that the application failed, rather than the file.
_OURS = frozenset({Rejection.CHUNK_FAILED, Rejection.VALUE_REFUSED})
_ONE_IN = 4


@dataclass(frozen=True)
class Imported:
    """What an import came to: why the whole file failed, or its counts."""

    failed: str | None = None
    counts: Mapping[str, int] | None = None


def imported(world: World, mutated: Mutated) -> Imported:
    """Import the file, one in four after the file that it was; raises ViolationError where a promise is not kept."""
    import_id = run_import(world, mutated)
    return accounted(world, import_id, mutated.data)


def run_import(world: World, mutated: Mutated) -> int:
    """Import the file into a case of its own, which may hold what the file was; returns the import's id."""
    rng = build_random(mutated.number, "import")
    case = f"Case {mutated.number}"
    if rng.random() < 1 / _ONE_IN:
        deliver(world, mutated.base.data, mutated.base.options or {}, case, rng)
    return deliver(world, mutated.data, mutated.options, case, rng)


def deliver(world: World, data: bytes, options: Mapping[str, Any], case: str, rng: random.Random) -> int:
    """Start the import of a file into a case, and deliver its chunks in any order; returns its id."""
    notification = world.upload(data, case=case)
    _put_options(world, notification, options)
    demand(call(start_import.lambda_handler, notification), "the request of the import comes back")
    import_id = int(world.query("SELECT MAX(id) FROM imports")[0][0])
    deliver_chunks(world, rng)
    return import_id


def deliver_chunks(world: World, rng: random.Random) -> None:
    """Deliver the chunks that are queued, in any order, and the completion."""
    messages = world.chunk_messages()
    rng.shuffle(messages)
    for message in messages:
        demand(world.import_chunk(message), f"chunk {message['chunk_no']} comes back")
        # Where metrics are switched off they pile up, and the hundredth of a name prints them all.
        metrics.clear_metrics()
    # A file without rows has no chunk.
    complete_imports()


def accounted(world: World, import_id: int, data: bytes) -> Imported:
    """That every record of the file is where it has to be, exactly once."""
    got = accounts(world, import_id)
    demand(got.chunks_left == 0, "chunks are left")
    if got.status == "failed":
        return Imported(failed=_failed(world, import_id, got))
    demand(got.status.startswith("completed"), f"the import ended as {got.status}")
    layout, records = _records(world, import_id, data)
    _check_counts(world, import_id, got, len(records))
    unchanged = _check_partition(got, records)
    demand(unchanged == got.counts["unchanged"], f"{unchanged} records are nowhere")
    demand(not unchanged or _is_second(world, import_id), "records are unchanged where there was nothing before")
    _check_rejections(got, records)
    if not unchanged:
        # A row that was there before has its warnings here, and its exhibit with another import.
        check_cells(world, import_id, data, layout, records)
    _check_report(world, import_id, got, layout, data)
    return Imported(counts=got.counts)


def _is_second(world: World, import_id: int) -> bool:
    others = "SELECT COUNT(*) FROM imports o JOIN imports i ON i.case_id = o.case_id WHERE i.id = :id AND o.id < i.id"
    return bool(world.query(others, id=import_id)[0][0])


def _failed(world: World, import_id: int, got: Accounts) -> str:
    code, message = world.query("SELECT failure_code, failure_message FROM imports WHERE id = :id", id=import_id)[0]
    demand(code in set(FileFailure) - {FileFailure.NOT_READ} and bool(message), f"failed without a reason: {code}")
    demand(not got.exhibits and not got.rejected, "a file that failed has rows")
    return str(code)


def _records(world: World, import_id: int, data: bytes) -> tuple[Layout, list[SourceRecord]]:
    layout = Layout.from_json(world.query("SELECT layout FROM imports WHERE id = :id", id=import_id)[0][0])
    chunks = world.query(
        "SELECT byte_start, byte_end, first_line, row_count FROM import_chunks WHERE import_id = :id ORDER BY chunk_no",
        id=import_id,
    )
    records: list[SourceRecord] = []
    for start, end, line, count in chunks:
        found = list(read_chunk(data[start:end], layout, line, start))
        demand(len(found) == count, "a chunk has other rows than were counted")
        records += found
    return layout, records


def _check_counts(world: World, import_id: int, got: Accounts, records: int) -> None:
    counts = got.counts
    total = counts["imported"] + counts["unchanged"] + counts["updated"] + counts["rejected"]
    demand(
        counts["rows_seen"] == total == records,
        f"{counts['rows_seen']} seen, {total} kept, {records} read",
    )
    demand(counts["imported"] == len(got.exhibits), "more or fewer exhibits than were counted")
    demand(counts["warnings"] == len(got.warned), "more or fewer warnings than were counted")
    chunks = summed_over_chunks(world, import_id)
    demand(chunks.pop("row_count") == counts["rows_seen"], "the chunks have other rows than the file")
    demand(chunks == {name: counts[name] for name in chunks}, "the chunks' counts are not the import's")
    ended = "completed_with_rejections" if counts["rejected"] else "completed"
    demand(got.status == ended, f"the import ended as {got.status}")


def _check_partition(got: Accounts, records: Sequence[SourceRecord]) -> int:
    """Exhibits and rejections have lines of records, none both; returns how many records are neither."""
    lines = {record.line_no for record in records}
    rejected = {each.line for each in got.rejected}
    demand(len(lines) == len(records), "two records have one line")
    demand(not rejected & got.exhibits.keys(), "a line is imported and rejected")
    demand(rejected | got.exhibits.keys() <= lines, "a line of an exhibit or a rejection does not belong to a record")
    demand(len(rejected) == got.counts["rejected"], "more or fewer lines are rejected than were counted")
    return len(lines - rejected - got.exhibits.keys())


def _check_rejections(got: Accounts, records: Sequence[SourceRecord]) -> None:
    places = {record.line_no: (record.byte_start, record.byte_len) for record in records}
    for each in got.rejected:
        demand(each.code in set(Rejection) - _OURS, f"line {each.line}: {each.code}: {each.message}")
        demand(bool(each.message.strip()) and each.row_count == 1, f"line {each.line}: a rejection without a reason")
        demand((each.byte_start, each.byte_len) == places[each.line], f"line {each.line}: other bytes were rejected")


def _check_report(world: World, import_id: int, got: Accounts, layout: Layout, data: bytes) -> None:
    """The rejected rows come back with their text and their lines behind the file's own header."""
    files = world.report(import_id)
    places = sorted({(each.line, each.byte_start, each.byte_len) for each in got.rejected})
    expected = error_file_of(data, layout.body_start, layout.encoding, form_of(layout), places)
    demand(files["rejected_rows.dat"] == expected, "the rejected rows have another text")
    demand({"report.csv", "warnings.csv", "options.json"} <= set(files), "a report file is missing")


def _put_options(world: World, notification: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    if options:
        key = build_options_key(notification["Records"][0]["s3"]["object"]["key"])
        clients.s3().put_object(Bucket=world.bucket, Key=key, Body=json.dumps(options))
