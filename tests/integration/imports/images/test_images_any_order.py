"""One result for every order and repetition of the chunks of an image load file, kills and other writers included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from core.contracts.exhibits import ExhibitChange
from core.contracts.taggings import TaggingRequest
from core.image_load_file.limits import Limits
from core.image_load_file.splitter import ImageSplitter
from shell.db.session import session
from shell.exhibits.commands import add_taggings, patch_exhibit
from shell.exhibits.updates import KeyedExhibit, lock_exhibits
from shell.imports.images import decisions
from shell.imports.splitting import image_split
from tests.integration.imports.import_requests import CALLER, deliver_during
from tests.integration.imports.test_import_limits import statements_of
from tests.support.application.driver import World, complete_imports
from tests.support.application.handler_processes import Workers
from tests.support.exhibits.history import find_gaps, read_history
from tests.support.imports.image_load_files import counted, found, opt, pages, results

NUMBERS = [f"A-{number:03}" for number in range(60)]
DAT = ("Control Number\r\n" + "".join(f"{number}\r\n" for number in NUMBERS)).encode()
# A duplicate in another chunk than the first, an unknown key, and lines before the first document.
FILE = (
    b"X,V,x.tif,,,,\r\n"
    + opt(*((number, 1 + index % 3) for index, number in enumerate(NUMBERS[:50])), ("B-1", 2))
    + opt((NUMBERS[3], 1), *((number, 2) for number in NUMBERS[50:]))
)
Outcome = tuple[object, ...]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of seven documents."""
    limits = Limits(chunk_documents=7)
    monkeypatch.setattr(
        image_split, "ImageSplitter", lambda kind, encoding, mark: ImageSplitter(kind, encoding, mark, limits)
    )


def outcome(world: World, import_id: int) -> Outcome:
    """All that an import leaves but the ids that the server gave."""
    versions = world.query("SELECT control_number, version FROM exhibits ORDER BY 1")
    history = [each[:3] for each in read_history(world)]
    assert find_gaps(world) == []
    shown = [(number, page, key, path) for number, page, key, path, *_ in pages(world)]
    rejected = found(world)
    return (shown, results(world, import_id), counted(world, import_id), rejected, versions, sorted(history))


def run(world: World, data: bytes = FILE, case: str = "Case") -> int:
    return world.run(data, name="images.opt", case=case)


@pytest.fixture
def expected(world: World) -> Outcome:
    """What one worker leaves that gets the chunks in order; the case is new again afterwards."""
    world.run(DAT, case="First")
    found_first = outcome(world, run(world, case="First"))
    for table in ("pages", "page_sets", "exhibit_changes", "exhibits", "import_rejections", "import_chunk_files"):
        world.query(f"DELETE FROM {table}")
    return found_first


def test_chunks_in_any_order_three_times(world: World, expected: Outcome) -> None:
    world.run(DAT)
    import_id = world.run(FILE, name="images.opt", shuffle=5, times=3)
    assert outcome(world, import_id) == expected
    assert results(world, import_id) == ("completed_with_rejections", 63, 60, 0, 0, 3)


def test_chunks_of_four_workers(world: World, expected: Outcome, workers: Workers) -> None:
    world.run(DAT)
    import_id = world.start(FILE, name="images.opt")
    messages = world.chunk_messages()
    assert len(messages) > 8
    assert all(workers.deliver("import_chunk", messages))
    complete_imports()
    assert outcome(world, import_id) == expected


def test_a_worker_that_is_killed_in_its_transaction_leaves_nothing(
    world: World, expected: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(DAT)
    import_id = world.start(FILE, name="images.opt")
    messages = world.chunk_messages()

    def fail(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr("shell.imports.images.writer.complete_chunk", fail)
        assert not any(world.import_chunk(message) for message in messages)
    assert world.query("SELECT COUNT(*) FROM page_sets") == [(0,)]
    for message in messages:
        assert world.import_chunk(message)
    assert outcome(world, import_id) == expected


def import_during(world: World, workers: Workers, write: Callable[[Session], object]) -> int:
    """Import in another process, which waits for what `write` locks in a transaction; return the import's id."""
    import_id = world.start(opt(("A-000", 2)), name="images.opt")
    messages = world.chunk_messages()
    deliver_during(world, workers, write, messages)
    complete_imports()
    return import_id


def test_an_edit_and_a_tag_that_the_import_waited_for_are_kept(world: World, workers: Workers) -> None:
    world.run(DAT)
    [(exhibit,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-000'")
    change = ExhibitChange.model_validate({"title": "edited"})
    tagging = TaggingRequest.model_validate({"exhibitIds": [exhibit], "tags": ["hot"]})

    def write(writing: Session) -> None:
        patch_exhibit(writing, CALLER, exhibit, {1}, change)
        add_taggings(writing, CALLER, tagging)

    import_during(world, workers, write)
    assert find_gaps(world) == []
    assert [(version, action) for _, version, action, *_ in read_history(world)] == [
        (2, "edited"),
        (3, "tagged"),
        (4, "overlaid"),
    ]
    assert world.query("SELECT title, version FROM exhibits WHERE id = :i", i=exhibit) == [("edited", 4)]


def test_without_the_lock_on_the_document_its_history_has_a_conflict(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(DAT)
    [(exhibit,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-000'")
    change = ExhibitChange.model_validate({"title": "edited"})

    def edit_instead_of_locking(
        transaction: Session, case_id: int, key: object, targets: list[decisions.Target]
    ) -> list[decisions.Target]:
        with session() as writing:
            patch_exhibit(writing, CALLER, exhibit, {1}, change)
        return targets

    monkeypatch.setattr(decisions, "_lock", edit_instead_of_locking)
    world.start(opt(("A-000", 2)), name="images.opt")
    [message] = world.chunk_messages()
    assert not world.import_chunk(message)


def test_a_document_whose_key_changes_before_it_is_locked_is_looked_up_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(b"Control Number,Bates Begin\r\nA-1,N-1\r\nA-2,N-2\r\n")
    changed: list[object] = []

    def change_first(transaction: Session, ids: list[int]) -> dict[int, KeyedExhibit]:
        if not changed:
            changed.append(world.query("UPDATE exhibits SET bates_begin = 'N-9' WHERE control_number = 'A-1'"))
        return lock_exhibits(transaction, ids)

    monkeypatch.setattr(decisions, "lock_exhibits", change_first)
    run(world, opt(("N-1", 1), ("N-2", 1)))
    assert found(world) == [(1, "OPT_DOC_NOT_FOUND", "N-1")]


def count_statements(world: World, documents: int, pages_each: int) -> int:
    """The statements of the one chunk of a file that replaces the pages of so many documents."""
    world.start(opt(*((number, pages_each) for number in NUMBERS[:documents])), name="images.opt", mode="overlay")
    [message] = world.chunk_messages()
    return statements_of(world, message)


def test_the_statements_of_a_chunk_do_not_depend_on_its_documents_and_pages(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_split, "ImageSplitter", ImageSplitter)
    world.run(DAT)
    count_statements(world, 60, 1)
    counts = {count_statements(world, *each) for each in ((2, 3), (60, 2), (60, 40))}
    assert len(counts) == 1
    assert counts.pop() < 25
