"""Count the rejections and warnings of an import by code and column, in the transaction that writes them.

Guaranteed: the counts are sums over the rows of `import_rejections` and `import_warnings` as the transaction leaves
them, because each function counts these rows after the change. A chunk inserts rows of its own, in one statement; no
two chunks write the same row. Everything else counts again, in place of what was counted
before, under the lock on the import's row, while no chunk of the import is worked on.
What the completion writes about single lines is counted in blocks of LINES_PER_BLOCK lines, whose numbers are negative.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.statuses import CodeKind
from shell.tables.chunks import ImportChunks

LINES_PER_BLOCK = 10_000
WHOLE_FILE, FOLDED = 0, 2**31 - 1
CHUNKS_PER_STATEMENT = 500
_LAST_BLOCK = 2_000_000_000
# Assign it before the generation is raised: what was counted stays, unless an earlier version wrote some of it.
CARRY_CODES = "codes_generation = IF(ABS(codes_generation) = generation, -generation - 1, 0), codes_folded = 0"
# Of a row `chunk`: whether an earlier version wrote it, which does not count.
IS_MISSING = (
    "chunk.rejected + chunk.warnings > 0 AND NOT EXISTS (SELECT 1 FROM import_codes AS counted "
    "WHERE counted.import_id = chunk.import_id AND counted.chunk_no = chunk.chunk_no)"
)

_COUNTED = "import_id, chunk_no, kind, code, column_name, errors, row_count, first_line, message"
# By bytes: to the collation, "Date" and "DATE" are one column, and NULL has no place in a key.
_COLUMN = "CAST(COALESCE(found.column_name, '') AS BINARY)"
# Lines and numbers of a fixed width sort as text does; no two rows have the same.
_FIRST = "SUBSTRING(MIN(CONCAT(LPAD(found.line_no, 20, '0'), LPAD(found.seq, 10, '0'), found.message)), 31)"
_ROWS = {
    # Only the rejection of a failed chunk has more rows than one, and it is the only one of its line.
    CodeKind.REJECTION: "COUNT(DISTINCT found.line_no) + SUM(found.row_count) - COUNT(*)",
    CodeKind.WARNING: "COUNT(DISTINCT found.line_no)",
}
TABLES = {CodeKind.REJECTION: "import_rejections", CodeKind.WARNING: "import_warnings"}


def build_sums(kind: CodeKind, source: str, chunk: str | None) -> str:
    """Build the SELECT that counts the rows of a table, which `source` names and limits, by chunk; None: of all."""
    groups = ", ".join(("found.code", _COLUMN) if chunk is None else (chunk, "found.code", _COLUMN))
    return (
        f"SELECT :import_id AS import_id, {chunk or 0} AS chunk_no, '{kind}' AS kind, found.code AS code, "  # noqa: S608
        f"{_COLUMN} AS column_name, COUNT(*) AS errors, {_ROWS[kind]} AS row_count, MIN(found.line_no) AS first_line, "
        f"{_FIRST} AS message FROM {source} GROUP BY {groups}"
    )


def _build_count(kind: CodeKind, source: str, chunk: str) -> str:
    return f"INSERT INTO import_codes ({_COUNTED}) {build_sums(kind, source, chunk)}"


_OF_CHUNK = {
    kind: build_sums(
        kind,
        f"{table} AS found FORCE INDEX (PRIMARY) WHERE found.import_id = :import_id "
        "AND found.line_no BETWEEN :first_line AND :last_line AND found.chunk_no = :chunk_no",
        "found.chunk_no",
    )
    for kind, table in TABLES.items()
}
_COUNT_CHUNK = {
    kinds: text(f"INSERT INTO import_codes ({_COUNTED}) " + " UNION ALL ".join(map(_OF_CHUNK.__getitem__, kinds)))
    for kinds in ((CodeKind.REJECTION,), (CodeKind.WARNING,), tuple(CodeKind))
}
_COUNT_FILE = text(
    _build_count(
        CodeKind.WARNING,
        "import_warnings AS found FORCE INDEX (PRIMARY) WHERE found.import_id = :import_id AND found.line_no = 0",
        "found.chunk_no",
    )
)
_DELETE_FILE = text("DELETE FROM import_codes WHERE import_id = :import_id AND chunk_no = 0")
_COUNT_BLOCKS = text(
    _build_count(
        CodeKind.WARNING,
        "import_warnings AS found FORCE INDEX (ix_import_warnings_code) WHERE found.import_id = :import_id "
        "AND found.code IN :codes AND found.line_no BETWEEN :first_line AND :last_line AND found.line_no > 0",
        f"-1 - (found.line_no DIV {LINES_PER_BLOCK})",
    )
).bindparams(bindparam("codes", expanding=True))
_DELETE_BLOCKS = text(
    "DELETE FROM import_codes WHERE import_id = :import_id AND chunk_no BETWEEN :last AND :first "
    "AND kind = 'warning' AND code IN :codes"
).bindparams(bindparam("codes", expanding=True))
_FIND_CHUNKS = text("""
    SELECT DISTINCT found.chunk_no FROM JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS changed
    STRAIGHT_JOIN import_rejections AS found FORCE INDEX (PRIMARY)
      ON found.import_id = :import_id AND found.line_no = changed.line_no AND found.seq = 0 ORDER BY 1
