"""Find the parents and the children of documents, from their own columns and from what rows state.

Guaranteed: only documents of one case are found; a parent is chosen by `core.families.resolution` alone, so that a
child that is found for a parent has that parent. Every statement is for all documents of a batch.
Not guaranteed: a lock. What is found is as committed when it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.families.kinds import FamilyKind, hash_key
from core.families.resolution import Candidates, Document, Parent, Statement, resolve, select_current
from shell.db.sql_literals import execute_literal, format_match
from shell.families.claims import add_claims, find_claimed
from shell.families.store import MAX_KEY_CHARACTERS

BATCH = 2_000
_DOCUMENT = "e.id, e.control_number, e.bates_begin, e.parent_control_number, e.import_id, e.line_no"
_STATEMENT = "s.id, s.exhibit_id, s.kind, s.key_text, s.key_hash, s.import_id, s.line_no"
_CLAIMS = "production_numbers AS n FORCE INDEX (ix_production_numbers_begin)"
_HAS_STATEMENTS = text("SELECT 1 FROM family_statements WHERE case_id = :case_id LIMIT 1")
# Statements of a list that the same document has replaced by another one do not count.
_IS_LAST_LIST = """NOT EXISTS (
    SELECT 1 FROM family_statements AS later FORCE INDEX (ix_family_statements_exhibit)
    WHERE later.exhibit_id = s.exhibit_id AND later.kind = 'members' AND later.id > s.id
      AND NOT (later.import_id <=> s.import_id))"""
_IS_LAST_GROUP = """NOT EXISTS (
    SELECT 1 FROM family_statements AS later FORCE INDEX (ix_family_statements_exhibit)
    WHERE later.exhibit_id = s.exhibit_id AND later.kind IN ('group', 'parent') AND later.id > s.id
      AND NOT (later.kind = 'group' AND later.key_hash <=> s.key_hash))"""
_INDEXES = {
    "id": "PRIMARY",
    "control_number": "uq_exhibits_control_number",
    "bates_begin": "ix_exhibits_bates",
    "parent_control_number": "ix_exhibits_parent",
}
_BY_KIND = {
    FamilyKind.GROUP: "s.kind = 'group'",
    FamilyKind.BEGIN: "s.kind IN ('begin', 'range', 'group')",
    FamilyKind.MEMBERS: "s.kind = 'members'",
}


def has_statements(reading: Session, case_id: int) -> bool:
    """Return whether anything is stated about families of the case, besides the exhibits' own columns."""
    return reading.execute(_HAS_STATEMENTS, {"case_id": case_id}).first() is not None


def read_documents(reading: Session, case_id: int, column: str, values: Collection[Any]) -> Iterator[Document]:
    """Yield the documents of the case whose column has one of the values, byte for byte."""
    wanted, position = set(values), ("id", "control_number", "bates_begin", "parent_control_number").index(column)
    for batch in _batches(sorted(wanted)):
        source = f"exhibits AS e FORCE INDEX ({_INDEXES[column]})"
        rows = _select(
            reading, _DOCUMENT, f"{source} WHERE e.case_id = {case_id} AND {format_match(f'e.{column}', batch)}"
        )
        yield from (each for each in (Document(*row) for row in rows) if each[position] in wanted)


def find_existing(reading: Session, case_id: int, keys: Collection[str]) -> set[str]:
    """Return those of the keys that are the control number, begin Bates number or a claim of a document of the case."""
    found = {each.control_number for each in read_documents(reading, case_id, "control_number", keys)}
    for batch in _batches(sorted(set(keys) - found)):
        source = "exhibits AS e FORCE INDEX (ix_exhibits_bates)"
        where = f"e.case_id = {case_id} AND {format_match('e.bates_begin', batch)}"
        found.update(row[0] for row in _select(reading, "DISTINCT e.bates_begin", f"{source} WHERE {where}"))
    found |= find_claimed(reading, case_id, set(keys) - found)
    return found.intersection(keys)


def find_numbers_named(reading: Session, case_id: int, import_id: int, numbers: Collection[str]) -> set[str]:
    """Return those of the numbers that rows of the import name."""
    found: set[bytes] = set()
    for batch in _batches(sorted(map(hash_key, set(numbers)))):
        where = f"case_id = {case_id} AND {format_match('key_hash', batch)} AND import_id = {import_id}"
        source = f"family_statements FORCE INDEX (ix_family_statements_key) WHERE {where}"
        found.update(bytes(row[0]) for row in _select(reading, "DISTINCT key_hash", source))
    return {number for number in numbers if hash_key(number) in found}


def find_parents(reading: Session, case_id: int, documents: Sequence[Document]) -> dict[int, Parent]:
    """Return the parent of each document that has one, by the id of the document."""
    found: dict[int, Parent] = {}
    for batch in _batches(documents):
        found.update(_find_parents(reading, case_id, add_claims(reading, batch)))
    return found


