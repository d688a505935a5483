"""What the models and the replay say of histories that are put before them, without an application."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from tests.torture.findings import LOST, MISPLACED
from tests.torture.models.fold import FIELD, PROPERTY, ROW_HASH, TAG, Document, Key, compare
from tests.torture.models.history import Course, Replay
from tests.torture.models.overlay_rows import SOURCE, create, judge_file, list_companions, overlay
from tests.torture.models.stored_documents import Entry, Stored
from tests.torture.models.undo import TakenBack, find_reason_to_stay, take_back
from tests.torture.plans.overlays import OverlayPlan, UndoPlan, draw_steps

FIRST = OverlayPlan(("Control Number", "Title", "Tags"), (("A-1", "one", "hot"),))
SECOND = OverlayPlan(("Control Number", "Title"), (("A-1", "two"),), mode="overlay")
TITLE: Key = (FIELD, "title")
KEYS = {7: ("A-1", None)}
HASHED = {ROW_HASH: ("00", None)}


def _entry(version: int, action: str, import_id: int | None = None, undo_no: int | None = None, **more: Any) -> Entry:
    line = 2 if action == "overlaid" else None
    return Entry(version, action, import_id, line, undo_no, more["changes"], more.get("stated", frozenset()))


def _replay(entries: Iterable[Entry], **last: str | None) -> list[str]:
    course = Course({1: judge_file(FIRST, {}), 2: judge_file(SECOND, KEYS)}, {(2, 1): frozenset({2})})
    values: Document = {**create(FIRST.lines()[2]), ROW_HASH: "00"}
    values = {**values, **{(FIELD, name): value for name, value in last.items()}}
    stored = Stored(7, "A-1", 1, 2, 9, values, list(entries))
    return [each.kind for each in Replay(stored, course).run()]


EDIT = _entry(2, "edited", changes={TITLE: ("one", "mine"), **HASHED})
NUMBER: Key = (PROPERTY, "Control Number")
OVERLAY = _entry(3, "overlaid", 2, changes={TITLE: ("mine", "two"), ROW_HASH: (None, None)}, stated=frozenset({NUMBER}))
UNDO = _entry(4, "undone", 2, 1, changes={TITLE: ("two", "mine")})


def test_a_history_whose_entries_follow_each_other_holds() -> None:
    assert _replay([]) == []
    assert _replay([EDIT, OVERLAY, UNDO], title="mine", row_hash=None) == []


def test_an_overlay_of_values_that_were_there_before_an_edit_has_lost_it() -> None:
    late = OVERLAY._replace(changes={TITLE: ("one", "two"), ROW_HASH: (None, None)})
    assert LOST in _replay([EDIT, late], title="two", row_hash=None)


def test_a_value_that_no_entry_explains_is_lost() -> None:
    assert _replay([EDIT], title="one", row_hash=None) == [LOST]


def test_an_overlay_that_changes_more_than_its_row_says_is_misplaced() -> None:
    more = {(FIELD, "file_name"): (None, "a.msg"), **OVERLAY.changes}
    assert MISPLACED in _replay([EDIT, OVERLAY._replace(changes=more)], title="two", file_name="a.msg", row_hash=None)
    assert MISPLACED in _replay([EDIT, OVERLAY._replace(line=3)], title="two", row_hash=None)


def test_an_overlay_that_states_more_or_less_than_its_row_says_is_misplaced() -> None:
    for stated in (frozenset[Key](), frozenset({NUMBER, TITLE})):
        assert MISPLACED in _replay([EDIT, OVERLAY._replace(stated=stated)], title="two", row_hash=None)
    assert MISPLACED in _replay([EDIT, OVERLAY._replace(whole=frozenset({TAG}))], title="two", row_hash=None)
    assert MISPLACED in _replay([EDIT._replace(stated=frozenset({NUMBER}))], title="mine", row_hash=None)


def test_an_overlay_records_a_date_with_all_that_is_set_with_it() -> None:
    """Without the members that are equal, an undo would combine dates of two imports."""
    plan = OverlayPlan(("Control Number", "Date Sent"), (("A-1", "2001-01-31"),), mode="overlay")
    before = create({"Control Number": "A-1", "Date Sent": "2001-01-31 10:00"})
    cells = plan.lines()[2]
    companions = list_companions(before, cells, plan, compare(before, overlay(before, cells, plan)))
    dates = {(FIELD, f"{date}{end}") for date in ("date_sent", "document_date") for end in ("", "_precision")}
    assert companions == {*dates, SOURCE, (PROPERTY, "Date Sent")}
    assert list_companions(before, cells, plan, {TITLE}) == set()


def test_an_undo_that_brings_back_another_value_than_that_without_the_import_is_misplaced() -> None:
    first = UNDO._replace(changes={TITLE: ("two", "one")})
    assert MISPLACED in _replay([EDIT, OVERLAY, first], title="one", row_hash=None)
    unexpected = UNDO._replace(undo_no=2)
    assert MISPLACED in _replay([EDIT, OVERLAY, unexpected], title="mine", row_hash=None)


def test_a_value_that_a_user_gave_after_the_import_is_kept_though_it_is_that_of_the_import() -> None:
    again = _entry(4, "edited", changes={TITLE: ("two", "two"), ROW_HASH: (None, None)})
    taken = take_back({TITLE: "one", ROW_HASH: "00"}, [EDIT, OVERLAY, again], 2, {2})
    assert taken.changes == {}
    assert taken.kept == frozenset({("CHANGED_SINCE", TITLE)})


def test_of_two_imports_that_are_undone_the_older_one_first_nothing_is_left() -> None:
    third = _entry(3, "overlaid", 3, changes={TITLE: ("two", "three"), ROW_HASH: (None, None)})
    second = _entry(2, "overlaid", 2, changes={TITLE: ("one", "two"), **HASHED})
    created: Document = {TITLE: "one", ROW_HASH: "00"}
    assert take_back(created, [second, third], 2, {2}).changes == {}
    assert take_back(created, [second, third], 3, {2, 3}).changes == {TITLE: ("three", "one"), ROW_HASH: (None, "00")}


def test_a_value_and_a_tag_that_another_import_states_stay_and_the_hash_comes_back_with_all_values() -> None:
    hot: Key = (TAG, "hot")
    first = _entry(2, "overlaid", 2, changes={TITLE: ("one", "two"), hot: (False, True), **HASHED})
    author = {(PROPERTY, "Author"): ("(absent)", "Ann"), ROW_HASH: (None, None)}
    second = _entry(3, "overlaid", 3, changes=author, stated=frozenset({TITLE, hot}))
    created: Document = {TITLE: "one", ROW_HASH: "00"}
    assert take_back(created, [first, second], 2, {2}) == TakenBack()
    back = take_back(created, [first, second], 3, {2, 3})
    assert back.changes == {
        TITLE: ("two", "one"),
        hot: (True, False),
        (PROPERTY, "Author"): ("Ann", "(absent)"),
        ROW_HASH: (None, "00"),
    }


def test_a_document_that_the_import_has_not_written_to_does_not_get_its_hash_back() -> None:
    back = _entry(3, "edited", changes={TITLE: ("mine", "one"), ROW_HASH: (None, None)})
    created: Document = {TITLE: "one", ROW_HASH: "00"}
    assert take_back(created, [EDIT, back], 2, {2}) == TakenBack()
    unchanged = _entry(4, "overlaid", 2, changes={(TAG, "hot"): (False, True)})
    assert ROW_HASH in take_back(created, [EDIT, back, unchanged], 2, {2}).changes


def test_a_kind_of_links_that_is_stated_as_a_whole_has_no_others() -> None:
    old: Key = (TAG, "old")
    first = _entry(2, "overlaid", 2, changes={old: (True, False)})
    second = _entry(3, "overlaid", 3, changes={(TAG, "cold"): (False, True)})._replace(whole=frozenset({TAG}))
    assert take_back({old: True}, [first, second], 2, {2}) == TakenBack()
    assert take_back({old: True}, [first, second._replace(whole=frozenset())], 2, {2}).changes == {old: (False, True)}


def test_a_document_stays_for_users_and_not_for_imports_that_are_undone() -> None:
    tagged = _entry(4, "tagged", changes={(TAG, "hot"): (True, True)})
    assert find_reason_to_stay([OVERLAY], {1, 2}) is None
    assert find_reason_to_stay([OVERLAY, tagged], {1, 2}) == "TAGGED_SINCE"
    assert find_reason_to_stay([EDIT, OVERLAY, tagged], {1, 2}) == "CHANGED_SINCE"


def test_blank_cells_clear_and_names_replace_only_if_the_options_say_so() -> None:
    plan = OverlayPlan(("Control Number", "Title", "Tags", "Author"), (), mode="overlay")
    before = create({"Control Number": "A-1", "Title": "one", "Tags": "hot", "Author": "Ann"})
    cells = {"Control Number": "A-1", "Title": " ", "Tags": "", "Author": ""}
    assert overlay(before, cells, plan) == before
    clearing = overlay(before, cells, OverlayPlan(plan.columns, (), mode="overlay", blanks="clear"))
    assert (clearing[TITLE], (PROPERTY, "Author") in clearing, clearing[TAG, "hot"]) == (None, False, True)
    both = OverlayPlan(plan.columns, (), mode="overlay", blanks="clear", multi_values="replace")
    assert (TAG, "hot") not in overlay(before, cells, both)
    cold = overlay(before, {**cells, "Tags": "cold"}, OverlayPlan(plan.columns, (), mode="overlay"))
    assert cold[TAG, "hot"] is cold[TAG, "cold"] is True


def test_every_seed_overlays_and_undoes_and_some_undo_the_first_file() -> None:
    plans = [list(draw_steps(random.Random(seed))) for seed in range(200)]
    for steps in plans:
        undos = [each for each in steps if isinstance(each, UndoPlan)]
        assert undos
        assert sum(isinstance(each, OverlayPlan) for each in steps) >= 3
        files = [each for each in steps if isinstance(each, OverlayPlan)]
        assert all(each.which < len(files) for each in undos)
    files = [each for steps in plans for each in steps if isinstance(each, OverlayPlan)]
    undos = [each for steps in plans for each in steps if isinstance(each, UndoPlan)]
    assert {(each.is_cancelled, each.is_left) for each in files} == {(False, False), (True, False), (True, True)}
    assert {each.which == 0 for each in undos} == {True, False}
    assert {each.is_tried for each in undos} == {each.is_by_two for each in undos} == {True, False}