""")
_DELETE_CHUNKS = text("DELETE FROM import_codes WHERE import_id = :import_id AND chunk_no IN :chunks").bindparams(
    bindparam("chunks", expanding=True)
)
_COUNT_CHUNKS = {
    kind: text(
        _build_count(
            kind,
            f"import_chunks AS chunk FORCE INDEX (PRIMARY) STRAIGHT_JOIN {table} AS found FORCE INDEX (PRIMARY) "
            "ON found.import_id = chunk.import_id AND found.line_no BETWEEN chunk.first_line AND chunk.last_line "
            "AND found.chunk_no = chunk.chunk_no WHERE chunk.import_id = :import_id AND chunk.chunk_no IN :chunks",
            "found.chunk_no",
        )
    ).bindparams(bindparam("chunks", expanding=True))
    for kind, table in TABLES.items()
}
# By whole primary keys and in this order of the join, as the rejections of these chunks are deleted.
_DELETE_FAILED = text("""
    DELETE counted FROM JSON_TABLE(:chunks, '$[*]' COLUMNS (chunk_no INT PATH '$')) AS failed
    STRAIGHT_JOIN import_codes AS counted FORCE INDEX (PRIMARY)
      ON counted.import_id = :import_id AND counted.chunk_no = failed.chunk_no AND counted.kind = 'rejection'
     AND counted.code = 'CHUNK_FAILED' AND counted.column_name = ''
""")


def count_chunk(transaction: Session, chunk: ImportChunks, kinds: Collection[CodeKind]) -> None:
    """Count what the transaction has written of a chunk; `kinds` are those of which there is something.

    The caller holds the lock on the chunk's row.
    """
    if kinds:
        place = {"import_id": chunk.import_id, "chunk_no": chunk.chunk_no}
        lines = {"first_line": chunk.first_line, "last_line": chunk.last_line}
        transaction.execute(_COUNT_CHUNK[tuple(each for each in CodeKind if each in kinds)], place | lines)


def list_kinds(rejections: Collection[object], warnings: Collection[object]) -> list[CodeKind]:
    """Return the kinds of which there is something, for `count_chunk`."""
    found = ((CodeKind.REJECTION, rejections), (CodeKind.WARNING, warnings))
    return [kind for kind, rows in found if rows]


def count_file(transaction: Session, import_id: int) -> None:
    """Count the warnings about the whole file again; the caller holds the lock on the import's row."""
    transaction.execute(_DELETE_FILE, {"import_id": import_id})
    transaction.execute(_COUNT_FILE, {"import_id": import_id})


def count_lines(transaction: Session, import_id: int, first_line: int, last_line: int, codes: Sequence[str]) -> None:
    """Count the warnings of these codes on these lines again, which only the completion writes.

    The caller holds the lock on the import's row.
    """
    first, last = (min(line // LINES_PER_BLOCK, _LAST_BLOCK) for line in (first_line, last_line))
    place = {"import_id": import_id, "codes": list(codes)}
    transaction.execute(_DELETE_BLOCKS, {**place, "first": -1 - first, "last": -1 - last})
    lines = {"first_line": first * LINES_PER_BLOCK, "last_line": (last + 1) * LINES_PER_BLOCK - 1}
    transaction.execute(_COUNT_BLOCKS, {**place, **lines})


def count_rejections(transaction: Session, import_id: int, lines: Sequence[int]) -> None:
    """Count the chunks that have rejections on these lines again; the caller holds the lock on the import's row."""
    place = {"import_id": import_id, "lines": json.dumps(lines)}
    count_chunks(transaction, import_id, transaction.scalars(_FIND_CHUNKS, place).all())


def count_chunks(transaction: Session, import_id: int, chunks: Sequence[int]) -> None:
    """Count what these chunks have written again; the caller holds the lock on the import's row."""
    for start in range(0, len(chunks), CHUNKS_PER_STATEMENT):
        values = {"import_id": import_id, "chunks": chunks[start : start + CHUNKS_PER_STATEMENT]}
        for statement in (_DELETE_CHUNKS, *_COUNT_CHUNKS.values()):
            transaction.execute(statement, values)


def delete_failed_chunks(transaction: Session, import_id: int, chunks: Sequence[int]) -> None:
    """Delete the counts of failed chunks, whose rejections the caller deletes under the lock on the import's row."""
    transaction.execute(_DELETE_FAILED, {"import_id": import_id, "chunks": json.dumps(chunks)})
