"""A case with as many documents as a benchmark needs, written by SQL past the application.

Guaranteed: the same rows for the same number of documents. Ten imports created them, one after the other; the names of
custodians and tags say how many documents have them, and whether these are spread over the case or lie together. One
more import, of as many rows, is not at its end yet and has rejected every twentieth row.
"""

from __future__ import annotations

from benchmarks.database import Database

TENANT, CASE = "benchmark", "Large case"
OVERLAY, PAGES, REJECTED = 11, 12, 13
IMPORTS = 10
# Rows of one INSERT ... SELECT; more would make its undo log larger than the benchmark's server likes.
_ROWS = 50_000
_PARTS = {
    "exhibits": """
        INSERT INTO exhibits (id, case_id, control_number, bates_begin, bates_end, parent_control_number, title,
          file_name, document_date, native_path, text_path, document_properties, import_id, line_no, page_set_id,
          version)
        SELECT n, 1, CONCAT('DOC-', LPAD(n, 9, '0')), CONCAT('ACME', LPAD(3 * n - 2, 9, '0')),
          CONCAT('ACME', LPAD(3 * n, 9, '0')), IF(n % 5 = 1, NULL, CONCAT('DOC-', LPAD(n - (n - 1) % 5, 9, '0'))),
          CONCAT('Minutes of meeting ', n % 1000), CONCAT('minutes-', n, '.docx'),
          '2019-01-01' + INTERVAL n % 1000 DAY, IF(n % 4, CONCAT('NATIVES/', n, '.docx'), NULL),
          CONCAT('TEXT/', n, '.txt'), CONCAT('{"Author": "', REPEAT('x', 200), '"}'),
          1 + (n - 1) DIV :each, 1 + n, IF(n % 2, n, NULL), IF(n % 20, 1, 2)
        FROM numbers WHERE n BETWEEN :first AND :last""",
    "page_sets": """
        INSERT INTO page_sets (id, case_id, import_id, line_no, page_count, content_hash)
        SELECT n, 1, 12, n, 3, REPEAT('h', 32) FROM numbers WHERE n BETWEEN :first AND :last AND n % 2""",
    "exhibit_files": """
        INSERT INTO exhibit_files (exhibit_id, kind, import_id, line_no, text_hash, file_id, rule)
        SELECT id, 'text', import_id, line_no, UNHEX(LEFT(SHA2(text_path, 256), 32)), id, 2
        FROM exhibits WHERE id BETWEEN :first AND :last""",
    "exhibit_changes": """
        INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, import_id, line_no, changes)
        SELECT n, 2, 'overlaid', 'none', 11, n, '{}' FROM numbers WHERE n BETWEEN :first AND :last AND n % 20 = 0""",
}
# By name: the condition on the documents that have it.
CUSTODIANS = {
    "half": "n % 2",
    "tenth together": "n > 6 * :each AND n <= 7 * :each",
    "thousandth": "n % 1000 = 0",
}
TAGS = {
    "hundredth": "n % 100 = 0",
    "eleventh": "n % 11 = 0",
    "fifth at the end": "n > 8 * :each",
}
_LINKS = """
    INSERT INTO {table} (exhibit_id, {key}, user_id)
    SELECT n, (SELECT id FROM {names} WHERE case_id = 1 AND name = :name), 'none' FROM numbers
    WHERE n BETWEEN :first AND :last AND {condition}
"""
_IMPORT = """
    INSERT INTO imports (id, upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status,
      imported) VALUES (:id, UNHEX(SHA2(:id, 256)), 'benchmark', 1, 'none', 'none', 0, 'load.dat', 'none', 'completed',
      :rows)
"""
_CHUNK = """
    INSERT INTO import_chunks (import_id, chunk_no, byte_start, byte_end, first_line, last_line, row_count, sha256,
      status, imported, first_number, last_number, first_exhibit, last_exhibit)
    SELECT :id, 1 + n, 0, 0, 2 + 2000 * n, LEAST(2001 + 2000 * n, :rows + 1), LEAST(2000, :rows - 2000 * n),
      REPEAT('h', 32), 'done', LEAST(2000, :rows - 2000 * n),
      CONCAT('DOC-', LPAD(:first + 2000 * n, 9, '0')),
      CONCAT('DOC-', LPAD(LEAST(:first + 2000 * n + 1999, :first + :rows - 1), 9, '0')),
      :first + 2000 * n, LEAST(:first + 2000 * n + 1999, :first + :rows - 1)
    FROM numbers WHERE n BETWEEN 0 AND (:rows - 1) DIV 2000
"""

