"""Find the documents of an import that have an attachment which stays, over all generations of their families.

Guaranteed: the answer does not depend on which parts of the undo have run: an attachment that the import created stays
for the same reasons for which its own part keeps it. An attachment of another import, or of a user, counts if it was
attached after the import had begun: before, its parent was missing, and will be missing again.
Not guaranteed: that an attachment which is made while the parent is being removed keeps it; that a document with more
than GENERATIONS below it in other parts goes at once: then it stays, and can be removed by undoing the import again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence

from sqlalchemy.orm import Session

from core.exhibit_history import Entry, Key, Kind
from core.imports.history_fold import find_first_values, fold_all
from core.imports.undo import Kept
from shell.exhibits.updates import KeyedExhibit
from shell.families.reading import has_statements
from shell.imports.undo.context import CreatedDocument, UndoContext
from shell.imports.undo.histories import read_histories
from shell.imports.undo.stated_families import find_parent_numbers, find_stated_descendants
from shell.imports.undo.store import GENERATIONS, Attachment, find_descendants

FindReasons = Callable[[Session, UndoContext, Collection[KeyedExhibit]], Mapping[int, Sequence[Kept]]]
_PARENT = Key(Kind.FIELD, "parent_control_number")


def find_staying_children(
    reading: Session,
    context: UndoContext,
    created: Sequence[CreatedDocument],
    kept: Container[int],
    find_reasons: FindReasons,
) -> dict[int, str]:
    """Return the control number of an attachment that stays, by the id of each document that has one.

    `created` are the documents of one part, `kept` the ids of those that stay for other reasons.
    """
    parents = {each.exhibit.control_number: each.exhibit.id for each in created if each.exhibit.id not in kept}
    if not parents:
        return {}
    staying: dict[str, str] = {}
    links: list[tuple[str, str]] = []
    # The documents of this part are known, and are most of the attachments.
    case_id, known = context.import_record.case_id, [each.exhibit.id for each in created]
    stated = has_statements(reading, case_id)
    above = (
        find_parent_numbers(reading, case_id, created) if stated else {each.exhibit.id: each.parent for each in created}
    )
    for each in created:
        parent = above.get(each.exhibit.id)
        if parent is not None:
            _note(each.exhibit.id in kept, parent, each.exhibit.control_number, staying, links)
    find = _find_stated if stated else _find_attachments
    found = find(reading, context, parents, known)
    own = [child for child in found if child.import_id == context.import_record.id]
    reasons = find_reasons(reading, context, [_as_exhibit(child) for child in own])
    removable = {child.id for child in own if child.id not in reasons and child.generation < GENERATIONS}
    for child in found:
        _note(child.id not in removable, child.parent, child.control_number, staying, links)
    _pass_up(staying, links)
    return {parents[number]: child for number, child in staying.items() if number in parents}


def _note(stays: bool, parent: str, child: str, staying: dict[str, str], links: list[tuple[str, str]]) -> None:
    """Note an attachment that stays, or one that only stays if an attachment of its own does."""
    if stays:
        staying.setdefault(parent, child)
    else:
        links.append((parent, child))


def _pass_up(staying: dict[str, str], links: Iterable[tuple[str, str]]) -> None:
    """Add the ancestors of parents that stay, each with its own child that stays for it."""
    by_child: dict[str, list[str]] = {}
    for parent, child in links:
        by_child.setdefault(child, []).append(parent)
    waiting = list(staying)
    while waiting:
        child = waiting.pop()
        for parent in by_child.get(child, ()):
            if parent not in staying:
                staying[parent] = child
                waiting.append(parent)


def _find_attachments(
    reading: Session, context: UndoContext, created: Mapping[str, int], known: Sequence[int]
) -> list[Attachment]:
    """Return the descendants of the part's documents (ids by number) that may stay, as they will be after the undo.

    Those with the ids `known` are left out.
    """
    children = find_descendants(reading, context.import_record, created.keys(), known)
    return _select_attached(reading, context, created, children)


def _find_stated(
    reading: Session, context: UndoContext, created: Mapping[str, int], known: Sequence[int]
) -> list[Attachment]:
    """Return the same descendants in a case where rows state families."""
    import_id = context.import_record.id
    found = find_stated_descendants(reading, context, created, known)
    parents = {each.attachment.control_number: each.attachment.id for each in found} | dict(created)
    explicit = [each.attachment for each in found if each.is_explicit]
    attached = _select_attached(reading, context, parents, explicit)
    for child, parent in (each for each in found if not each.is_explicit):
        # What this import states about documents of others goes with it.
        since = child.id > parents[child.parent] or (parent.import_id or 0) > import_id
        if child.import_id == import_id or (parent.import_id != import_id and since):
            attached.append(child)
    return attached


def _select_attached(
    reading: Session, context: UndoContext, created: Mapping[str, int], children: Sequence[Attachment]
) -> list[Attachment]:
    """Return those of the children that are attached after the undo, and were not before the import."""
    import_id = context.import_record.id
    parents = {child.control_number: child.id for child in children} | dict(created)
    plain = [child for child in children if child.version == 1]
    found = [child for child in plain if child.import_id == import_id or child.id > parents[child.parent]]
    changed = {child.id: child for child in children if child.version > 1}
    for histories in read_histories(reading, sorted(changed)):
        for exhibit_id, entries in histories.items():
            if _is_attached(context, changed[exhibit_id], entries, parents):
                found.append(changed[exhibit_id])
    return found


def _is_attached(context: UndoContext, child: Attachment, entries: Sequence[Entry], parents: Mapping[str, int]) -> bool:
    """Return whether a changed attachment is one after the undo, and was not before the import."""
    is_own = child.import_id == context.import_record.id
    if not any(_PARENT in entry.changes for entry in entries):
        return is_own or child.id > parents[child.parent]
    value, last_live = fold_all(entries, context.is_live)[_PARENT]
    if value != child.parent:
        return False
    # An entry that only states the parent attaches nothing, unless what had set it does not count.
    setting = [entry for entry in entries if context.is_live(entry) and _PARENT in entry.changes]
    if value == (setting[-1].changes[_PARENT].new if setting else find_first_values(entries)[_PARENT]):
        last_live = setting[-1] if setting else None
    if last_live is None or last_live.created_at is None:
        return is_own or child.id > parents[child.parent]
    return is_own or last_live.created_at >= context.began


def _as_exhibit(child: Attachment) -> KeyedExhibit:
    return KeyedExhibit(child.id, child.control_number, None, child.version, None, 0)
