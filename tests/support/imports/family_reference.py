"""Which document is the parent of which, from a dictionary of documents and a list of what was stated; no product code.

Every document is compared with every statement, in the words of docs/load-files.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

ORDER = ("begin", "range", "group")


class Doc(NamedTuple):
    """A document: its id, numbers, the parent of its own column, its import and line, and earlier begins."""

    id: int
    number: str
    bates: str | None
    parent: str | None
    import_id: int
    line: int
    claims: tuple[str, ...] = ()


class Said(NamedTuple):
    """What was stated of a document: the kind, the keys (none: withdrawn), the import and line (0: by a user)."""

    doc: int
    kind: str
    keys: tuple[str, ...]
    import_id: int
    line: int


def find_parents(docs: Sequence[Doc], said: Sequence[Said]) -> dict[str, str | None]:
    """The parent of every document; the statements are in the order in which they were made."""
    return {doc.number: _find_parent(doc, docs, said) for doc in docs}


def find_family(number: str, parents: Mapping[str, str | None]) -> set[str]:
    """The documents of the case that are connected with one by parents."""
    family, size = {number}, 0
    while size < len(family):
        size = len(family)
        family |= {child for child, parent in parents.items() if parent in family}
        family |= {parent for child, parent in parents.items() if child in family and parent in parents and parent}
    return family


def _find_parent(doc: Doc, docs: Sequence[Doc], said: Sequence[Said]) -> str | None:
    place = max((n for n, each in enumerate(said) if each.doc == doc.id and each.kind == "parent"), default=-1)
    last = {each.kind: each for n, each in enumerate(said) if n > place and each.doc == doc.id}
    groups = _list_current_groups([each for each in said if each.doc == doc.id])
    if groups:
        # The same group again is the group of the file that stated it first.
        last["group"] = groups[0]
    if doc.parent is not None and not _is_replaced(doc, said, last.get("begin"), explicit=place >= 0):
        return doc.parent
    for kind in ORDER:
        found = _find_head(doc, last[kind], docs, said) if kind in last and last[kind].keys else None
        if found:
            return found
    return _find_lister(doc, docs, said, place)


def _is_replaced(doc: Doc, said: Sequence[Said], begin: Said | None, *, explicit: bool) -> bool:
    """Whether the parent was filled from the begin of the family, and another file has stated that since."""
    first = [each for each in said if (each.doc, each.kind, each.import_id) == (doc.id, "begin", doc.import_id)]
    derived = bool(first) and first[0].keys == (doc.parent,)
    return not explicit and derived and begin is not None and begin.import_id != doc.import_id


def _find_head(doc: Doc, stated: Said, docs: Sequence[Doc], said: Sequence[Said]) -> str | None:
    [key] = stated.keys
    if key in (doc.number, doc.bates):
        return None
    found = [each for each in docs if key in (each.number, each.bates, *each.claims)]
    if found:
        first = _first(found, key, stated.import_id)
        return None if first.id == doc.id else first.number
    if stated.kind == "group":
        by_id = {each.id: each for each in docs}
        members = [each for each in _list_current_groups(said) if each.keys == (key,)]
        own = [each for each in members if each.import_id == stated.import_id and each.doc in by_id]
        head = by_id[min(own, key=lambda each: each.line).doc]
        return None if head.id == doc.id else head.number
    return None


def _list_current_groups(said: Sequence[Said]) -> list[Said]:
    """Those of each document's groups that nothing but the same group follows."""
    kinds = [each for each in said if each.kind in ("group", "parent")]
    return [
        each
        for n, each in enumerate(kinds)
        if each.kind == "group"
        and all((later.kind, later.keys) == ("group", each.keys) for later in kinds[n:] if later.doc == each.doc)
    ]


def _first(docs: Sequence[Doc], key: str, import_id: int) -> Doc:
    def rank(each: Doc) -> tuple[bool, int, int, int]:
        place = [each.bates, each.number, *each.claims].index(key)
        return each.import_id != import_id, min(place, 2), each.import_id, each.line

    return min(docs, key=rank)


def _find_lister(doc: Doc, docs: Sequence[Doc], said: Sequence[Said], after: int) -> str | None:
    last = {each.doc: n for n, each in enumerate(said) if each.kind == "members"}
    own = {doc.number, doc.bates}
    listing = [
        (not own & {*said[n].keys}, said[n].import_id != doc.import_id, said[n].import_id, said[n].line, lister.number)
        for lister in docs
        for n in ([last[lister.id]] if lister.id in last else [])
        if lister.id != doc.id and n > after and {*own, *doc.claims} & {*said[n].keys}
    ]
    return min(listing)[-1] if listing else None
