"""Lines of which each is one record: the common case, for which a record's place follows from its line's.

Guaranteed: the same records as `core.load_file.records` reads, or none at all.
"""

from __future__ import annotations

import csv

from core.load_file.encoding import Lines
from core.load_file.grammar import Grammar
from core.load_file.records import strict_reader


def one_a_line(lines: Lines, grammar: Grammar) -> list[list[str]] | None:
    """The cells of each line if every line is a record of its own; None if any is not, or is blank or damaged."""
    if lines.bare_cr:
        return None
    reader = strict_reader(iter(lines.texts), grammar)
    try:
        rows = list(reader)
    except csv.Error:
        return None
    return rows if len(rows) == len(lines.texts) and [] not in rows else None
