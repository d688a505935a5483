"""Scripts of imports in any mode, of edits and of undos, as hypothesis draws them, and a replay of their files.

The replay knows the bytes of the files and the requests, and neither the history nor what an import was seen to change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.torture.models.fold import CUSTODIAN, FIELD, ROW_HASH, TAG, Document, Value, Write, compare, default, fold
from tests.torture.models.overlay_rows import Outcome, create, judge_file, list_stated, overlay
from tests.torture.plans.overlays import BATES_BEGIN, CONTROL_NUMBER, OverlayPlan

NUMBERS = tuple(f"A-{number}" for number in range(1, 5))
# By column: what a cell may hold. So few values that many rows repeat what is stored.
CELLS: Mapping[str, Sequence[str]] = {
    "Title": ("", "one", "two", "Two", "  "),
    BATES_BEGIN: ("", "N-1", "N-2", "N-3", " N-2"),
    "Parent": ("", *NUMBERS),
    "Custodian": ("", "Smith", "SMITH;Jones", "Brown"),
    "Tags": ("", "hot", "Hot;cold", "cold"),
    "Date Sent": ("", "2001-01-31", "31 Jan 2001", "2001-01-31 10:00", "2001-02-30"),
    "Document Date": ("", "2001-01-31", "2001-01-31 10:00"),
    "Author": ("", "Ann", "Bob"),
    "Pages": ("", "1", "2"),
}
FAMILY_FREE = tuple(name for name in CELLS if name != "Parent")


@dataclass(frozen=True)
class Edit:
    """A request of a user: `kind` is title, tag, untag or custodian, `value` what it sets, adds or removes."""

    number: str
    kind: str
    value: str


@dataclass(frozen=True)
class Undo:
    """Undo one of the imports before it, counted from the first one."""

    which: int


Step = OverlayPlan | Edit | Undo


@st.composite
def loads(
    draw: st.DrawFn, columns: Sequence[str] = tuple(CELLS), common: Mapping[str, str] | None = None
) -> OverlayPlan:
    """An import of up to six rows, with some of the columns, in any mode; half of the cells are the `common` ones."""
    mode = draw(st.sampled_from(["append", "overlay", "overlay", "append_overlay"]))
    by_bates = mode == "overlay" and draw(st.integers(0, 4)) == 0
    key = BATES_BEGIN if by_bates else CONTROL_NUMBER
    chosen = [name for name in columns if name != key and draw(st.booleans())] or ["Title"]
    keys = CELLS[key] if by_bates else NUMBERS
    numbers = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=6))
    choices = {name: (*CELLS[name], *([common[name]] * len(CELLS[name]) if common else ())) for name in chosen}
    rows = [(number, *(draw(st.sampled_from(choices[name])) for name in chosen)) for number in numbers]
    return OverlayPlan(
        columns=(key, *chosen),
        rows=tuple(rows),
        mode=mode,
        blanks=draw(st.sampled_from(["keep", "clear"])),
        multi_values=draw(st.sampled_from(["merge", "replace"])),
        overlay_key="bates_begin" if by_bates else "control_number",
    )


_EDITS = st.one_of(
    st.builds(Edit, st.sampled_from(NUMBERS), st.just("title"), st.sampled_from(["one", "edited"])),
    st.builds(Edit, st.sampled_from(NUMBERS), st.sampled_from(["tag", "untag"]), st.sampled_from(["hot", "mine"])),
    st.builds(Edit, st.sampled_from(NUMBERS), st.just("custodian"), st.sampled_from(["Smith", "Eve"])),
)


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    """An import that creates all documents; then imports, edits and undos in any order, without families.

    A script has one common cell for each column, which its rows repeat.
    """
    common = {name: draw(st.sampled_from([cell for cell in CELLS[name] if cell.strip()])) for name in FAMILY_FREE}
    rows = [(each, *(draw(st.sampled_from(CELLS[name])) for name in FAMILY_FREE)) for each in NUMBERS]
    first = OverlayPlan((CONTROL_NUMBER, *FAMILY_FREE), tuple(rows))
    imports = loads(FAMILY_FREE, common)
    others = st.one_of(_EDITS, st.builds(Undo, st.integers(0, 7)))
    return [first, *draw(st.lists(st.one_of(imports, imports, others), min_size=2, max_size=10))]


@dataclass
class ReplayedDocument:
    """A document: the import that created it, from what columns, its first values, and every write since, in order.

    `claims` are its other Bates numbers, each with the import that states it.
    """

    creator: int
    columns: Sequence[str]
    created: Document
    writes: list[Write] = field(default_factory=list)
    unchanged_by: list[int] = field(default_factory=list)
    claims: set[tuple[int, str]] = field(default_factory=set)

    def fold(self, undone: set[int]) -> Document:
        """Return the values that the creating row and the writes that count leave."""
        return fold(self.created, self.writes, undone)

    def claim(self, import_id: int, cells: Mapping[str, str], before: Document, after: Document) -> None:
        """Add the number that a row of an overlay states, and the one that it replaces if nothing claims that."""
        old = before[FIELD, "bates_begin"]
        if isinstance(old, str) and old != after[FIELD, "bates_begin"] and all(old != each for _, each in self.claims):
            self.claims.add((self.creator, old))
        if stated := cells.get(BATES_BEGIN, "").strip():
            self.claims.add((import_id, stated))

    def order_names(self, names: Sequence[str]) -> list[str]:
        """Return names of properties in the order in which they are stored."""
        known = [name for name in self.columns if name in names]
        return known + sorted(set(names) - set(known))


@dataclass
class Replay:
    """What a case should hold: what the rows of the files state, in their order, and what requests name.

    A row that changes nothing of its document when it is imported states nothing.
    """

    documents: dict[str, ReplayedDocument] = field(default_factory=dict)
    undone: set[int] = field(default_factory=set)

    def load(self, import_id: int, plan: OverlayPlan, rejected: set[int]) -> None:
        """Replay a file; `rejected` are its lines that an append rejected, because values differ."""
        before = self.expect()
        numbers = dict(enumerate(before))
        keys = {each: (number, before[number][FIELD, "bates_begin"]) for each, number in numbers.items()}
        claimed = {each: {begin for _, begin in self.documents[number].claims} for each, number in numbers.items()}
        outcome: Outcome = judge_file(plan, keys, claimed)
        for line, cells in plan.lines().items():
            if line in outcome.created:
                self.documents[outcome.created[line]] = ReplayedDocument(import_id, plan.columns, create(cells))
            elif line in outcome.targets:
                number = numbers[outcome.targets[line]]
                is_equal = line not in rejected
                if plan.mode != "append":
                    after = overlay(before[number], cells, plan)
                    self.documents[number].claim(import_id, cells, before[number], after)
                    is_equal = not compare(before[number], after)
                    if not is_equal:
                        stated, whole = list_stated(before[number], cells, plan)
                        values = {key: after.get(key, default(key)) for key in stated}
                        self.documents[number].writes.append(Write(import_id, values, whole))
                if is_equal:
                    self.documents[number].unchanged_by.append(import_id)

    def edit(self, edit: Edit) -> None:
        """Replay a request of a user, which counts even if it changes nothing; a removal only where it removes."""
        key = {"title": (FIELD, "title"), "custodian": (CUSTODIAN, edit.value.lower())}.get(
            edit.kind, (TAG, edit.value)
        )
        value: Value = edit.value if edit.kind == "title" else edit.kind != "untag"
        if value is not False or key in self.expect()[edit.number]:
            self.documents[edit.number].writes.append(Write(None, {key: value}))

    def undo(self, import_id: int) -> dict[int, int]:
        """Take an import back: its documents go unless a write that counts has happened to them.

        Return how many of the documents that go or change each import that counts found unchanged since.
        """
        before = self.expect()
        self.undone.add(import_id)
        found: dict[int, int] = {}
        for number, document in list(self.documents.items()):
            is_live = any(write.import_id not in self.undone for write in document.writes)
            if document.creator != import_id:
                document.claims = {each for each in document.claims if each[0] != import_id}
            if document.creator == import_id and not is_live:
                del self.documents[number]
            elif document.creator == import_id or not compare(before[number], document.fold(self.undone)):
                continue
            for other in document.unchanged_by:
                if other > import_id and other not in self.undone:
                    found[other] = found.get(other, 0) + 1
        return found

    def expect(self) -> dict[str, Document]:
        """The values of all documents."""
        return {number: document.fold(self.undone) for number, document in self.documents.items()}

    def has_first_values(self, number: str) -> bool:
        """Return whether a document has the values of the row that created it, whatever its links are."""
        document = self.documents[number]
        changed = compare(document.created, document.fold(self.undone))
        return not any(part not in (CUSTODIAN, TAG) for part, _ in changed.keys() - {ROW_HASH})
