"""A pass that is stopped after any block and resumed elsewhere finds what an undisturbed one finds."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.load_file import resumable_sha256
from core.load_file.resumable_sha256 import ResumableSha256
from core.load_file.splitter import Splitter
from samples.generator import Generated
from tests.unit.core.file_reading import clear_files, every, read_file, resume_elsewhere
from tests.unit.core.test_small_limits import LIMITS, arguments, split

PIECES = st.lists(st.binary(max_size=200), max_size=6)


def findings(splitter: Splitter) -> tuple[Any, ...]:
    """What a pass found beside its chunks."""
    counts = (splitter.repeated_headers, splitter.byte_order_marks, splitter.rows_seen, splitter.bytes_read)
    return (*counts, splitter.sha256, splitter.ids, splitter.evidence, splitter.date_orders)


@pytest.mark.parametrize("limit", LIMITS)
@given(drawn=arguments())
def test_a_pass_resumed_after_every_block_finds_the_same(limit: int, drawn: tuple[str, int, dict[str, Any]]) -> None:
    text, step, manner = drawn
    undisturbed, resumed = (split(text, limit, step, **manner, stops=stops) for stops in (False, True))
    assert resumed.chunks == undisturbed.chunks
    assert findings(resumed.splitter) == findings(undisturbed.splitter)


@given(generated=clear_files(), size=st.sampled_from((7, 100, 3_000)))
def test_a_load_file_resumed_after_every_block_has_the_same_chunks_and_layout(generated: Generated, size: int) -> None:
    cuts = every(size, generated.data)
    undisturbed, resumed = (
        read_file(generated.data, generated.options, chunk_rows=3, cuts=cuts, stops=stops) for stops in (False, True)
    )
    assert (resumed.chunks, resumed.layout) == (undisturbed.chunks, undisturbed.layout)
    assert findings(resumed.splitter) == findings(undisturbed.splitter)


def test_the_rest_of_a_record_is_lost_if_the_bytes_after_the_position_are_not_read_again() -> None:
    """The negative control of the two tests above."""
    data = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"
    reading = read_file(data, cuts=[30], stops=True)
    splitter = Splitter(reading.opening, 1000)
    list(splitter.feed(data[:34]))
    fresh = Splitter(reading.opening, 1000)
    state = splitter.export_state()
    assert state is not None
    fresh.resume(state, lambda _start, _end: b"", tuple)
    list(fresh.feed(data[34:]))
    assert [chunk.sha256 for chunk in fresh.finish()] != [chunk.sha256 for chunk in reading.chunks]


def test_there_is_no_state_inside_of_the_header_or_of_a_record_over_the_limit() -> None:
    data = b'Control Number,Title\r\nA-1,"' + b"x" * 100 + b'"\r\nA-2,two\r\n'
    splitter = Splitter(read_file(data).opening, 1000, max_record_bytes=20)
    known = [
        (list(splitter.feed(data[at : at + 10])), splitter.export_state() is not None)[1] for at in range(0, 140, 10)
    ]
    assert known[:2] == [False, False]
    assert True in known[2:4]
    assert False in known[4:]
    assert known[-1]


def test_a_splitter_without_a_state_goes_on_itself() -> None:
    opening = read_file(b"Control Number\r\nA-1\r\n").opening
    splitter = Splitter(opening, 1000)
    assert resume_elsewhere(Splitter(opening, 1000), splitter, b"") is splitter


@given(before=PIECES, after=PIECES)
def test_a_digest_goes_on_from_its_state(before: list[bytes], after: list[bytes]) -> None:
    digest = ResumableSha256()
    for piece in before:
        digest.update(piece)
    assert digest.digest() == hashlib.sha256(b"".join(before)).digest()
    resumed = ResumableSha256(digest.export_state(), lambda: before)
    for piece in after:
        resumed.update(piece)
    assert resumed.digest() == hashlib.sha256(b"".join([*before, *after])).digest()


def test_openssl_is_available_here() -> None:
    """Otherwise the tests above would not use its state."""
    assert ResumableSha256().export_state() is not None


def test_without_openssl_the_bytes_before_are_hashed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = ResumableSha256().export_state()
    monkeypatch.setattr(resumable_sha256, "_load_library", lambda: None)
    digest = ResumableSha256(state, lambda: [b"before "])
    assert digest.export_state() is None
    digest.update(b"after")
    assert digest.digest() == hashlib.sha256(b"before after").digest()
