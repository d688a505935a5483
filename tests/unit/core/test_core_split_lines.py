"""Lines, their sizes and the evidence for an encoding are what decoding the bytes as a whole says."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.load_file import encoding as enc

BYTES = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b"\xc3\xa9", b"\xc3", b"\xa9", b"\xf0\x9f\x98\x80", b"\x85", b"\x0c"])
    | st.binary(max_size=3),
    max_size=30,
).map(b"".join)


@pytest.mark.parametrize("encoding", [*enc.SUPPORTED, enc.BYTEWISE])
@given(raw=BYTES)
def test_lines_are_the_text_cut_behind_every_lf(encoding: str, raw: bytes) -> None:
    text, lines = enc.decode(raw, encoding), enc.split_lines(raw, encoding)
    assert lines.texts == re.findall(r"[^\n]*\n|[^\n]+\Z", text)
    assert lines.bare_cr == (re.search(r"\r(?!\n)", text) is not None)
    ends = [sum(lines.sizes[:count]) for count in range(len(lines.sizes) + 1)]
    pieces = [raw[start:end] for start, end in pairwise(ends)]
    assert b"".join(pieces) == raw
    assert [enc.decode(piece, encoding) for piece in pieces] == lines.texts
    assert lines.slice_from(2).texts == lines.texts[2:]
    assert lines.slice_from(2).sizes == lines.sizes[2:]


@given(st.lists(BYTES, max_size=3))
def test_evidence_counts_characters_that_are_not_ascii_and_bytes_that_are_no_utf_8(raws: list[bytes]) -> None:
    evidence = enc.Utf8Evidence()
    for raw in raws:
        evidence.add(raw)
    texts = [raw.decode("utf-8", "surrogateescape") for raw in raws]
    invalid = sum("\udc80" <= character <= "\udcff" for text in texts for character in text)
    assert evidence.invalid == invalid
    assert evidence.valid == sum(not character.isascii() for text in texts for character in text) - invalid
