"""The same file leaves the same data behind, in whatever order, however often and by whomever its chunks are done."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text

import handle_failed_chunk
import import_chunk
from samples.columns import Role
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from samples.words import Alphabet
from shell.aws import clients
from shell.settings import settings
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import deliver_all, start_blocked
from tests.support.application.driver import Context, Message, World, call, complete_imports, sqs_event
from tests.support.application.handler_processes import Workers
from tests.support.database.dump import Dump
from tests.support.database.server_status import wait_until
from tests.support.imports.accounting import assert_accounted, turned_down
from tests.support.imports.error_file_reference import LINE_COLUMN, Form, line_cell
from tests.support.imports.rebuilt_rows import assert_rebuilt

FAULTS = tuple(Fault(kind) for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY)
SPEC = Spec(
    rows=90, seed=5, alphabets=frozenset({Alphabet.ACCENTS}), hot_custodian=None, custodians=4, spice=0.5, faults=FAULTS
)
ROWS_A_CHUNK = 7
SHA_OF_OTHER_BYTES = b"\0" * 32


@pytest.fixture(scope="module")
def sample() -> Generated:
    """A file with every fault in it."""
    return generate(SPEC)


@pytest.fixture(scope="module")
def in_order(migrated: dict[str, str], sample: Generated) -> Dump:
    """What one worker leaves behind, chunk after chunk."""
    world = World(migrated["BUCKET"], migrated)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHUNK_ROWS", str(ROWS_A_CHUNK))
        settings.cache_clear()
        import_id = world.run(sample.data, case="In order")
    settings.cache_clear()
    assert_accounted(world, import_id, sample.truth)
    return world.dump(import_id)


@pytest.fixture(autouse=True)
def _small_chunks(chunk_rows: Chunks) -> None:
    """As in the import that every other one is compared with."""
    chunk_rows(ROWS_A_CHUNK)


def test_the_same_is_left_whatever_the_order_and_number_of_deliveries(
    world: World, in_order: Dump, sample: Generated
) -> None:
    import_id = world.run(sample.data, case="Reordered", shuffle=0, times=3)
    assert_accounted(world, import_id, sample.truth)
    assert_rebuilt(world, import_id, sample.truth, sample.data)
    assert world.dump(import_id) == in_order


def test_chunks_of_one_invocation_are_imported_as_if_alone(world: World, in_order: Dump, sample: Generated) -> None:
    import_id = world.start(sample.data, case="Batches")
    messages = world.chunk_messages()
    unknown = {"import_id": import_id, "chunk_no": 1_000}
    # Some come twice in one batch, while the same chunk is prepared or already written.
    for batch in ([*messages[:6], *messages[4:6], unknown], [*messages[3:], messages[-1]]):
        assert call(import_chunk.lambda_handler, *batch)
    complete_imports()
    assert_accounted(world, import_id, sample.truth)
    assert world.dump(import_id) == in_order


def test_a_chunk_that_fails_in_a_batch_fails_alone(world: World, in_order: Dump, sample: Generated) -> None:
    import_id = world.start(sample.data, case="A batch")
    messages, broken = world.chunk_messages(), 3
    sha = "SELECT sha256 FROM import_chunks WHERE import_id = :id AND chunk_no = :no"
    change = "UPDATE import_chunks SET sha256 = :sha WHERE import_id = :id AND chunk_no = :no"
    [(bytes_read,)] = world.query(sha, id=import_id, no=broken)
    world.query(change, sha=SHA_OF_OTHER_BYTES, id=import_id, no=broken)
    failures = import_chunk.lambda_handler(sqs_event(*messages), Context())["batchItemFailures"]
    assert failures == [{"itemIdentifier": f"message-{broken - 1}"}]
    world.query(change, sha=bytes_read, id=import_id, no=broken)
    assert world.import_chunk(messages[broken - 1])
    assert world.dump(import_id) == in_order


def test_four_workers_at_once(world: World, in_order: Dump, sample: Generated, workers: Workers) -> None:
    import_id = world.start(sample.data, case="Four workers")
    deliver_all(workers, world.chunk_messages())
    assert_accounted(world, import_id, sample.truth)
    assert world.dump(import_id) == in_order


def _block_an_exhibit(other: Connection, import_id: int, message: Message) -> None:
    """An uncommitted row with an id of the chunk: its multi-row INSERT waits in its midst."""
    case_id, first, last = other.execute(
        text(
            "SELECT i.case_id, c.first_line, c.last_line FROM imports i JOIN import_chunks c ON c.import_id = i.id "
            "WHERE i.id = :id AND c.chunk_no = :no"
        ),
        {"id": import_id, "no": message["chunk_no"]},
    ).one()
    sound = [r.control_number for r in generate(SPEC).truth.imported if first <= r.first_line <= last]
    other.execute(
        text("INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (:case_id, :id, 0, 0)"),
        {"case_id": case_id, "id": sound[len(sound) // 2]},
    )


def _block_the_import(other: Connection, import_id: int, _message: Message) -> None:
    """The lock on the row that a chunk counts down last: everything else is written by then."""
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": import_id})


@pytest.mark.parametrize("block", [_block_an_exhibit, _block_the_import], ids=["at its rows", "at its end"])
def test_the_worker_of_a_batch_killed_in_the_middle_of_a_chunk(
    world: World,
    in_order: Dump,
    sample: Generated,
    other: Connection,
    block: Callable[[Connection, int, Message], None],
) -> None:
    import_id = world.start(sample.data, case="Killed")
    messages = world.chunk_messages()
    victim = messages[4]
    block(other, import_id, victim)
    worker = start_blocked(world, "import_chunk", *messages[3:6])
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(timeout=60)
    assert worker.exitcode == -signal.SIGKILL
    chunks = "SELECT status FROM import_chunks WHERE import_id = :i AND chunk_no IN (5, 6)"
    assert world.query(chunks, i=import_id) == [("pending",)] * 2
    other.rollback()
    # Until the server has noticed that the connection is gone the chunk is busy, and its message comes again.
    for message in [*messages[:4], *messages[5:], victim]:
        wait_until(lambda message=message: world.import_chunk(message), "the chunk's import")  # type: ignore[misc]
    assert_accounted(world, import_id, sample.truth)
    assert world.dump(import_id) == in_order


def _with_broken_chunk(world: World, sample: Generated, case: str, broken: int, seed: int) -> int:
    """An import one of whose chunks fails in every attempt; all others are done, in an order of the seed's."""
    import_id = world.start(sample.data, case=case)
    world.query(
        "UPDATE import_chunks SET sha256 = :sha WHERE import_id = :id AND chunk_no = :no",
        sha=SHA_OF_OTHER_BYTES,
        id=import_id,
        no=broken,
    )
    messages = world.chunk_messages()
    if seed:
        messages = messages[seed:] + messages[:seed]
    for message in messages:
        assert world.import_chunk(message) is (message["chunk_no"] != broken)
    return import_id


