"""Repeated keys are found exactly, and as a dictionary would find them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from shell.imports.splitting.duplicate_ids import MAX_BUFFERED, MAX_BUFFERED_CHARACTERS, PARTITIONS, SpilledIds

Keys = list[tuple[str, int]]


@contextmanager
def spilled(*batches: Keys, max_buffered: int = MAX_BUFFERED) -> Iterator[SpilledIds]:
    with tempfile.TemporaryDirectory() as folder:
        keys = SpilledIds(folder, max_buffered)
        for batch in batches:
            keys.add(batch)
        yield keys
        keys.close()


def repeats(*batches: Keys, at_most: int = 1000, max_buffered: int = MAX_BUFFERED) -> list[tuple[int, int]]:
    with spilled(*batches, max_buffered=max_buffered) as keys:
        return sorted(pair for found in keys.find_repeats(at_most) for pair in found)


def oracle(keys: Keys) -> list[tuple[int, int]]:
    first: dict[str, int] = {}
    return sorted((line, first[key]) for key, line in keys if first.setdefault(key, line) != line)


KEYS = st.lists(st.text(max_size=3) | st.sampled_from(["A", "a", "A ", "Å", "A\u030a", "\udcff", "\0"]), max_size=60)


@given(KEYS, st.sampled_from([10, 2**33]), st.integers(0, 9), st.integers(1, 7))
def test_repeats_are_those_that_a_dictionary_finds_in_memory_or_on_disk(
    names: list[str], first_line: int, held: int, batch: int
) -> None:
    keys = [(name, first_line + 3 * at) for at, name in enumerate(names)]
    batches = [keys[at : at + batch] for at in range(0, len(keys), batch)]
    assert repeats(*batches) == oracle(keys)
    assert repeats(*batches, at_most=3, max_buffered=held) == oracle(keys)


def test_more_keys_than_parts_are_distinguished() -> None:
    keys = [(f"EXH{number % 4_000:07d}", number) for number in range(10_000)]
    found = repeats(keys)
    assert len(keys) > 4 * PARTITIONS
    assert found == oracle(keys)


def test_lists_of_repeats_are_as_long_as_requested() -> None:
    with spilled([("A", line) for line in range(1, 12)]) as keys:
        assert [len(found) for found in keys.find_repeats(4)] == [4, 4, 2]


def test_repeats_may_be_listed_again_and_between_additions() -> None:
    with spilled([("A", 1), ("A", 2)]) as keys:
        assert list(keys.find_repeats(9)) == list(keys.find_repeats(9)) == [[(2, 1)]]
        keys.add([("A", 3)])
        assert list(keys.find_repeats(9)) == [[(2, 1), (3, 1)]]


def test_files_are_made_when_more_keys_wait_than_may() -> None:
    with tempfile.TemporaryDirectory() as folder:
        keys = SpilledIds(folder, max_buffered=10)
        keys.add([(f"A{line}", line) for line in range(10)])
        assert list(Path(folder).iterdir()) == []
        keys.add([("A10", 10)])
        assert list(Path(folder).iterdir()) != []
        keys.close()


def test_long_keys_do_not_wait_in_memory(tmp_path: Path) -> None:
    keys = SpilledIds(str(tmp_path))
    long = "x" * 100_000
    for line in range(1, 101):
        keys.add([(f"{line % 50} {long}", line)])
        assert sum(len(key) for key, _ in keys._buffer) <= MAX_BUFFERED_CHARACTERS
    assert sorted(pair for some in keys.find_repeats(1_000) for pair in some) == [
        (line, line - 50) for line in range(51, 101)
    ]
    keys.close()
