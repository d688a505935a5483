"""Image keys that are any number of a document: which pages count does not depend on the order of the chunks."""

from __future__ import annotations

import pytest

from core.image_load_file.limits import Limits
from core.image_load_file.splitter import ImageSplitter
from shell.imports.splitting import image_split
from shell.imports.splitting.duplicate_ids import SpilledIds
from tests.support.application.driver import World
from tests.support.imports.image_load_files import opt

FIRST = b"Control Number,Begin Bates\r\nA-1,SM001\r\nA-2,SM004\r\nA-3,SM005\r\n"
SECOND = b"Control Number,Begin Bates\r\nA-1,DOE0101\r\nA-2,DOE0104\r\nA-3,DOE0105\r\n"
# By both numbers of two documents, in either order, with other numbers of pages.
KEYS = (("SM001", 1), ("DOE0104", 1), ("DOE0105", 4), ("DOE0101", 2), ("SM004", 3))
_PAGES = """
    SELECT e.control_number, COUNT(*) FROM exhibits AS e JOIN cases AS c ON c.id = e.case_id
    JOIN pages AS p ON p.page_set_id = e.page_set_id WHERE c.name = :case GROUP BY 1 ORDER BY 1
"""
_REJECTED = "SELECT line_no, code FROM import_rejections WHERE import_id = :i ORDER BY 1"


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of one document."""
    limits = Limits(chunk_documents=1)
    monkeypatch.setattr(
        image_split, "ImageSplitter", lambda kind, encoding, mark: ImageSplitter(kind, encoding, mark, limits)
    )


def run_in_orders(world: World) -> set[tuple[tuple[object, ...], ...]]:
    """The pages and rejections that the same files leave, in cases of their own, with other orders of chunks."""
    outcomes = set()
    for seed in range(4):
        case = f"Case {seed}"
        world.run(FIRST, case=case)
        world.run(SECOND, case=case, mode="overlay")
        images = world.run(opt(*KEYS), name="images.opt", case=case, shuffle=seed)
        found = (*world.query(_PAGES, case=case), *world.query(_REJECTED, i=images))
        outcomes.add(tuple(tuple(row) for row in found))
    return outcomes


def test_the_first_line_that_names_a_document_gives_it_its_pages(world: World) -> None:
    [outcome] = run_in_orders(world)
    repeated = ((7, "OPT_DUPLICATE_KEY"), (9, "OPT_DUPLICATE_KEY"))
    assert outcome == (("A-1", 1), ("A-2", 1), ("A-3", 4), *repeated)


def test_without_the_search_for_documents_that_are_named_twice_the_order_decides(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SpilledIds, "find_unordered_repeats", lambda *_: iter(()))
    assert len(run_in_orders(world)) > 1
