"""The history of an exhibit: how a change is stored, and what is left of a value when writers are taken back."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exhibit_history import (
    ABSENT,
    COMPRESSED_FROM_BYTES,
    Action,
    Change,
    Entry,
    Key,
    Kind,
    Stated,
    Value,
    decode_changes,
    decode_stated,
    describe_fields,
    encode_changes,
    encode_stated,
    restore_columns,
)
from core.imports.history_fold import fold_all, is_live, rename

TITLE, AUTHOR, HOT = Key(Kind.FIELD, "title"), Key(Kind.PROPERTY, "Author"), Key(Kind.TAG, "Hot")
CUSTODIAN = Key(Kind.CUSTODIAN, "Smith, J.")

texts = st.text(st.characters(codec="utf-8"), max_size=20)
values = {
    Kind.FIELD: st.none() | texts,
    Kind.PROPERTY: st.none() | texts | st.just(ABSENT),
    Kind.CUSTODIAN: st.booleans(),
    Kind.TAG: st.booleans(),
}


@st.composite
def changes(draw: st.DrawFn) -> dict[Key, Change]:
    keys = draw(st.sets(st.builds(Key, st.sampled_from(Kind), texts), max_size=30))
    return {key: Change(draw(values[key.kind]), draw(values[key.kind])) for key in sorted(keys)}


@given(changes())
def test_what_is_encoded_is_decoded(written: dict[Key, Change]) -> None:
    stored = encode_changes(written)
    assert decode_changes(stored) == written
    assert encode_changes(dict(reversed(written.items()))) == stored


def test_a_change_is_stored_as_json_without_absent_values() -> None:
    written = {
        TITLE: Change("A", "B"),
        AUTHOR: Change(ABSENT, "x"),
        Key(Kind.PROPERTY, "Pages"): Change(None, ABSENT),
        CUSTODIAN: Change(False, True),
    }
    assert encode_changes(written) == (
        b'{"fields":{"title":{"old":"A","new":"B"}},'
        b'"properties":{"Author":{"new":"x"},"Pages":{"old":null}},'
        b'"custodians":{"Smith, J.":{"old":false,"new":true}}}'
    )


@given(st.sets(st.builds(Key, st.sampled_from(Kind), texts), max_size=40), st.sets(st.sampled_from(Kind)))
def test_what_is_stated_is_decoded(keys: set[Key], whole: set[Kind]) -> None:
    stated = Stated(frozenset(keys), frozenset(whole))
    assert decode_stated(encode_stated(stated)) == stated


def test_what_a_row_states_is_stored_as_names_and_unknown_members_are_left_out() -> None:
    stated = Stated(frozenset([TITLE, HOT]), frozenset([Kind.CUSTODIAN]))
    assert encode_stated(stated) == b'{"fields":["title"],"tags":["Hot"],"whole":["custodians"]}'
    later = b'{"fields":["title"],"families":["x"],"whole":["families","tags"]}'
    assert decode_stated(later) == Stated(frozenset([TITLE]), frozenset([Kind.TAG]))
    for damaged in (b"{", b"[]", b'{"whole":5}', b'{"tags":5}'):
        with pytest.raises(ValueError, match="damaged"):
            decode_stated(damaged)


@pytest.mark.parametrize("excess", [0, 1])
def test_more_than_500_bytes_are_compressed(excess: int) -> None:
    bare = len(encode_changes({TITLE: Change("", None)}))
    written = {TITLE: Change("x" * (COMPRESSED_FROM_BYTES - 1 - bare + excess), None)}
    stored = encode_changes(written)
    assert decode_changes(stored) == written
    assert stored.startswith(b"{") is not bool(excess)
    assert len(zlib.decompress(stored) if excess else stored) == 500 + excess


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"{",
        b"[]",
        zlib.compress(b"[]"),
        zlib.compress(b'{"fields":{}}')[:-3],
        b'{"fields":{"title":{"new":"B"}}}',
        b'{"fields":{"title":{"old":1,"new":"B"}}}',
        b'{"fields":{"title":"B"}}',
        b'{"properties":{"Author":{"old":"A","now":"B"}}}',
        b'{"tags":{"Hot":{"new":true}}}',
        b'{"tags":{"Hot":{"old":null,"new":true}}}',
    ],
)
def test_damaged_changes_are_refused(stored: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        decode_changes(stored)


def test_kinds_of_a_later_version_are_left_out() -> None:
    """Functions of this version read the history while those of the next one write it."""
    known = Key(Kind.FIELD, "title")
    stored = b'{"fields":{"title":{"old":"A","new":"B"}},"families":{"begin":{"old":7,"new":8}}}'
    assert decode_changes(stored) == {known: Change("A", "B")}


def test_columns_become_text_and_columns_again() -> None:
    columns = {
        "title": "Plan",
        "bates_begin": None,
        "document_date": datetime(2019, 12, 31, 23, 59, 59),
        "row_hash": bytes(range(32)),
        "date_precision": "T-D--",
    }
    fields = describe_fields(columns)
    assert (fields["document_date"], fields["row_hash"]) == ("2019-12-31 23:59:59.000000", bytes(range(32)).hex())
    assert (fields["document_date_precision"], fields["date_sent_precision"]) == ("T", None)
    assert restore_columns(fields, None) == columns


def test_the_precision_of_another_date_is_kept() -> None:
    assert restore_columns({"date_sent_precision": "T"}, "D----") == {"date_precision": "DT---"}
    assert restore_columns({"document_date_precision": None}, "D----") == {"date_precision": None}
    assert restore_columns({"title": None}, "D----") == {"title": None}


KEYS = (TITLE, AUTHOR, HOT)
IMPORTS = range(1, 5)
Writer = int | None


@dataclass
class Exhibit:
    """An exhibit whose writers keep a history, and beside it the writes that are replayed in a dictionary."""

    start: dict[Key, Value]
    stored: dict[Key, Value] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    writes: list[tuple[Writer, dict[Key, Value]]] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.stored = dict(self.start)

    def write(self, writer: Writer, new: dict[Key, Value], undo_no: int | None = None) -> None:
        made = {key: Change(self.stored[key], value) for key, value in new.items()}
        stated = None
        if writer and undo_no is None:
            # A row of a file names what it finds equal apart from what it changes.
            stated = Stated(frozenset(key for key, change in made.items() if change.old == change.new))
            made = {key: change for key, change in made.items() if key not in stated.keys}
        action = Action.OVERLAID if writer else Action.EDITED
        entry = Entry(len(self.entries) + 2, action, "ada", made, import_id=writer, undo_no=undo_no, stated=stated)
        self.entries.append(entry)
        self.stored |= new
        if undo_no is None:
            self.writes.append((writer, new))

    def undo(self, import_id: int) -> None:
        self.undone.add(import_id)
        folded = fold_all(self.entries, lambda entry: is_live(entry, self.undone))
        self.write(import_id, {key: each.value for key, each in folded.items()}, undo_no=1)

    def undo_by_values(self, import_id: int) -> None:
        """The negative control: the old value comes back where the import's value is still stored."""
        own = [entry for entry in self.entries if entry.import_id == import_id and entry.undo_no is None]
        for entry in reversed(own):
            left = {key: change for key, change in entry.changes.items() if self.stored[key] == change.new}
            self.write(import_id, {key: change.old for key, change in left.items()}, undo_no=1)
        self.undone.add(import_id)

    def replayed(self) -> dict[Key, Value]:
        left = dict(self.start)
        for writer, new in self.writes:
            if writer not in self.undone:
                left |= new
        return left


