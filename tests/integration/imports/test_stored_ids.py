"""Repeated ids are found exactly in parts that are stored in S3, partition by partition."""

from __future__ import annotations

import random
import tempfile

import pytest

from core.errors import FileRefusedError
from shell.aws.s3 import write_stream
from shell.imports.splitting import stored_ids
from shell.imports.splitting.duplicate_ids import PARTITIONS, SpilledIds
from shell.imports.splitting.stored_ids import StoredIds
from tests.support.application.driver import World

ALPHABET = ["A", "a", "A ", "Å", "A\u030a", "\udcff", "\0", "é"]


def store(world: World, parts: list[list[tuple[str, int]]]) -> list[str]:
    """Write the parts; returns their keys."""
    keys = []
    with tempfile.TemporaryDirectory() as folder:
        spilled = SpilledIds(folder, 7)
        for number, part in enumerate(parts):
            for start in range(0, len(part), 5):
                spilled.add(part[start : start + 5])
            keys.append(f"splits/1/{number}")
            write_stream(world.bucket, keys[-1], spilled.pack(), "application/octet-stream")
            spilled.clear()
        spilled.close()
    return keys


def find_all(ids: StoredIds) -> tuple[list[tuple[int, int]], int]:
    """All repeats, and the number of groups."""
    found, start, groups = [], 0, 0
    while start < PARTITIONS:
        end = ids.find_group_end(start)
        found += [pair for pairs in ids.find_repeats(start, end, 3) for pair in pairs]
        start, groups = end, groups + 1
    return sorted(found), groups


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_repeats_are_those_that_a_dictionary_finds(world: World, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = random.Random(seed)
    keys = ["".join(rng.choices(ALPHABET, k=rng.randint(1, 3))) for _ in range(300)]
    lines = [(key, 2**33 + 3 * number) for number, key in enumerate(keys)]
    cuts = sorted(rng.sample(range(300), 20))
    parts = [lines[start:end] for start, end in zip([0, *cuts], [*cuts, 300], strict=True)]
    first: dict[str, int] = {}
    expected = sorted((line, first[key]) for key, line in lines if first.setdefault(key, line) != line)
    stored = store(world, parts)
    assert find_all(StoredIds(world.bucket, stored)) == (expected, 1)
    monkeypatch.setattr("shell.imports.splitting.stored_ids.GROUP_BYTES", 500)
    found, groups = find_all(StoredIds(world.bucket, stored))
    assert (found, groups > 10) == (expected, True)


def test_what_is_read_and_not_yet_compared_is_limited_in_bytes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = StoredIds(world.bucket, store(world, [[("A" * 100, number)] for number in range(20)]))
    monkeypatch.setattr("shell.imports.splitting.stored_ids.READ_BYTES", 400)
    read: list[int] = []

    def read_range(place: stored_ids.Range) -> bytes:
        read.append(place[2] - place[1])
        return b"x" * read[-1]

    monkeypatch.setattr("shell.imports.splitting.stored_ids._read_range", read_range)
    waiting, compared = [], 0
    for piece in ids._read(0, PARTITIONS):
        waiting.append(sum(read) - compared)
        compared += len(piece)
    assert compared == sum(read) == 20 * 120
    assert max(waiting) == 360


def test_a_part_that_does_not_exist_is_refused(world: World) -> None:
    with pytest.raises(FileRefusedError):
        StoredIds(world.bucket, [*store(world, [[("A", 1)]]), "splits/1/gone"])
