"""Texts of cells: what is joined, what is a text, what a pack holds, and which columns are paths."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from core.load_file.grammar import ASCII_WHITESPACE
from core.texts.cells import TextColumns, find_text_columns
from core.texts.packs import build_pack, build_pack_key

CELL = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(["", " ", "<nil>", "\u00ae", "a\u00aeb"])


def columns_of(names: list[str], newline: str | None = None) -> TextColumns:
    fields = ("control_number", *("extracted_text" for _ in names), "text_path")
    return find_text_columns(("Id", *names, "Path"), fields, newline)


@given(cells=st.dictionaries(st.integers(1, 30), CELL, min_size=1, max_size=14), data=st.data())
def test_numbered_columns_are_joined_by_their_numbers(cells: dict[int, str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(sorted(cells)))
    columns = columns_of([f"OCR {number}" for number in shuffled], "\u00ae")
    expected = "".join(cells[number] for number in sorted(cells) if cells[number] != "<nil>").replace("\u00ae", "\n")
    found = columns.join(["A-1", *(cells[number] for number in shuffled), ""])
    # A no-break space is a text.
    assert found == (expected if expected.strip(ASCII_WHITESPACE) else None)


def test_other_columns_are_joined_in_the_order_of_the_file() -> None:
    columns = columns_of(["OCR2", "Full Text", "OCR1"])
    assert columns.join(["A-1", "2", "f", "1", ""]) == "2f1"
    assert columns.has_both(["A-1", "", "f", "", "a.txt"])
    assert not columns.has_both(["A-1", "", " ", "", "a.txt"])
    assert not columns.has_both(["A-1", "", "f", "", " "])


@given(texts=st.lists(CELL, max_size=8), stored=st.sets(st.integers(0, 7)))
def test_a_pack_holds_each_text_in_its_range(texts: list[str], stored: set[int]) -> None:
    hashes = [hashlib.sha256(text.encode()).digest() for text in texts]
    known = {(line, hashes[line]) for line in stored if line < len(texts)}
    pack = build_pack(enumerate(texts), known)
    assert pack.hashes == dict(enumerate(hashes))
    assert pack.places.keys() == set(range(len(texts))) - {line for line, _ in known}
    for line, (offset, length, sha256) in pack.places.items():
        assert pack.data[offset : offset + length] == texts[line].encode()
        assert sha256 == hashes[line]
    assert len(pack.data) == sum(place.length for place in pack.places.values())


def test_a_key_names_tenant_case_import_chunk_and_bytes() -> None:
    keys = {
        build_pack_key(tenant, case, import_id, chunk, sha256)
        for tenant in ("t", "t1")
        for case in (1, 11)
        for import_id in (1, 11)
        for chunk in (1, 11)
        for sha256 in (b"\0", b"\1")
    }
    assert len(keys) == 32
    assert min(keys) == "texts/t/1/1/1-00"
