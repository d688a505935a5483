"""Find the exhibits that the rows of an overlay name, and lock them.

Guaranteed: a row has exactly one exhibit, or is rejected with the reason, or creates one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.orm import Session

from core.bates_numbers import describe_shared_number
from core.cells.keys import show_text
from core.codes import Rejection
from core.errors import ConflictError, UnavailableError
from core.load_file.rows import RowError
from core.load_mode import OverlayKey
from shell.exhibits.updates import KeyedExhibit, find_by_key, has_key, lock_exhibits
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.comparison import CHANGED_MEANWHILE
from shell.imports.chunks.conflicts import REMOVED_MEANWHILE
from shell.imports.chunks.results import RowResults
from shell.imports.chunks.similar_ids import describe_near_miss, find_similar_ids, warn_of_similar
from shell.imports.corrections.changed_since import describe_missing
from shell.imports.rows.coercion import StorableRow


class OverlayTargets:
    """The exhibits of one attempt at one chunk; adds rejected rows to `results`, and rows that create some to `new`."""

    def __init__(self, chunk_input: ChunkInput, results: RowResults) -> None:
        self._input, self._results = chunk_input, results
        self._key = chunk_input.layout.load_mode.overlay_key
        self.new: list[StorableRow] = []

    def find(self, transaction: Session, *, locked: bool) -> list[tuple[StorableRow, KeyedExhibit]]:
        """Return the rows that have one exhibit, with it, in the order of the file; the others are rejected or `new`.

        Raises ConflictError if an exhibit gets another key before it is locked, UnavailableError if it is removed.
        """
        held = self._list_held() if locked else {}
        keys = {str(row.control_number) for row in self._input.valid}
        case_id, any_number = self._input.import_record.case_id, self._input.layout.any_number
        found = find_by_key(transaction, case_id, self._key, keys - held.keys(), any_number=any_number)
        targets: list[tuple[StorableRow, int]] = []
        similar = self._find_similar(transaction, keys - held.keys() - found.keys())
        lines: dict[int, int] = {}
        for row in self._input.valid:
            key = str(row.control_number)
            exhibits = found.get(key, [])
            if key in held or len(exhibits) == 1:
                exhibit_id = held[key] if key in held else exhibits[0].id
                first_line = lines.setdefault(exhibit_id, row.source.line_no)
                if first_line != row.source.line_no:
                    # The split has looked for such rows in the whole file; the document got the number since.
                    self._results.rejected.append((row, [describe_same_document(first_line)]))
                    continue
                targets.append((row, exhibit_id))
                if self._key is OverlayKey.BATES_BEGIN and exhibits and exhibits[0].bates_begin != key:
                    self._results.by_number.add(row.source.line_no)
            elif not exhibits and row.source.seen_version is not None:
                self._results.rejected.append((row, [describe_missing(key, row.source.seen_version)]))
            elif not exhibits and self._input.layout.load_mode.creates:
                self.new.append(warn_of_similar(row, similar[key], self._column) if key in similar else row)
            else:
                self._results.rejected.append((row, [self._describe(key, exhibits, similar)]))
        current = {each.id: each for exhibits in found.values() for each in exhibits}
        if locked:
            current = self._lock(transaction, targets)
        # Reports name a document by its control number, whatever the key is.
        return [(row._replace(control_number=current[i].control_number), current[i]) for row, i in targets]

    def _list_held(self) -> dict[str, int]:
        """Return the ids of exhibits that were found before the transaction, by a key that one exhibit can have."""
        if self._key is not OverlayKey.CONTROL_NUMBER:
            return {}
        return {number: stored.id for number, stored in self._input.held.items()}

    def _lock(self, transaction: Session, targets: Sequence[tuple[StorableRow, int]]) -> dict[int, KeyedExhibit]:
        current = lock_exhibits(transaction, [exhibit_id for _, exhibit_id in targets])
        if any(exhibit_id not in current for _, exhibit_id in targets):
            # Every attempt has the ids that were found before the transaction.
            raise UnavailableError(REMOVED_MEANWHILE)
        keyed = {str(row.control_number): current[exhibit_id] for row, exhibit_id in targets}
        if not has_key(transaction, self._input.import_record.case_id, self._key, keyed):
            raise ConflictError(CHANGED_MEANWHILE)
        return current

    def _find_similar(self, transaction: Session, keys: Collection[str]) -> Mapping[str, str]:
        """Return the control numbers of the case that resemble keys which it lacks."""
        if self._key is not OverlayKey.CONTROL_NUMBER or not keys:
            return {}
        return find_similar_ids(transaction, self._input.import_record.case_id, self._input.import_record.id, keys)

    @property
    def _column(self) -> str | None:
        titles = self._input.layout.titles
        return titles.get(self._key.value) or titles.get("bates_begin")

    def _describe(self, key: str, exhibits: Sequence[KeyedExhibit], similar: Mapping[str, str]) -> RowError:
        if exhibits:
            message = describe_shared_number([exhibit.control_number for exhibit in exhibits], len(exhibits))
            return RowError(Rejection.AMBIGUOUS_KEY, self._column, f"{message} Overlay them by control number.")
        if key in similar:
            return RowError(Rejection.NOT_IN_CASE, self._column, describe_near_miss(key, similar[key]))
        name = "begin Bates number" if self._key is OverlayKey.BATES_BEGIN else "id"
        advice = "Correct it, or use append_overlay" if self._key is OverlayKey.CONTROL_NUMBER else "Correct it"
        message = f"The case has no document with the {name} {show_text(key)}. {advice}."
        return RowError(Rejection.NOT_IN_CASE, self._column, message)


def describe_same_document(first_line: int) -> RowError:
    """Return why a row is rejected whose key is another number of a document that an earlier row names."""
    message = f"Line {first_line} of this file names the same document by another of its numbers. Keep one of the two."
    return RowError(Rejection.DUPLICATE_ID, None, message)