def _find_parents(reading: Session, case_id: int, documents: Sequence[Document]) -> Iterator[tuple[int, Parent]]:
    statements = read_statements(reading, case_id, [each.id for each in documents])
    current = [select_current(statements.get(each.id, ())).values() for each in documents]
    stated = [each for each in _flatten(current) if each.key is not None]
    by_number = _read_by_number(reading, case_id, {str(each.key) for each in stated})
    groups = [each for each in stated if each.kind is FamilyKind.GROUP and each.key not in by_number]
    listed_by = _read_lists(reading, case_id, _flatten(each.numbers for each in documents))
    candidates = Candidates(by_number, _read_first_of_groups(reading, case_id, groups), listed_by)
    for each in documents:
        parent = resolve(each, statements.get(each.id, ()), candidates)
        if parent is not None:
            yield each.id, parent


def _flatten(groups: Iterable[Iterable[Any]]) -> list[Any]:
    return [each for group in groups for each in group]


def read_statements(
    reading: Session, case_id: int, exhibit_ids: Collection[int], *, lists: bool = False
) -> dict[int, list[Statement]]:
    """Return what is stated about exhibits, by exhibit: about their own parents, or with `lists` their attachments."""
    kind = "s.kind = 'members'" if lists else "s.kind <> 'members'"
    found: dict[int, list[Statement]] = {}
    if exhibit_ids:
        source = "family_statements AS s FORCE INDEX (ix_family_statements_exhibit)"
        where = f"s.case_id = {case_id} AND {kind} AND {format_match('s.exhibit_id', sorted(exhibit_ids))}"
        current = f" AND {_IS_LAST_LIST}" if lists else ""
        for row in _select(reading, _STATEMENT, f"{source} WHERE {where}{current}"):
            found.setdefault(row[1], []).append(_build_statement(row))
    return found


def _read_by_number(reading: Session, case_id: int, keys: Collection[str]) -> dict[str, list[Document]]:
    """Return documents by control number, and by begin Bates number and by claim the first of each import."""
    found: dict[str, list[Document]] = {}
    for each in read_documents(reading, case_id, "control_number", keys):
        found.setdefault(each.control_number, []).append(each)
    for batch in _batches(sorted(keys)):
        firsts = (
            f"(SELECT bates_begin, import_id, MIN(line_no) AS line_no FROM exhibits FORCE INDEX (ix_exhibits_bates) "  # noqa: S608
            f"WHERE case_id = {case_id} AND {format_match('bates_begin', batch)} GROUP BY bates_begin, import_id) AS f"
        )
        joined = f"{firsts} STRAIGHT_JOIN exhibits AS e FORCE INDEX (ix_exhibits_import)"
        on = f"ON e.import_id = f.import_id AND e.line_no = f.line_no AND e.case_id = {case_id}"
        for each in (Document(*row) for row in _select(reading, _DOCUMENT, f"{joined} {on}")):
            found.setdefault(str(each.bates_begin), []).append(each)
        for number, *document in _select(reading, f"f.number, {_DOCUMENT}", _format_first_claimants(case_id, batch)):
            found.setdefault(number, []).append(Document(*document)._replace(claims=(number,)))
    return found


def _format_first_claimants(case_id: int, numbers: Sequence[str]) -> str:
    firsts = (
        "(SELECT n.bates_begin AS number, x.import_id, MIN(x.line_no) AS line_no "  # noqa: S608
        f"FROM {_CLAIMS} STRAIGHT_JOIN exhibits AS x FORCE INDEX (PRIMARY) ON x.id = n.exhibit_id "
        f"WHERE n.case_id = {case_id} AND {format_match('n.bates_begin', numbers)} "
        "GROUP BY n.bates_begin, x.import_id) AS f"
    )
    joined = f"{firsts} STRAIGHT_JOIN exhibits AS e FORCE INDEX (ix_exhibits_import)"
    return f"{joined} ON e.import_id = f.import_id AND e.line_no = f.line_no AND e.case_id = {case_id}"


def _read_claimants(reading: Session, case_id: int, numbers: Collection[str]) -> Iterator[Document]:
    """Yield every document that claims one of the numbers."""
    for batch in _batches(sorted(numbers)):
        joined = f"{_CLAIMS} STRAIGHT_JOIN exhibits AS e FORCE INDEX (PRIMARY) ON e.id = n.exhibit_id"
        where = f"n.case_id = {case_id} AND {format_match('n.bates_begin', batch)} AND e.case_id = {case_id}"
        yield from (Document(*row) for row in _select(reading, _DOCUMENT, f"{joined} WHERE {where}"))


