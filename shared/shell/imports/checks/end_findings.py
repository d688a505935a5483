"""Find what needs all rows and names of a file that is checked, and read for it what the case holds.

Guaranteed: it only reads; memory does not grow with the file or the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy import bindparam, text

from core.checks.fact_columns import FactColumns
from core.codes import WarningCode
from core.imports.check_updates import Updates, merge_updates
from core.imports.chunk_facts import unpack_facts
from core.load_file.layout import Layout
from shell.db.session import session
from shell.imports.check_results import read_facts
from shell.imports.checks.names import add_names, list_names, resolve_merged
from shell.imports.file_checks.file_findings import find_file_findings
from shell.imports.file_checks.id_groups import CaseRow
from shell.imports.file_checks.similar_names import find_similar_names
from shell.imports.spelling_index import SpellingIndex, spelling_index
from shell.imports.spellings import describe_merged
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

ROWS_PER_PAGE = 5_000
MERGED_PER_BATCH = 5_000
_CASE_ROWS = text(
    "SELECT control_number, bates_begin, bates_end FROM exhibits FORCE INDEX (uq_exhibits_control_number) "
    "WHERE case_id = :case_id AND control_number > :after ORDER BY control_number LIMIT :most"
)
_HELD = text("SELECT control_number FROM exhibits WHERE case_id = :case_id AND control_number IN :numbers").bindparams(
    bindparam("numbers", expanding=True)
)
_FILE_WARNINGS = text(
    "SELECT code, column_name, message FROM import_warnings WHERE import_id = :import_id AND line_no = 0 ORDER BY seq"
)


class EndFinding(NamedTuple):
    """A finding of the end of a check."""

    code: str
    line_no: int
    column: str | None
    message: str
    control_number: str | None = None


class EndFindings:
    """The findings of the end of a check; `new_names`, by kind, and `updates` are known once all were read."""

    def __init__(self, import_record: Imports) -> None:
        self._import = import_record
        self.new_names: dict[str, int] = {}
        self.updates = Updates()

    def find(self) -> Iterator[EndFinding]:
        """Yield all findings, always in the same order if the case stays the same."""
        with spelling_index() as index, TemporaryDirectory(prefix="check-") as folder:
            names = FactColumns.find(Layout.from_json(self._import.layout or "{}")).names
            rows = find_file_findings(self._read_rows(index), self._read_case(), self._find_held, folder, names)
            for each in rows:
                yield EndFinding(each.code.value, each.line, each.column, each.message, each.control_number)
            resolve_merged(index, self._import)
            yield from self._list_merged(index)
            for each in find_similar_names(list_names(index, self._import), folder):
                yield EndFinding(each.code.value, each.line, each.column, each.message)
            self.new_names = index.count_new_names()
        yield from self._list_file_warnings()

    def _read_rows(self, index: SpellingIndex) -> Iterator[bytes]:
        """Yield the facts of the rows of each chunk; add its names to the index."""
        for facts in map(unpack_facts, read_facts(self._import.id)):
            add_names(index, self._import, facts.names)
            self.updates = merge_updates((self.updates, facts.updates))
            yield facts.rows

    def _read_case(self) -> Iterator[CaseRow]:
        page: Sequence[CaseRow] = [CaseRow("", None, None)]
        while page:
            page = self._read_case_page(page[-1].control_number)
            yield from page

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _read_case_page(self, after: str) -> list[CaseRow]:
        place = {"case_id": self._import.case_id, "after": after, "most": ROWS_PER_PAGE}
        with session() as reading:
            return [CaseRow(*row) for row in reading.execute(_CASE_ROWS, place)]

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _find_held(self, numbers: Sequence[str]) -> set[str]:
        with session() as reading:
            return set(reading.scalars(_HELD, {"case_id": self._import.case_id, "numbers": numbers}))

    def _list_merged(self, index: SpellingIndex) -> Iterator[EndFinding]:
        for batch in index.list_merged(MERGED_PER_BATCH):
            for _, name in batch:
                message = describe_merged(name.kept)
                yield EndFinding(WarningCode.NAME_MERGED.value, name.line_no, name.column, message)

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _list_file_warnings(self) -> list[EndFinding]:
        """Return the warnings about the whole file, which the split has written for the import."""
        with session() as reading:
            rows = reading.execute(_FILE_WARNINGS, {"import_id": self._import.id})
            return [EndFinding(row.code, 0, row.column_name, row.message) for row in rows]
