"""Undos of imports that brought pages, alone and between imports of rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.errors import WrongStateError
from tests.integration.imports.images.image_imports import import_after
from tests.support.application.driver import World
from tests.support.database.empty_tables import empty_tables
from tests.support.exhibits.history import find_gaps
from tests.support.imports.image_load_files import DAT, OPT, opt, page_counts
from tests.support.undo.runs import counts, dump_documents, kept, request_undo, undo


def run(world: World, data: bytes, **options: Any) -> int:
    return world.run(data, name="images.opt", **options)


def test_an_undo_takes_the_pages_away_again(world: World) -> None:
    world.run(DAT)
    before = dump_documents(world)
    import_id = run(world, OPT)
    assert counts(undo(world, import_id)) == ("undone", 3, 0, 0, 0)
    assert dump_documents(world) == before
    assert find_gaps(world) == []
    assert world.query("SELECT (SELECT COUNT(*) FROM page_sets), (SELECT COUNT(*) FROM pages)") == [(0, 0)]


def test_an_undo_of_an_overlay_brings_the_earlier_pages_back(world: World) -> None:
    world.run(DAT)
    run(world, OPT)
    before = dump_documents(world)
    import_id = run(world, opt(("A-1", 3), ("A-2", 2)), mode="overlay")
    assert counts(undo(world, import_id)) == ("undone", 2, 0, 0, 0)
    assert dump_documents(world) == before


def test_pages_that_were_replaced_since_are_kept(world: World) -> None:
    world.run(DAT)
    first = run(world, OPT)
    second = run(world, opt(("A-1", 3)), mode="overlay")
    assert counts(undo(world, first)) == ("undone_with_conflicts", 2, 0, 1, 0)
    assert kept(first) == [(1, "A-1", "CHANGED_SINCE", "page_set_id")]
    undo(world, second)
    assert page_counts(world) == {}


def test_what_an_overlay_of_rows_changed_is_left_when_the_pages_go(world: World) -> None:
    world.run(DAT)
    images = run(world, OPT)
    rows = world.run(b"Control Number,Title\r\nA-1,new\r\n", mode="overlay")
    undo(world, images)
    assert world.query("SELECT title, page_set_id FROM exhibits WHERE control_number = 'A-1'") == [("new", None)]
    undo(world, rows)
    assert world.query("SELECT title, page_set_id FROM exhibits WHERE control_number = 'A-1'") == [("one", None)]


def test_documents_with_pages_stay_until_the_pages_are_undone_and_then_go_with_them(world: World) -> None:
    before = dump_documents(world)
    rows = world.run(DAT)
    images = run(world, OPT)
    assert undo(world, rows).status.value == "undone_with_conflicts"
    undo(world, images)
    assert counts(undo(world, rows)) == ("undone", 0, 3, 0, 0)
    assert dump_documents(world) == before
    assert world.query("SELECT (SELECT COUNT(*) FROM page_sets), (SELECT COUNT(*) FROM pages)") == [(0, 0)]


def test_the_rows_of_a_volume_are_undone_after_its_images(world: World) -> None:
    rows = world.run(DAT)
    images = import_after(world, rows, OPT)
    with pytest.raises(WrongStateError, match=f"Import {images} added the images"):
        request_undo(rows)
    undo(world, images)
    assert counts(undo(world, rows)) == ("undone", 0, 3, 0, 0)


def test_rows_that_were_run_from_a_check_are_undone_after_the_images_of_a_later_import(world: World) -> None:
    rows, again = world.run(DAT), world.run(DAT)
    images = import_after(world, again, OPT)
    world.query("UPDATE imports SET volume_id = 7")
    with pytest.raises(WrongStateError, match=f"Import {images} added the images"):
        request_undo(rows)


DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(["A-1", "A-2", "A-3", "A-9"]), st.integers(1, 3)), min_size=1, unique_by=lambda d: d[0]
)
TITLES = st.dictionaries(st.sampled_from(["A-1", "A-2", "A-3"]), st.sampled_from(["one", "uno"]), min_size=1)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("images"), DOCUMENTS, st.sampled_from(["append", "overlay"])),
        st.tuples(st.just("rows"), TITLES, st.sampled_from(["append", "overlay", "append_overlay"])),
    ),
    min_size=1,
    max_size=5,
)


def step(world: World, kind: str, what: Any, mode: str) -> int:
    """Import pages by document, or titles by document."""
    if kind == "images":
        return run(world, opt(*what), mode=mode)
    rows = "".join(f"{number},{title}\r\n" for number, title in what.items())
    return world.run(f"Control Number,Title\r\n{rows}".encode(), mode=mode)


@pytest.mark.slow
@hypothesis_settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=STEPS)
def test_undos_in_reverse_leave_what_there_was_before_each_import(
    world: World, steps: list[tuple[str, Any, str]]
) -> None:
    empty_tables(world.engine)
    world.run(DAT)
    done = []
    for each in steps:
        before = dump_documents(world)
        done.append((step(world, *each), before))
    for import_id, before in reversed(done):
        undo(world, import_id)
        assert dump_documents(world) == before
    assert find_gaps(world) == []


def test_undos_in_any_order_leave_what_the_other_imports_leave(world: World) -> None:
    world.run(DAT)
    ids = [run(world, opt(("A-1", number), ("A-2", 1)), mode="overlay") for number in (1, 2, 3)]
    undo(world, ids[1])
    assert page_counts(world) == {"A-1": 3, "A-2": 1}
    undo(world, ids[2])
    assert page_counts(world) == {"A-1": 1, "A-2": 1}
    undo(world, ids[0])
    assert page_counts(world) == {}
