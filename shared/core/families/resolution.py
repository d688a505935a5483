"""Choose the parent of a document among the documents that its statements can mean.

Guaranteed: the same documents and statements give the same parent, in whatever order they were stored. A document is
never its own parent. A parent that the exhibit's own column states comes first; then what rows state, in the order of
`FamilyKind`. Of several documents with a key, one of the file that states it comes first, then one whose begin Bates
number it is, then one whose control number it is, then the first by import and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.families.kinds import FamilyKind


class Document(NamedTuple):
    """A document of a case as families see it; `parent` is what its own column states.

    `claims` are the first numbers of other Bates ranges that it was delivered under.
    """

    id: int
    control_number: str
    bates_begin: str | None
    parent: str | None
    import_id: int
    line_no: int
    claims: tuple[str, ...] = ()

    @property
    def own_numbers(self) -> tuple[str, ...]:
        """The numbers of the document's own columns."""
        return tuple(dict.fromkeys(filter(None, (self.control_number, self.bates_begin))))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers by which statements name the document, first its own ones."""
        return tuple(dict.fromkeys((*self.own_numbers, *self.claims)))


class Statement(NamedTuple):
    """A stored statement about a document; the higher `id` is the later one. `key` is None if it withdraws others.

    `import_id` and `line_no` are None if a request made it.
    """

    id: int
    exhibit_id: int
    kind: FamilyKind
    key: str | None
    key_hash: bytes | None
    import_id: int | None
    line_no: int | None


class Parent(NamedTuple):
    """The parent of a document: its control number, and the kind and import of the statement that names it."""

    control_number: str
    kind: FamilyKind
    import_id: int | None = None


@dataclass
class Candidates:
    """What the statements of some documents can mean.

    `by_number` are documents by control number, and by begin Bates number and claim at least the first of each import;
    `first_of_group` is the first member of a group in the file of an import; `listed_by` are the documents that list a
    number as an attachment, each with its statement.
    """

    by_number: Mapping[str, Sequence[Document]] = field(default_factory=dict)
    first_of_group: Mapping[tuple[bytes, int], Document] = field(default_factory=dict)
    listed_by: Mapping[str, Sequence[tuple[Statement, Document]]] = field(default_factory=dict)


def select_current(statements: Iterable[Statement]) -> dict[FamilyKind, Statement]:
    """Return the last statement of each kind about one document that nothing later has replaced.

    A later statement of the same group replaces nothing: the rest of the group is in the file that stated it first.
    """
    current: dict[FamilyKind, Statement] = {}
    for each in sorted(statements):
        if each.kind is FamilyKind.PARENT:
            current = {each.kind: each}
        elif each.kind is not FamilyKind.MEMBERS and not _repeats_group(each, current.get(each.kind)):
            current[each.kind] = each
    return current


def _repeats_group(statement: Statement, before: Statement | None) -> bool:
    return before is not None and before.kind is FamilyKind.GROUP and statement.key_hash == before.key_hash


def find_explicit(document: Document, statements: Sequence[Statement]) -> str | None:
    """Return the parent that the document's own column states, unless a later statement takes its place.

    A column that was filled from the begin of the family, by the row that created the document, counts as that
    statement: an overlay with another begin replaces it.
    """
    current = select_current(statements)
    begin = current.get(FamilyKind.BEGIN)
    if document.parent is None or FamilyKind.PARENT in current or begin is None:
        return document.parent
    created = [each for each in statements if each.kind is FamilyKind.BEGIN and each.import_id == document.import_id]
    is_derived = bool(created) and created[0].key == document.parent
    return None if is_derived and begin.import_id != document.import_id else document.parent


def resolve(document: Document, statements: Sequence[Statement], candidates: Candidates) -> Parent | None:
    """Return the parent of a document; `statements` are all those about it."""
    explicit = find_explicit(document, statements)
    if explicit is not None:
        return Parent(explicit, FamilyKind.PARENT)
    current = select_current(statements)
    for kind in (FamilyKind.BEGIN, FamilyKind.RANGE, FamilyKind.GROUP):
        statement = current.get(kind)
        found = None if statement is None else _find_head(document, statement, candidates)
        if statement is not None and found is not None:
            return Parent(found.control_number, kind, statement.import_id)
    return _find_lister(document, current.get(FamilyKind.PARENT), candidates)


def _find_head(document: Document, statement: Statement, candidates: Candidates) -> Document | None:
    """Return the document that a statement names; None if that is the document itself, or there is none."""
    key, import_id = statement.key, statement.import_id
    if key is None or key in document.own_numbers:
        return None
    found = choose_document(candidates.by_number.get(key, ()), key, import_id)
    if found is None and statement.kind is FamilyKind.GROUP and statement.key_hash and import_id is not None:
        found = candidates.first_of_group.get((statement.key_hash, import_id))
    return None if found is None or found.id == document.id else found


def choose_document(documents: Iterable[Document], key: str, import_id: int | None) -> Document | None:
    """Return the document that a key means in a statement of an import; None if there is none."""

    def rank(each: Document) -> tuple[bool, bool, bool, int, int]:
        is_other, is_claim = each.import_id != import_id, key not in each.own_numbers
        return is_other, is_claim, each.bates_begin != key, each.import_id, each.line_no

    return min((each for each in documents if key in each.numbers), key=rank, default=None)


def _find_lister(document: Document, explicit: Statement | None, candidates: Candidates) -> Parent | None:
    """Return the first document that lists this one, by a statement later than the document's own column.

    One that lists a number of the document's own columns comes before one that lists a claim.
    """
    after = explicit.id if explicit else 0
    listing = [
        (
            *(number not in document.own_numbers, statement.import_id != document.import_id),
            *(statement.import_id or 0, statement.line_no or 0, each, statement),
        )
        for number in document.numbers
        for statement, each in candidates.listed_by.get(number, ())
        if statement.id > after and each.id != document.id
    ]
    if not listing:
        return None
    *_, lister, statement = min(listing, key=lambda each: each[:4])
    return Parent(lister.control_number, FamilyKind.MEMBERS, statement.import_id)
