"""Find what needs all rows and names of a file that is checked, and read for it what the case holds.

Guaranteed: it only reads; memory does not grow with the file or the case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy import bindparam, text

from core.checks.fact_columns import FactColumns
from core.checks.facts import unpack_facts as unpack_rows
from core.codes import CheckCode, Rejection, WarningCode
from core.families.statements import states_families
from core.families.unread import describe_cycles, describe_listed, describe_unread
from core.imports.check_updates import Updates, merge_updates
from core.imports.chunk_facts import unpack_facts
from core.imports.columns.facts import ColumnFacts, merge_facts
from core.imports.columns.warnings import list_warnings
from core.load_file.layout import Layout
from core.volumes.documents import describe_has_pages, describe_rejected_row, describe_replaced_pages
from shell.db.session import session
from shell.exhibits.numbers import has_claims, list_claims_between
from shell.families.reading import find_existing
from shell.imports.checks.family_references import FamilyReferences, family_references
from shell.imports.checks.file_findings import find_file_findings
from shell.imports.checks.id_groups import CaseRow
from shell.imports.checks.names import add_names, list_names, resolve_merged
from shell.imports.checks.similar_names import find_similar_names
from shell.imports.completing.spelling_index import SpellingIndex, spelling_index
from shell.imports.completing.spellings import describe_merged
from shell.imports.pages.reconciliation import Reconciled, find_findings
from shell.imports.pages.sources import find_sources
from shell.imports.state.dependents import is_compared_later
from shell.imports.state.findings import read_facts
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.compared_documents import RepeatedDocument, compared_documents, find_files_beside
from shell.volume_files.documents import describe_without_images
from shell.volume_files.without_images import find_last_beside

ROWS_PER_PAGE = 5_000
MERGED_PER_BATCH = 5_000
_NOT_FOUND = "Neither the data file nor the case has a document with this key. Correct the key, or ask for its row."
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
    """The findings of the end of a check; the other members are known once all were read.

    `new_names` are counted by kind. `refused` are the counts of documents of an image load file that their chunks have
    accepted and an import would not: nothing has the key, several documents have it, or an earlier image load file has
    pages of the document; `moved` is what other such documents change in the counts. `is_compared`: load files were
    compared. `without_images` are the documents that the data file has and no image load file, None unless this is the
    last of these. `reconciled` says what the pages of an image load file were compared with.
    """

    def __init__(self, import_record: Imports, generation: int) -> None:
        self._import, self._generation = import_record, generation
        self.new_names: dict[str, int] = {}
        self.updates = Updates()
        self._columns: ColumnFacts = {}
        self._has_all_columns = True
        self.refused, self.moved = Counter[str](), Counter[str]()
        self.is_compared = False
        self.without_images: int | None = None
        self._has_claims = False
        self.reconciled: Reconciled | None = None

    def find(self) -> Iterator[EndFinding]:
        """Yield all findings, always in the same order if the case stays the same."""
        layout = Layout.from_json(self._import.layout or "{}")
        if layout.image_format is None:
            yield from self._find_in_rows(layout)
        else:
            if self._import.after_import_id is not None and self._import.volume_id is not None:
                yield from self._compare_load_files(layout)
            if not self._is_compared_later():
                yield from self._reconcile_pages()
        yield from self._list_file_warnings()

    def _compare_load_files(self, layout: Layout) -> Iterator[EndFinding]:
        """Compare the image load file with the data file, whose documents the case may not hold yet, and the others."""
        is_last, self.is_compared = find_last_beside(self._import) == self._import.id, True
        beside = [] if self._is_compared_later() else find_files_beside(self._import)
        with compared_documents(self._import, layout.image_key, beside) as compared:
            for line_no, _, key, _, counts, *_ in compared.list_not_found():
                self.refused.update(counts or {})
                rejected = compared.find_rejected(key)
                code = Rejection.PAGES_OF_REJECTED_ROW if rejected else Rejection.OPT_DOC_NOT_FOUND
                message = describe_rejected_row(*rejected) if rejected else _NOT_FOUND
                yield EndFinding(code.value, line_no, "image key", message, key)
            for (line_no, _, key, _, counts, *_), message in compared.list_ambiguous():
                self.refused.update(counts or {})
                yield EndFinding(Rejection.AMBIGUOUS_KEY.value, line_no, "image key", message, key)
            for each in compared.list_repeated(is_overlay=layout.load_mode.is_overlay):
                yield from self._describe_repeated(each, is_overlay=layout.load_mode.is_overlay)
            if self._is_compared_later() or not is_last:
                return
            self.without_images = 0
            for line_no, _, key, *_ in compared.list_without_images():
                self.without_images += 1
                yield EndFinding(WarningCode.NO_IMAGES.value, 0, None, describe_without_images(line_no), key)

    def _describe_repeated(self, found: RepeatedDocument, *, is_overlay: bool) -> Iterator[EndFinding]:
        """Find what the import does to a document that an earlier image load file gives pages, and count it so."""
        if found.is_same:
            self._move(found, "unchanged", found.counts["pages"])
        elif is_overlay:
            self._move(found, "updated", 0)
            message = describe_replaced_pages(found.line_no, found.origin)
            yield EndFinding(WarningCode.PAGES_REPLACED.value, found.line_no, None, message, found.key)
        else:
            self.refused.update(found.counts)
            message = describe_has_pages(found.line_no, found.origin)
            yield EndFinding(Rejection.HAS_PAGES.value, found.line_no, None, message, found.key)

    def _move(self, found: RepeatedDocument, result: str, pages: int) -> None:
        before = next(name for name in ("imported", "updated", "unchanged") if found.counts.get(name))
        self.moved.update({result: 1, "pages": -pages})
        self.moved.subtract({before: 1})

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _is_compared_later(self) -> bool:
        with session() as reading:
            return is_compared_later(reading, self._import, self._generation)

    def _reconcile_pages(self) -> Iterator[EndFinding]:
        """Compare the pages with what the data file states, by the facts that an import has."""
        sources, found = find_sources(self._import), 0
        with find_findings(self._import, sources) as findings:
            for each in findings:
                found += 1
                yield EndFinding(each.code.value, each.line, None, each.message, each.document)
        self.reconciled = Reconciled(self._import.id, self._generation, 0, sources, found)

    def _find_in_rows(self, layout: Layout) -> Iterator[EndFinding]:
        with (
            spelling_index() as index,
            TemporaryDirectory(prefix="check-") as folder,
            family_references() as families,
        ):
            names, related = FactColumns.find(layout).names, families if states_families(layout) else None
            facts = self._read_rows(index, related)
            rows = find_file_findings(facts, self._read_case(), self._find_held, folder, names)
            for each in rows:
                if each.code is CheckCode.ID_SIMILAR_IN_CASE and layout.load_mode.is_overlay:
                    # Found with the rows, as the import finds it.
                    continue
                yield EndFinding(each.code.value, each.line, each.column, each.message, each.control_number)
            for column, message in describe_unread(families.count(self._find_existing), layout.titles):
                yield EndFinding(WarningCode.FAMILY_NOT_READ.value, 0, column, message)
            yield from _list_conflicts(families, layout)
            resolve_merged(index, self._import)
            yield from self._list_merged(index)
            for each in find_similar_names(list_names(index, self._import), folder):
                yield EndFinding(each.code.value, each.line, each.column, each.message)
            self.new_names = index.count_new_names()
        for warning in list_warnings(layout, self._columns, is_complete=self._has_all_columns):
            yield EndFinding(warning.code.value, 0, warning.column, warning.message)

    def _read_rows(self, index: SpellingIndex, families: FamilyReferences | None) -> Iterator[bytes]:
        """Yield the facts of the rows of each chunk; add its names to the index, and what it states to `families`."""
        for facts in map(unpack_facts, read_facts(self._import.id)):
            add_names(index, self._import, facts.names)
            self.updates = merge_updates((self.updates, facts.updates))
            self._has_all_columns = self._has_all_columns and facts.columns is not None
            self._columns = merge_facts((self._columns, facts.columns or {}))
            if families is not None:
                families.add(list(unpack_rows(facts.rows)), facts.families)
            yield facts.rows

    def _read_case(self) -> Iterator[CaseRow]:
        self._has_claims = self._look_for_claims()
        page: Sequence[CaseRow] = [CaseRow("", None, None)]
        while page:
            page = self._read_case_page(page[-1].control_number)
            yield from page

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _look_for_claims(self) -> bool:
        with session() as reading:
            return has_claims(reading, self._import.case_id)

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _read_case_page(self, after: str) -> list[CaseRow]:
        place = {"case_id": self._import.case_id, "after": after, "most": ROWS_PER_PAGE}
        with session() as reading:
            rows = [CaseRow(*row) for row in reading.execute(_CASE_ROWS, place)]
            last = rows[-1].control_number if rows else after
            claims = list_claims_between(reading, self._import.case_id, after, last) if self._has_claims else []
        # The last one is where the next page begins.
        return [*(CaseRow(*claim, is_claim=True) for claim in claims), *rows]

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _find_held(self, numbers: Sequence[str]) -> set[str]:
        with session() as reading:
            return set(reading.scalars(_HELD, {"case_id": self._import.case_id, "numbers": numbers}))

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _find_existing(self, keys: Collection[str]) -> set[str]:
        with session() as reading:
            return find_existing(reading, self._import.case_id, keys)

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


def _list_conflicts(families: FamilyReferences, layout: Layout) -> Iterator[EndFinding]:
    found = [*describe_listed(families.find_listed(), layout.titles)]
    found += describe_cycles(families.find_cycles(), layout.titles)
    for column, message in found:
        yield EndFinding(WarningCode.FAMILY_CONFLICT.value, 0, column, message)
