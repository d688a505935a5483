"""Chunks that are written at once count their codes without a deadlock, which shared counters do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle

from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from core.statuses import CodeKind
from shell.db.bulk_insert import insert_new
from shell.db.retry import retry_on_db_conflict
from shell.imports.state.codes import count_chunk
from shell.imports.state.progress import RejectionRow
from shell.tables.chunks import ImportChunks
from tests.support.database.counted_database import Database, barrier, outcome, together, transaction

CONNECTIONS, CHUNKS, LINES = 6, 60, 10
CODES = ("MISSING_ID", "DUPLICATE_ID", "WRONG_CELL_COUNT", "KEY_NOT_STORABLE")
IMPORT = (
    "INSERT INTO imports (id, upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status, "
    "chunk_count, chunks_left) VALUES (1, REPEAT('k', 32), 't', 1, 'b', 'k', 1, 'f', 'u', 'running', "
    f"{CHUNKS}, {CHUNKS})"
)
CHUNK = (
    "INSERT INTO import_chunks (import_id, chunk_no, byte_start, byte_end, first_line, last_line, row_count, sha256) "
    "VALUES (1, :no, 0, 1, :first, :last, 10, REPEAT('s', 32))"
)
LOCK = text("SELECT chunk_no FROM import_chunks WHERE import_id = 1 AND chunk_no = :no FOR UPDATE")
DOWN = text("UPDATE imports SET chunks_left = chunks_left - 1 WHERE id = 1")
# What would be shared: one row for each code of the import, in the order in which a chunk meets them.
COUNTER = text(
    "UPDATE import_codes SET errors = errors + 1 WHERE import_id = 1 AND chunk_no = 0 AND kind = 'rejection' "
    "AND code = :code AND column_name = ''"
)
Count = Callable[[Session, ImportChunks], None]


def prepare(database: Database) -> list[ImportChunks]:
    database.query(IMPORT)
    for no in range(1, CHUNKS + 1):
        database.query(CHUNK, no=no, first=no * LINES, last=no * LINES + LINES - 1)
    for code in CODES:
        database.query(f"INSERT INTO import_codes VALUES (1, 0, 'rejection', '{code}', '', 0, 0, 1, '')")
    return [
        ImportChunks(import_id=1, chunk_no=no, first_line=no * LINES, last_line=no * LINES + LINES - 1)
        for no in range(1, CHUNKS + 1)
    ]


def count_own(writing: Session, chunk: ImportChunks) -> None:
    count_chunk(writing, chunk, [CodeKind.REJECTION])


def count_shared(writing: Session, chunk: ImportChunks) -> None:
    turn = chunk.chunk_no % len(CODES)
    for code in (*CODES[turn:], *CODES[:turn]):
        writing.execute(COUNTER, {"code": code})


def write(engine: Engine, chunks: Sequence[ImportChunks], count: Count, start: Callable[[], object]) -> None:
    """Write chunks as a worker does: its row, the rejections, their counts, and last the import's row."""

    @retry_on_db_conflict
    def one(chunk: ImportChunks) -> None:
        with transaction(engine) as writing:
            writing.execute(LOCK, {"no": chunk.chunk_no})
            codes = cycle(CODES)
            rows = [
                RejectionRow(1, line, 0, chunk.chunk_no, None, next(codes), "a message", None, 0, 1)
                for line in range(chunk.first_line, chunk.last_line + 1)
            ]
            insert_new(writing, "import_rejections", RejectionRow._fields, rows)
            count(writing, chunk)
            writing.execute(DOWN)

    start()
    for chunk in chunks:
        one(chunk)


def race(database: Database, count: Count) -> int:
    """The deadlocks of six connections that write all chunks."""
    chunks, before = prepare(database), database.deadlocks()
    meeting = barrier(CONNECTIONS)
    with database.environments(CONNECTIONS) as engines:
        together(
            *(
                outcome(partial(write, engine, chunks[number::CONNECTIONS], count, meeting.wait))
                for number, engine in enumerate(engines)
            )
        )
    return database.deadlocks() - before


def test_chunks_count_their_codes_without_a_deadlock(database: Database) -> None:
    assert race(database, count_own) == 0
    assert database.scalar("SELECT chunks_left FROM imports") == 0
    counted = database.query("SELECT SUM(errors), COUNT(*) FROM import_codes WHERE chunk_no > 0")
    assert counted == [(CHUNKS * LINES, CHUNKS * len(CODES))]


def test_counters_that_chunks_share_deadlock(database: Database) -> None:
    """The negative control: else the test above could not fail."""
    assert race(database, count_shared) > 0
