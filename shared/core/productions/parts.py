"""Divide the documents of a production into parts, each of which is a folder of the volume, and parts into steps.

Guaranteed: an execution has at most MAX_COPY_STEPS steps that copy parts, however many parts there are. Lambda allows
3,000 durable operations in an execution, which cannot be raised ("Lambda quotas"); waits and other steps need some.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_PART_OBJECTS, MAX_OBJECTS = 1_000, 2_000_000
MAX_COPY_STEPS = 2_000


def split_parts(objects: Iterable[int], documents: int) -> list[int]:
    """Return the index of the first document of each part.

    `objects` are the numbers of files of the documents, in order. A part has at most `documents` documents and 1,000
    files, or one document with more.
    """
    starts: list[int] = []
    size = 0
    for index, count in enumerate(objects):
        if not starts or index - starts[-1] == documents or size + count > MAX_PART_OBJECTS:
            starts.append(index)
            size = 0
        size += count
    return starts


def count_parts_per_step(parts: int) -> int:
    """Return how many parts a step copies: one, unless there are more parts than steps."""
    return max(1, -(-parts // MAX_COPY_STEPS))
