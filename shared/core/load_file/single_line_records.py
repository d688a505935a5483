"""Fast path for chunks in which every record is a single line, the common case.

Guaranteed: the records are those that `core.load_file.record_reader` reads. If any line needs more than this path does,
the path reads nothing and `record_reader` reads the chunk.
"""

from __future__ import annotations

import csv

from core.load_file.encoding import Lines
from core.load_file.grammar import Grammar
from core.load_file.record_reader import strict_reader


def read_single_line_records(lines: Lines, grammar: Grammar) -> list[list[str]] | None:
    """Return the cells of each line if every line is one record.

    Return None if a record has several lines, or a line is blank, has a bare CR, a byte order mark or damaged
    quoting.
    """
    if lines.bare_cr or lines.mark:
        return None
    reader = strict_reader(iter(lines.texts), grammar)
    try:
        rows = list(reader)
    except csv.Error:
        return None
    return rows if len(rows) == len(lines.texts) and [] not in rows else None