def _delayed(url: str) -> int:
    answer = clients.sqs().get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessagesDelayed"])
    return int(answer["Attributes"]["ApproximateNumberOfMessagesDelayed"])


def test_a_chunk_that_fails_for_good_while_its_neighbours_go_on(
    world: World, in_order: Dump, sample: Generated
) -> None:
    broken = 1
    import_id = _with_broken_chunk(world, sample, "Broken", broken, seed=0)
    message = {"import_id": import_id, "chunk_no": broken, "redrive": 0}
    waiting = _delayed(settings().import_chunks_queue_url)
    assert call(handle_failed_chunk.lambda_handler, message)
    chunk = "SELECT status, redrives FROM import_chunks WHERE import_id = :id AND chunk_no = :no"
    assert world.query(chunk, id=import_id, no=broken) == [("pending", 1)]
    assert _delayed(settings().import_chunks_queue_url) == waiting + 1
    assert world.query("SELECT status, chunks_left FROM imports WHERE id = :id", id=import_id) == [("running", 1)]

    again = {**message, "redrive": 1}
    assert not world.import_chunk(again)
    assert call(handle_failed_chunk.lambda_handler, again)
    complete_imports()
    assert world.query(chunk, id=import_id, no=broken) == [("failed", 1)]
    truth = turned_down(sample.truth, _lines_of(world, sample, import_id, broken), "CHUNK_FAILED")
    assert_accounted(world, import_id, truth)

    other = _with_broken_chunk(world, sample, "Broken, in another order", broken, seed=6)
    world.give_up({**message, "import_id": other})
    world.give_up({**message, "import_id": other})
    assert world.dump(other) == world.dump(import_id)
    exhibits = [row for row in in_order["exhibits"] if truth.at_line(row[-2]).imported]
    assert world.dump(import_id)["exhibits"] == exhibits


def _lines_of(world: World, sample: Generated, import_id: int, chunk_no: int) -> set[int]:
    first, last = world.query(
        "SELECT first_line, last_line FROM import_chunks WHERE import_id = :id AND chunk_no = :no",
        id=import_id,
        no=chunk_no,
    )[0]
    return {r.first_line for r in sample.truth.records if first <= r.first_line <= last}


def test_the_records_of_a_failed_chunk_are_in_the_rejected_rows(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(4)
    made = generate(Spec(rows=12, roles=SPEC.roles - {Role.TAGS}, blank_lines=True))
    import_id = _with_broken_chunk(world, made, "Broken", 2, seed=0)
    world.give_up({"import_id": import_id, "chunk_no": 2, "redrive": 0})
    records, form, at, expected = made.truth.records[4:8], Form.of(made), made.truth.header_len, ""
    header = form.insert(made.data[:at].decode("utf-8-sig"), LINE_COLUMN)
    at = records[0].byte_start
    for each in records:
        end = each.byte_start + each.byte_len
        blank, text = made.data[at : each.byte_start].decode(), made.data[each.byte_start : end].decode()
        expected, at = expected + blank + form.insert(text, line_cell(each.first_line)), end
    rows = world.report(import_id)["rejected_rows.dat"].decode("utf-8-sig")
    # The blank line before the chunk is a part of it.
    assert rows in (header + expected, header + "\r\n" + expected)


def test_a_chunk_that_was_done_meanwhile_is_not_given_up(world: World, sample: Generated) -> None:
    import_id = world.start(sample.data)
    first, *rest = world.chunk_messages()
    assert world.import_chunk(first)
    world.give_up(first)
    assert all(world.import_chunk(message) for message in rest)
    world.give_up(first)
    assert_accounted(world, import_id, sample.truth)
