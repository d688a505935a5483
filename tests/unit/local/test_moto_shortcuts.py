"""moto gives the same responses with the shortcuts as without."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from local.services.moto_shortcuts import is_retained, keep_last_content


class Key:
    """An object of S3 that counts how often its content is read."""

    def __init__(self, content: bytes) -> None:
        self.content, self.reads = content, 0

    def read(self) -> bytes:
        self.reads += 1
        return self.content

    def write(self, content: bytes) -> None:
        self.content = content

    value = keep_last_content(property(read, write))


def test_the_content_of_the_object_that_was_read_last_is_read_once() -> None:
    first, second = Key(b"first"), Key(b"second")
    assert [first.value, first.value, second.value, first.value] == [b"first", b"first", b"second", b"first"]
    assert (first.reads, second.reads) == (2, 1)
    first.value = b"new"
    assert first.value == b"new"


@pytest.mark.parametrize(("age_s", "retained"), [(59, True), (61, False)])
def test_a_message_is_retained_for_the_queue_s_period(age_s: int, *, retained: bool) -> None:
    backend: Any = SimpleNamespace(get_queue={"queue": SimpleNamespace(message_retention_period=60)}.get)
    message = SimpleNamespace(sent_timestamp=(time.time() - age_s) * 1000)
    assert is_retained(backend, "queue", message) is retained