def value_of(key: Key) -> st.SearchStrategy[Value]:
    return values[key.kind] if key.kind is Kind.TAG else st.sampled_from(["A", "B", "", None])


write = st.fixed_dictionaries({}, optional={key: value_of(key) for key in KEYS})
writes = st.tuples(st.none() | st.sampled_from(IMPORTS), write)
steps = st.lists(writes | st.sampled_from(IMPORTS), max_size=20)
beginnings = st.fixed_dictionaries(
    {TITLE: value_of(TITLE), AUTHOR: st.just(ABSENT) | value_of(AUTHOR), HOT: st.booleans()}
)


@given(beginnings, steps)
def test_after_any_writes_and_undos_only_live_writes_count(
    start: dict[Key, Value], taken: list[tuple[Writer, dict[Key, Value]] | int]
) -> None:
    exhibit = Exhibit(start)
    for step in taken:
        if isinstance(step, int):
            exhibit.undo(step)
        elif step[0] not in exhibit.undone:
            exhibit.write(*step)
        assert exhibit.stored == exhibit.replayed()


@pytest.mark.parametrize("undo", [Exhibit.undo, Exhibit.undo_by_values])
def test_a_value_that_a_user_set_again_stays(undo: Callable[[Exhibit, int], None]) -> None:
    exhibit = Exhibit({TITLE: "A"})
    exhibit.write(2, {TITLE: "B"})
    exhibit.write(None, {TITLE: "A"})
    exhibit.write(None, {TITLE: "B"})
    undo(exhibit, 2)
    assert (exhibit.stored == exhibit.replayed()) is (undo is Exhibit.undo)


@pytest.mark.parametrize("undo", [Exhibit.undo, Exhibit.undo_by_values])
def test_imports_that_are_undone_oldest_first_bring_nothing_back(undo: Callable[[Exhibit, int], None]) -> None:
    exhibit = Exhibit({TITLE: "A"})
    exhibit.write(2, {TITLE: "B"})
    exhibit.write(3, {TITLE: "C"})
    undo(exhibit, 2)
    undo(exhibit, 3)
    assert (exhibit.stored[TITLE] == "A") is (undo is Exhibit.undo)


def test_the_last_live_entry_is_named() -> None:
    exhibit = Exhibit({TITLE: "A", HOT: False})
    exhibit.write(2, {TITLE: "B", HOT: True})
    exhibit.write(None, {HOT: True})
    folded = fold_all(exhibit.entries, lambda entry: is_live(entry, {2}))
    assert folded == {HOT: (True, exhibit.entries[1]), TITLE: ("A", None)}


def test_a_statement_is_held_once() -> None:
    stored = encode_stated(Stated(frozenset([TITLE, HOT])))
    entries = [Entry(2, Action.OVERLAID, "ada", {}, stated=decode_stated(bytes(bytearray(stored)))) for _ in range(2)]
    renamed = list(rename(entries, lambda key: key.name))
    assert len({id(entry.stated) for entry in (*entries, *renamed)}) == 1
    [other, _] = rename(entries, lambda key: key.name.upper())
    assert other.stated == Stated(frozenset([TITLE, Key(Kind.TAG, "HOT")]))


def test_two_spellings_of_a_name_become_one_key() -> None:
    exhibit = Exhibit({HOT: False, Key(Kind.TAG, "HOT"): True})
    exhibit.write(2, {HOT: True})
    exhibit.write(None, {Key(Kind.TAG, "HOT"): False})
    renamed = list(rename(exhibit.entries, lambda key: key.name.capitalize()))
    assert [set(entry.changes) for entry in renamed] == [{HOT}, {HOT}]
    assert fold_all(renamed, lambda entry: is_live(entry, set()))[HOT].value is False
