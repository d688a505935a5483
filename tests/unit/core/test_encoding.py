"""Bytes to lines: which encoding a file has, and that a bad byte stays in its own row."""

from __future__ import annotations

import codecs
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileRefusedError
from core.load_file import encoding as enc
from core.load_file.rows import parse_row
from tests.unit.core.file_reading import every, read_file

THORN_HEADER = "þControl Numberþ\x14þTitleþ\r\n"
HEADER = "Control Number,Title\n"


def detected(data: bytes) -> str:
    return read_file(data, cuts=every(7, data)).layout.encoding


def thorn_file(encoding: str, *titles: bytes) -> bytes:
    q = "þ".encode(encoding)
    rows = [q + b"%d" % n + q + b"\x14" + q + title + q + b"\r\n" for n, title in enumerate(titles, start=1)]
    return THORN_HEADER.encode(encoding) + b"".join(rows)


@pytest.mark.parametrize(("encoding", "bom"), [(name, bom) for bom, name in enc.BOMS])
def test_a_byte_order_mark_names_the_encoding_and_belongs_to_no_name(encoding: str, bom: bytes) -> None:
    reading = read_file(bom + (HEADER + "1,é\n").encode(encoding))
    assert reading.layout.encoding == encoding
    assert reading.layout.names == ("Control Number", "Title")
    assert reading.cells == [["1", "é"]]


def test_thorns_of_two_bytes_mean_utf_8_and_thorns_of_one_mean_cp1252() -> None:
    assert detected(thorn_file("utf-8", b"plain")) == "utf-8"
    assert detected(thorn_file("cp1252", b"plain")) == "cp1252"


def test_an_accent_in_the_last_line_decides_without_a_line_end_after_it() -> None:
    for delimiter in (",", "|", "\x14"):
        assert detected(f"DOCID{delimiter}Title\n1{delimiter}a\n2{delimiter}caf\xe9".encode("cp1252")) == "cp1252"


def test_a_thorn_byte_before_one_name_does_not_decide_for_cp1252() -> None:
    assert detected(HEADER.encode() + b"\xferik,a\n" + "1,crème brûlée\n2,Müller\n".encode()) == "utf-8"


def test_a_bad_byte_in_a_utf_8_thorn_file_costs_its_row_and_not_the_file() -> None:
    data = thorn_file("utf-8", b"caf\xc3\xa9", b"caf\xe9", b"tea")
    reading = read_file(data)
    assert reading.layout.encoding == "utf-8"
    errors = [[problem.code for problem in parse_row(r, reading.layout).errors] for r in reading.records]
    assert errors == [[], ["UNDECODABLE_BYTES"], []]
    # The negative control: as strict UTF-8 or else cp1252, the thorns themselves become two characters.
    with pytest.raises(UnicodeDecodeError):
        data.decode("utf-8")
    assert data.decode("cp1252").startswith("Ã¾Control NumberÃ¾")