def _read_first_of_groups(
    reading: Session, case_id: int, groups: Sequence[Statement]
) -> dict[tuple[bytes, int], Document]:
    """Return the first document of each group in the file of each import that states it."""
    found: dict[tuple[bytes, int], Document] = {}
    if groups:
        hashes, imports = ({each.key_hash for each in groups}, {each.import_id for each in groups if each.import_id})
        own = f"s.case_id = {case_id} AND s.kind = 'group' AND {format_match('s.key_hash', sorted(hashes, key=bytes))}"
        firsts = (
            "(SELECT s.key_hash, s.import_id, MIN(s.line_no) AS line_no "  # noqa: S608
            "FROM family_statements AS s FORCE INDEX (ix_family_statements_key) "
            # An undo by the previous release removes exhibits and not what was stated of them.
            "STRAIGHT_JOIN exhibits AS x FORCE INDEX (PRIMARY) ON x.id = s.exhibit_id "
            f"WHERE {own} AND {format_match('s.import_id', sorted(imports))} AND {_IS_LAST_GROUP} "
            "GROUP BY s.key_hash, s.import_id) AS f"
        )
        joined = (
            f"{firsts} STRAIGHT_JOIN family_statements AS m FORCE INDEX (ix_family_statements_key) "
            f"ON m.case_id = {case_id} AND m.key_hash = f.key_hash AND m.kind = 'group' AND m.import_id = f.import_id "
            "AND m.line_no = f.line_no STRAIGHT_JOIN exhibits AS e FORCE INDEX (PRIMARY) ON e.id = m.exhibit_id"
        )
        for key_hash, import_id, *document in _select(reading, f"m.key_hash, m.import_id, {_DOCUMENT}", joined):
            found[bytes(key_hash), import_id] = Document(*document)
    return found


def _read_lists(
    reading: Session, case_id: int, numbers: Collection[str]
) -> Mapping[str, Sequence[tuple[Statement, Document]]]:
    """Return the documents that list one of the numbers, with their statements, by number."""
    found: dict[str, list[tuple[Statement, Document]]] = {}
    for row in _select_by_key(reading, case_id, numbers, FamilyKind.MEMBERS, f" AND {_IS_LAST_LIST}"):
        statement = _build_statement(row[:7])
        found.setdefault(str(statement.key), []).append((statement, Document(*row[7:])))
    return found


def _select_by_key(
    reading: Session, case_id: int, keys: Collection[str], kind: FamilyKind, condition: str = ""
) -> Iterator[Any]:
    """Yield the statements with one of the keys, each with the document that it is about."""
    for batch in _batches(sorted(map(hash_key, keys))):
        joined = (
            "family_statements AS s FORCE INDEX (ix_family_statements_key) "
            f"STRAIGHT_JOIN exhibits AS e FORCE INDEX (PRIMARY) ON e.id = s.exhibit_id AND e.case_id = {case_id}"
        )
        where = f"s.case_id = {case_id} AND {_BY_KIND[kind]} AND {format_match('s.key_hash', batch)}{condition}"
        yield from _select(reading, f"{_STATEMENT}, {_DOCUMENT}", f"{joined} WHERE {where}")


def find_children(reading: Session, case_id: int, parents: Sequence[Document]) -> list[tuple[Document, Parent]]:
    """Return the documents of the case whose parent is one of these, each with its parent."""
    found: list[tuple[Document, Parent]] = []
    for batch in _batches(parents):
        candidates = {each.id: each for each in _list_candidates(reading, case_id, add_claims(reading, batch))}
        numbers = {each.control_number for each in batch}
        chosen = find_parents(reading, case_id, list(candidates.values()))
        found += [(candidates[each], parent) for each, parent in chosen.items() if parent.control_number in numbers]
    return found


def _list_candidates(reading: Session, case_id: int, parents: Sequence[Document]) -> Iterator[Document]:
    """Yield every document whose parent may be one of these."""
    numbers = {each.control_number for each in parents}
    yield from read_documents(reading, case_id, "parent_control_number", numbers)
    ids = [each.id for each in parents]
    groups = _flatten(read_statements(reading, case_id, ids).values())
    keys = {str(each.key) for each in groups if each.kind is FamilyKind.GROUP and each.key is not None}
    named = {*_flatten(each.numbers for each in parents), *keys}
    yield from (Document(*row[7:]) for row in _select_by_key(reading, case_id, named, FamilyKind.BEGIN))
    lists = _flatten(read_statements(reading, case_id, ids, lists=True).values())
    listed = {each.key for each in lists if each.key is not None}
    yield from read_documents(reading, case_id, "control_number", listed)
    yield from read_documents(reading, case_id, "bates_begin", listed)
    yield from _read_claimants(reading, case_id, listed)


def _build_statement(row: Any) -> Statement:
    number, exhibit_id, kind, key, key_hash, import_id, line_no = row
    if key is not None and len(key) == MAX_KEY_CHARACTERS and hash_key(key) != key_hash:
        # It was cut, and so equals no number of a document.
        key += "\u2026"
    return Statement(number, exhibit_id, FamilyKind(kind), key, key_hash, import_id, line_no)


def _batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + BATCH] for start in range(0, len(values), BATCH))


def _select(reading: Session, columns: str, rest: str) -> Iterator[Any]:
    statement = f"SELECT {columns} FROM {rest}"  # noqa: S608 - literals
    yield from execute_literal(reading.connection(), statement, "SELECT families")
