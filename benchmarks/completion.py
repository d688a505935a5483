"""`python -m benchmarks.completion`: time, memory and statements of completing an import of many chunks and names.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.arguments import add_server, number
from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import temporary_application
from benchmarks.imports.complete_once import complete_once
from benchmarks.output import DONE, run_command, run_measurement, table

_DESCRIPTION = """\
Measures the function that completes an import when its last chunk is done: it gives every custodian and tag the
spelling of its first line, deletes names that nothing uses, sums the chunks, sets the status and writes the event. The
rows that the chunks would have left are written by SQL, half of the names as custodians and half as tags; the function
runs in a new process. shapes:
  shared    every chunk has the same names, spelled alike
  spelled   the same, in two spellings by turns: every name is corrected and every other spelling warned of
  distinct  no name is in two chunks"""
_EPILOG = """\
examples:
  python -m benchmarks.completion
      50,000 chunks with 70 names each, several minutes, most of them to write the rows; a Markdown table
  python -m benchmarks.completion --chunks 1000 --shapes distinct --json
      fewer chunks, one shape; one JSON object

exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""
ROWS_PER_CHUNK = 1_000
# The name with the number k of the chunk c: as a row of the case, and as the chunk spells it.
SHAPES = {
    "shared": ("CONCAT('Name ', k.n)", "CONCAT('Name ', k.n)"),
    "spelled": ("CONCAT('name ', k.n)", "CONCAT(IF(c.n % 2, 'Name ', 'NAME '), k.n)"),
    "distinct": ("CONCAT('Name ', c.n, ' ', k.n)", "CONCAT('Name ', c.n, ' ', k.n)"),
}
_IMPORT = """
    INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status,
      rows_seen, chunk_count, chunks_left)
    VALUES (UNHEX(SHA2(:shape, 256)), 'benchmark', :case_id, 'none', 'none', 0, 'load.dat', 'none', 'running', :rows,
      :chunks, 0)
"""
_CHUNKS = """
    INSERT INTO import_chunks (import_id, chunk_no, byte_start, byte_end, first_line, last_line, row_count, sha256,
      status, imported)
    SELECT :import_id, n, 0, 0, n, n, :rows, REPEAT('\\0', 32), 'done', :rows FROM numbers WHERE n BETWEEN 1 AND :chunks
"""
_OCCURRENCES = """
    INSERT INTO import_name_occurrences (import_id, chunk_no, seq, kind, name, line_no, column_name)
    SELECT :import_id, c.n, k.n, IF(k.n < :half, 'custodians', 'tags'), {spelling},
      c.n * :rows + k.n, 'Name' FROM numbers AS c JOIN numbers AS k ON k.n < :names
    WHERE c.n BETWEEN :first AND :last
"""
# A worker may have written a later chunk first.
_NAMES = """
    INSERT INTO {table} (case_id, name, import_id, line_no)
    SELECT :case_id, {name}, :import_id, c.n * :rows + k.n FROM numbers AS c JOIN numbers AS k
      ON k.n >= :low AND k.n < :high
    WHERE c.n BETWEEN :first AND :last
"""
_LINKS = """
    INSERT INTO {table} (exhibit_id, {key}, user_id)
    SELECT :exhibit_id, id, 'none' FROM {names} WHERE import_id = :import_id
"""
# Rows of one INSERT ... SELECT; more would make its undo log larger than the benchmark's server likes.
_CHUNKS_PER_STATEMENT = 2_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with temporary_database(options.database_url) as database, temporary_application(database) as application:
            _add_numbers(database, max(options.chunks, options.names))
            results = {
                shape: _measure_shape(database, application.environment, shape, options.chunks, options.names)
                for shape in options.shapes
            }
            result = {"server": database.server(), "chunks": options.chunks, "names": options.names, "shapes": results}
        print(json.dumps(result, indent=2) if options.json else _format(result))
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