@pytest.mark.parametrize("byte", [b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"])
def test_bytes_that_cp1252_does_not_have_cost_their_row(byte: bytes) -> None:
    reading = read_file(thorn_file("cp1252", b"caf\xe9", b"x" + byte))
    first, second = (parse_row(record, reading.layout) for record in reading.records)
    assert first.values["title"] == "café"
    (problem,) = second.errors
    assert (problem.code, problem.column) == ("UNDECODABLE_BYTES", "Title")
    assert f"0x{byte.hex().upper()}" in problem.message


def test_an_accent_at_the_end_of_a_long_file_still_decides_for_cp1252() -> None:
    rows = b"".join(b"%d,plain\n" % n for n in range(5_000))
    reading = read_file(HEADER.encode() + rows + b"last,caf\xe9\n", cuts=every(16_384, rows))
    assert reading.layout.encoding == "cp1252"
    assert reading.cells[-1] == ["last", "café"]


def test_few_damaged_bytes_among_many_good_sequences_leave_a_file_utf_8() -> None:
    data = (HEADER + "1,crème brûlée\n2,Müller\n").encode() + b"3,caf\xe9\n"
    reading = read_file(data)
    assert reading.layout.encoding == "utf-8"
    assert reading.cells[:2] == [["1", "crème brûlée"], ["2", "Müller"]]


def test_whatever_is_valid_utf_8_is_utf_8() -> None:
    for text in ("", "1,plain\n", "1,é\n", "1,日本語\n2,😀\n"):
        assert detected((HEADER + text).encode()) == "utf-8"


def test_an_encoding_that_was_given_wins_over_a_byte_order_mark_and_is_enough_without_one() -> None:
    data = codecs.BOM_UTF8 + b"Control Number,Title\n1,caf\xe9\n"
    reading = read_file(data, {"encoding": "cp1252"})
    assert (reading.layout.encoding, reading.cells) == ("cp1252", [["1", "café"]])
    for encoding in ("utf-16-le", "utf-16-be"):
        assert read_file((HEADER + "1,é\n").encode(encoding), {"encoding": encoding}).cells == [["1", "é"]]


def test_line_ends_are_counted_in_code_units_and_not_in_bytes() -> None:
    """U+0A41 U+0100 hold the bytes of a line end between them, U+0A0A and U+010A inside."""
    title = "\u0a41\u0100\u0a0a\u010a"
    for encoding, bom in (("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)):
        data = bom + f"Control Number,Title\n1,{title}\n2,x\n".encode(encoding)
        assert data.count("\n".encode(encoding)) + data.count(b"\n\n") > 3, "the negative control counts too many"
        reading = read_file(data, cuts=every(1, data))
        assert [(r.line_no, r.cells) for r in reading.records] == [(2, ["1", title]), (3, ["2", "x"])]


def test_an_odd_last_byte_of_utf_16_damages_the_last_row_alone() -> None:
    data = ("\ufeff" + HEADER + "1,a\n2,b").encode("utf-16-le") + b"\x41"
    reading = read_file(data, cuts=every(3, data))
    rows = [parse_row(record, reading.layout) for record in reading.records]
    assert [len(row.errors) for row in rows] == [0, 1]
    assert sum(record.byte_len for record in reading.records) == len(data) - reading.layout.body_start


NAMES = dict.fromkeys(("", "utf-7", "ebcdic", "utf-32", "shift_jis")) | {
    name: encoding
    for encoding, names in {
        "utf-8": ("UTF-8", "utf_8_sig"),
        "cp1252": ("Windows-1252", "ISO-8859-1", "ANSI", "latin-1"),
        "utf-16-le": ("UTF16-LE",),
        "utf-16-be": ("utf-16be",),
    }.items()
    for name in names
}


@pytest.mark.parametrize("name", NAMES)
def test_encodings_go_by_the_names_that_people_use(name: str) -> None:
    assert enc.find_encoding(name) == NAMES[name]


BYTES = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b"\xc3\xa9", b"\xc3", b"\xa9", b"\xf0\x9f\x98\x80", b"\x85", b"\x0c"])
    | st.binary(max_size=3),
    max_size=30,
).map(b"".join)


@pytest.mark.parametrize("encoding", [*enc.SUPPORTED, enc.BYTEWISE])
@given(raw=BYTES, cr_ends=st.booleans())
def test_lines_are_the_text_cut_behind_every_line_end(encoding: str, raw: bytes, cr_ends: bool) -> None:
    text, lines = enc.decode(raw, encoding), enc.split_lines(raw, encoding, cr_ends)
    assert lines.texts == re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z" if cr_ends else r"[^\n]*\n|[^\n]+\Z", text)
    assert lines.bare_cr == (not cr_ends and re.search(r"\r(?!\n)", text) is not None)
    ends = [sum(lines.sizes[:count]) for count in range(len(lines.sizes) + 1)]
    pieces = [raw[start:end] for start, end in pairwise(ends)]
    assert b"".join(pieces) == raw
    assert [enc.decode(piece, encoding) for piece in pieces] == lines.texts
    assert (lines.slice_from(2).texts, lines.slice_from(2).sizes) == (lines.texts[2:], lines.sizes[2:])
    end = enc.find_last_line_end(raw, encoding, cr_ends)
    # A CR at the very end, before which half a code unit may be missing, waits for its LF.
    rest = enc.decode(raw[end : len(raw) - enc.count_undecided_bytes(raw, encoding, cr_ends)], encoding)
    assert "\n" not in rest
    assert not cr_ends or "\r" not in rest
    assert end == 0 or enc.decode(raw[:end], encoding).endswith(("\n", "\r") if cr_ends else "\n")


@given(st.lists(BYTES, max_size=3))
def test_evidence_counts_characters_that_are_not_ascii_and_bytes_that_are_no_utf_8(raws: list[bytes]) -> None:
    evidence = enc.Utf8Evidence()
    for raw in raws:
        evidence.add(raw)
    texts = [raw.decode("utf-8", "surrogateescape") for raw in raws]
    invalid = sum("\udc80" <= character <= "\udcff" for text in texts for character in text)
    assert evidence.invalid == invalid
    assert evidence.valid == sum(not character.isascii() for text in texts for character in text) - invalid


UTF_8_ROWS = HEADER.encode() + "1,Grün\r\n2,plain\r\n".encode()


@pytest.mark.parametrize(
    "data", [UTF_8_ROWS, codecs.BOM_UTF8 + UTF_8_ROWS, thorn_file("utf-8", b"tea")], ids=["plain", "bom", "thorns"]
)
def test_a_file_of_utf_8_is_refused_where_its_encoding_is_given_as_cp1252(data: bytes) -> None:
    with pytest.raises(FileRefusedError, match="'encoding' is cp1252, but the file is UTF-8") as refused:
        read_file(data, {"encoding": "cp1252"}, cuts=every(7, data))
    assert refused.value.code == "BAD_OPTIONS"


def test_the_first_line_of_valid_utf_8_in_a_cp1252_file_is_known() -> None:
    data = HEADER.encode() + b"1,caf\xe9\n\n2,tea\n3,Gr\xc3\xbcn\n4,Gr\xc3\xbcn\n5,x\xe9\n6,\xe9\n"
    for options in ({}, {"encoding": "cp1252"}):
        reading = read_file(data, options, cuts=every(7, data))
        assert (reading.layout.encoding, reading.splitter.evidence.first_line) == ("cp1252", 5)


@given(BYTES)
def test_undecodable_bytes_are_always_seen(raw: bytes) -> None:
    is_valid = raw.decode("utf-8", "ignore").encode() == raw
    text = enc.decode(raw, "utf-8")
    assert enc.has_surrogates(text) != is_valid
    assert is_valid or enc.describe_undecoded_bytes(text).startswith("0x")
    assert not enc.has_surrogates(enc.replace_surrogates(text))


def test_an_unpaired_surrogate_of_utf_16_is_named() -> None:
    text = enc.decode(b"\x00\xd8x\x00", "utf-16-le")
    assert enc.has_surrogates(text)
    assert enc.describe_undecoded_bytes(text) == "an unpaired surrogate"