_RUNNING = """
    INSERT INTO imports (id, upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status,
      rows_seen, chunk_count, chunks_left, codes_generation)
    VALUES (:id, UNHEX(SHA2(:id, 256)), 'benchmark', 1, 'none', 'none', 0, 'load.dat', 'none', 'running',
      :rows, 1 + (:rows - 1) DIV 2000, 1, 1)
"""
_REJECTIONS = """
    INSERT INTO import_rejections (import_id, line_no, seq, chunk_no, code, message, byte_start, byte_len)
    SELECT 13, 1 + n, 0, 1 + (n - 1) DIV 2000, IF(n % 40, 'MISSING_ID', 'DUPLICATE_ID'), 'none', 100 * n, 100
    FROM numbers WHERE n BETWEEN :first AND :last AND n % 20 = 0
"""
_CODES = """
    INSERT INTO import_codes (import_id, chunk_no, kind, code, column_name, errors, row_count, first_line, message)
    SELECT import_id, chunk_no, 'rejection', code, '', COUNT(*), COUNT(*), MIN(line_no), 'none'
    FROM import_rejections GROUP BY import_id, chunk_no, code
"""


def format_number(position: int) -> str:
    """Return the control number of the document at a position, from 1."""
    return f"DOC-{position:09d}"


def write_case(database: Database, documents: int) -> None:
    """Write the case, with as many documents rounded down to a multiple of ten; a million takes some minutes."""
    each = documents // IMPORTS
    documents = each * IMPORTS
    _add_numbers(database, documents)
    database.query("INSERT INTO cases (id, tenant_id, name) VALUES (1, :tenant, :name)", tenant=TENANT, name=CASE)
    for number in range(1, PAGES + 1):
        database.query(_IMPORT, id=number, rows=each)
        if number <= IMPORTS:
            database.query(_CHUNK, id=number, rows=each, first=1 + (number - 1) * each)
    for statement in _PARTS.values():
        _run(database, statement, documents, each=each)
    for names, links, key, conditions in (
        ("custodians", "custodian_exhibits", "custodian_id", CUSTODIANS),
        ("tags", "taggings", "tag_id", TAGS),
    ):
        for name, condition in conditions.items():
            database.query(f"INSERT INTO {names} (case_id, name) VALUES (1, :name)", name=name)  # noqa: S608
            statement = _LINKS.format(table=links, key=key, names=names, condition=condition)
            _run(database, statement, documents, name=name, each=each)
    database.query(_RUNNING, id=REJECTED, rows=documents)
    database.query(_CHUNK, id=REJECTED, rows=documents, first=1)
    _run(database, _REJECTIONS, documents)
    database.query(_CODES)
    database.query("ANALYZE TABLE import_rejections, import_codes")
    database.query("ANALYZE TABLE exhibits, taggings, custodian_exhibits, exhibit_changes, exhibit_files, page_sets")


def _run(database: Database, statement: str, documents: int, **values: object) -> None:
    used = {name: value for name, value in values.items() if f":{name}" in statement}
    for first in range(1, documents + 1, _ROWS):
        database.query(statement, first=first, last=min(documents, first + _ROWS - 1), **used)


def _add_numbers(database: Database, most: int) -> None:
    database.query("CREATE TABLE numbers (n INT PRIMARY KEY)")
    database.query("INSERT INTO numbers VALUES (0)")
    size = 1
    while size <= most:
        database.query("INSERT INTO numbers SELECT n + :size FROM numbers", size=size)
        size *= 2
