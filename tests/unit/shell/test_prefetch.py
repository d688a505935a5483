"""The next item is prepared while the caller works on one; nothing else changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from shell.aws.s3 import BLOCK_BYTES, ObjectVersion
from shell.prefetch import prefetch

WAIT_S = 60


def test_the_next_item_is_prepared_while_the_caller_has_one_and_no_further_one_is_taken() -> None:
    taken: list[int] = []
    prepared = [threading.Event() for _ in range(5)]

    def items() -> Iterator[int]:
        for item in range(5):
            taken.append(item)
            yield item

    def prepare(item: int) -> int:
        prepared[item].set()
        return item

    results = prefetch(prepare, items())
    for item, result in enumerate(results):
        assert result() == item
        assert prepared[min(item + 1, 4)].wait(WAIT_S)
        assert taken == list(range(min(item + 2, 5)))
    assert taken == list(range(5))


def test_an_error_is_that_of_its_item() -> None:
    def prepare(item: int) -> float:
        return 1 / item

    first, second, third = list(prefetch(prepare, [1, 0, 2]))
    assert (first(), third()) == (1, 0.5)
    with pytest.raises(ZeroDivisionError):
        second()


def test_items_are_prepared_with_the_variables_of_the_caller() -> None:
    variable: ContextVar[str] = ContextVar("variable")
    variable.set("the caller's")
    assert [result() for result in prefetch(lambda _: variable.get(), [0, 1])] == ["the caller's"] * 2


def test_who_stops_early_waits_for_the_thread() -> None:
    threads: list[threading.Thread] = []
    results = prefetch(lambda _: threads.append(threading.current_thread()), range(5))
    next(results)
    results.close()
    assert len(threads) == 2
    assert not threads[0].is_alive()


def test_no_items_are_no_thread() -> None:
    before = threading.active_count()
    assert list(prefetch(str, [])) == []
    assert threading.active_count() == before


def test_blocks_without_a_reader_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector may close the generator in a thread that others wait for."""
    request, answered = threading.Event(), threading.Event()

    def read(_: ObjectVersion, start: int, end: int) -> bytes:
        if start:
            request.set()
            assert answered.wait(60)
        return b"x" * (end - start)

    monkeypatch.setattr(ObjectVersion, "read", read)
    blocks = ObjectVersion("bucket", "key", None, None).read_blocks(2 * BLOCK_BYTES)
    next(blocks)
    assert request.wait(60)
    closing = threading.Thread(target=blocks.close)  # type: ignore[attr-defined]
    closing.start()
    closing.join(30)
    ended = not closing.is_alive()
    answered.set()
    closing.join()
    assert ended