def _measure_shape(
    database: Database, environment: Mapping[str, str], shape: str, chunks: int, names: int
) -> dict[str, Any]:
    began = time.monotonic()
    import_id = _add_import(database, shape, chunks, names)
    print(f"{shape}: rows written in {time.monotonic() - began:.0f} s", file=sys.stderr)
    before = _count_statements(database)
    measured = complete_once(environment, import_id)
    # The query for the count is counted too.
    statements = _count_statements(database) - before - 1
    found = database.query("SELECT status, imported, warnings FROM imports WHERE id = :id", id=import_id)
    expected = names if shape == "spelled" else 0
    if [tuple(row) for row in found] != [("completed", chunks * ROWS_PER_CHUNK, expected)]:
        raise BenchmarkError(f"{shape}: the import ended as {found}")
    return {**measured, "statements": statements}


def _count_statements(database: Database) -> int:
    return int(database.query("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1])


def _add_numbers(database: Database, most: int) -> None:
    database.query("CREATE TABLE numbers (n INT PRIMARY KEY)")
    database.query("INSERT INTO numbers VALUES (0)")
    count = 1
    while count <= most:
        database.query("INSERT INTO numbers SELECT n + :count FROM numbers", count=count)
        count *= 2


def _add_import(database: Database, shape: str, chunks: int, names: int) -> int:
    """Write the rows of an import whose chunks are all done; return its id."""
    rows, half = ROWS_PER_CHUNK, names // 2
    name, spelling = SHAPES[shape]
    database.query("INSERT INTO cases (tenant_id, name) VALUES ('benchmark', :shape)", shape=shape)
    [(case_id,)] = database.query("SELECT MAX(id) FROM cases")
    database.query(_IMPORT, shape=shape, case_id=case_id, rows=chunks * rows, chunks=chunks)
    [(import_id,)] = database.query("SELECT MAX(id) FROM imports")
    database.query(_CHUNKS, import_id=import_id, rows=rows, chunks=chunks)
    for first in range(1, chunks + 1, _CHUNKS_PER_STATEMENT):
        window = {"first": first, "last": min(chunks, first + _CHUNKS_PER_STATEMENT - 1), "rows": rows}
        database.query(_OCCURRENCES.format(spelling=spelling), import_id=import_id, names=names, half=half, **window)
        if shape == "distinct":
            _add_names(database, name, case_id, import_id, names, window)
    if shape != "distinct":
        # Written by the second chunk.
        _add_names(database, name, case_id, import_id, names, {"first": 2, "last": 2, "rows": rows})
    _link_names(database, case_id, import_id)
    return int(import_id)


def _add_names(database: Database, name: str, case_id: int, import_id: int, names: int, window: dict[str, int]) -> None:
    half = names // 2
    for kind, low, high in (("custodians", 0, half), ("tags", half, names)):
        statement = _NAMES.format(table=kind, name=name)
        database.query(statement, case_id=case_id, import_id=import_id, low=low, high=high, **window)


def _link_names(database: Database, case_id: int, import_id: int) -> None:
    """Link all names to one exhibit, so that none is deleted."""
    row = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (:case_id, 'A-1', :import_id, 2)"
    database.query(row, case_id=case_id, import_id=import_id)
    [(exhibit_id,)] = database.query("SELECT MAX(id) FROM exhibits")
    for table_name, key, names in (
        ("custodian_exhibits", "custodian_id", "custodians"),
        ("taggings", "tag_id", "tags"),
    ):
        statement = _LINKS.format(table=table_name, key=key, names=names)
        database.query(statement, exhibit_id=exhibit_id, import_id=import_id)


def _format(result: dict[str, Any]) -> str:
    head = [f"{result['chunks']:,} chunks, {result['names']} names each", "seconds", "peak MB", "statements"]
    rows = [
        [shape, f"{each['seconds']:.1f}", f"{each['peak_mb']:.0f}", f"{each['statements']:,}"]
        for shape, each in result["shapes"].items()
    ]
    return f"{result['server']}\n\n{table(head, rows)}"


def _shapes(text: str) -> list[str]:
    shapes = text.split(",")
    if unknown := [shape for shape in shapes if shape not in SHAPES]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not one of {', '.join(SHAPES)}")
    return shapes


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.completion", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        *("--chunks",), type=number(2, 200_000), default=50_000, metavar="N", help="chunks (default: %(default)s)"
    )
    made.add_argument(
        *("--names",), type=number(2, 1_000), default=70, metavar="N", help="names of each chunk (default: %(default)s)"
    )
    made.add_argument(
        *("--shapes",), type=_shapes, default=list(SHAPES), metavar="LIST", help="shapes, separated by commas"
    )
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
