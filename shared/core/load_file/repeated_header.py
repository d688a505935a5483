"""Recognise the lines of a header inside a file, as files that were put together have them.

Guaranteed: no other record matches. All of its cells are those of the header, apart from case and surrounding
white space, with or without an empty cell after them; or it is a whole line `sep=;` that names the file's delimiter.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file.delimiters import find_separator
from core.load_file.grammar import ASCII_WHITESPACE, Grammar


class RepeatedHeader:
    """The lines of a file's header; `header` is None if the file has none; its cells are read as the records are."""

    def __init__(self, grammar: Grammar, header: Sequence[str] | None, id_column: int) -> None:
        self._grammar = grammar
        self._names = None if header is None else _fold(header[: grammar.cells])
        # The cells of a line `sep=`, as it is read. Only files with one or two columns can have such a row.
        separators = (["sep=", ""], [f"sep={grammar.delimiter}"], ['"sep=', '"'])
        lines = [_fold(line) for line in separators if grammar.has_expected_cells(line)]
        self._ids = frozenset(line[id_column] for line in (*lines, *([self._names] if self._names else [])))

    def matches(self, cells: Sequence[str]) -> bool:
        """Return whether a record with these cells is a line of the header."""
        return self._is_header(cells) or self._is_separator(cells)

    def find_candidate(self, ids: Sequence[str]) -> int | None:
        """Return the index of the first id that a header line can have; None if no id is one."""
        # A search in the text of all ids costs a fraction of folding each of them.
        text = "\n".join(ids).casefold() if self._ids else ""
        if not any(each in text for each in self._ids):
            return None
        return next((number for number, found in enumerate(_fold(ids)) if found in self._ids), None)

    def _is_header(self, cells: Sequence[str]) -> bool:
        count = self._grammar.cells
        has_count = len(cells) == count or (len(cells) == count + 1 and not cells[-1].strip(ASCII_WHITESPACE))
        return has_count and _fold(cells[:count]) == self._names

    def _is_separator(self, cells: Sequence[str]) -> bool:
        delimiter = self._grammar.delimiter
        return len(cells) <= 2 and find_separator(delimiter.join(cells)) == delimiter


def _fold(cells: Sequence[str]) -> list[str]:
    return [cell.strip(ASCII_WHITESPACE).casefold() for cell in cells]


def build_too_many(limit: int) -> FileRefusedError:
    """Return the error for a file that repeats its header more often than this."""
    message = f"The header is repeated on more than {limit} lines"
    return FileRefusedError(FileFailure.NOT_DELIMITED, f"{message}. Remove the repeated headers.")
