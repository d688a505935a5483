"""After any undo a document has a row hash exactly if its values are those of the row that created it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from core.exhibit_history import ABSENT, Action, Change, Entry, Key, Kind, Value
from core.imports.history_fold import is_live
from core.imports.undo import ROW_HASH, drop_properties, restore

TITLE, FIRST, SECOND = Key(Kind.FIELD, "title"), Key(Kind.PROPERTY, "First"), Key(Kind.PROPERTY, "Second")
CREATED: dict[Key, Value] = {TITLE: "one", FIRST: ABSENT, SECOND: "y", ROW_HASH: "aa"}
IMPORTS = range(2, 6)


@dataclass
class Document:
    """A document, as writers leave it."""

    values: dict[Key, Value] = field(default_factory=lambda: dict(CREATED))
    entries: list[Entry] = field(default_factory=list)

    def write(self, import_id: int | None, new: dict[Key, Value]) -> None:
        changed = {key: value for key, value in new.items() if value != self.values[key]}
        if changed:
            self.apply(import_id, None, changed if self.values[ROW_HASH] is None else {**changed, ROW_HASH: None})

    def undo(self, import_id: int, undone: set[int], *, fits: bool) -> None:
        restored = restore(self.entries, import_id, lambda entry: is_live(entry, undone), self.values)
        if not fits:
            restored = drop_properties(restored, self.entries, self.values)
        self.apply(import_id, 1, {key: change.new for key, change in restored.changes.items()})

    def apply(self, import_id: int | None, undo_no: int | None, new: dict[Key, Value]) -> None:
        changes = {key: Change(self.values[key], value) for key, value in new.items()}
        version = len(self.entries) + 2
        self.entries.append(Entry(version, Action.OVERLAID, "ada", changes, import_id=import_id, undo_no=undo_no))
        self.values |= new


texts = st.sampled_from(["one", "two", "y"])
new_values = st.fixed_dictionaries({}, optional={TITLE: texts, FIRST: texts | st.just(ABSENT), SECOND: texts})
steps = st.lists(
    st.tuples(st.none() | st.sampled_from(IMPORTS), new_values) | st.tuples(st.sampled_from(IMPORTS), st.booleans()),
    max_size=12,
)


@given(steps)
def test_the_row_hash_is_that_of_the_values_also_if_properties_do_not_fit(
    script: list[tuple[int | None, dict[Key, Value] | bool]],
) -> None:
    document, undone = Document(), set[int]()
    for import_id, step in script:
        if isinstance(step, dict):
            if import_id not in undone:
                document.write(import_id, step)
        elif import_id is not None:
            undone.add(import_id)
            document.undo(import_id, undone, fits=step)
            has_values = all(document.values[key] == CREATED[key] for key in (TITLE, FIRST, SECOND))
            assert (document.values[ROW_HASH] == CREATED[ROW_HASH]) is has_values
