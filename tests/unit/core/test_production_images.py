"""Pages of TIFF files, what of images is whole, the parts of a production, and families in order."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.image_load_file.tiff import count_tiff_pages
from core.productions.families import order_families
from core.productions.findings import FindingCode, GroupedFinding, format_findings, group_findings, parse_findings
from core.productions.images import ImageLayout, PageImage, decide_layout, list_files_to_count
from core.productions.parts import MAX_PART_OBJECTS, split_parts
from shell.utils.page_counts import UncountableError, count_pages
from tests.support.volumes.stored_files import pdf, tiff


def counted(data: bytes) -> int:
    """The pages, read by ranges."""
    return count_pages(lambda start, end: data[start:end], len(data))


@given(st.integers(1, 40), st.booleans())
def test_a_tiff_has_the_pages_that_pillow_finds(pages: int, big: bool) -> None:
    first, *more = (Image.new("1", (8, 8), color=number % 2) for number in range(pages))
    buffer = io.BytesIO()
    first.save(buffer, "TIFF", save_all=True, append_images=more, big_tiff=big)
    with Image.open(buffer) as image:
        assert counted(buffer.getvalue()) == image.n_frames == pages  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", "<>")
def test_both_byte_orders_are_read_and_a_circle_is_refused(order: str) -> None:
    sign = b"II*\0" if order == "<" else b"MM\0*"

    def built(*offsets: int) -> bytes:
        """Directories without entries at 8, 14, ...: each names the next by its offset."""
        return sign + struct.pack(f"{order}I", 8) + b"".join(struct.pack(f"{order}HI", 0, each) for each in offsets)

    assert counted(built(14, 20, 0)) == 3
    for offsets in ((14, 8), (8,), (400,)):
        with pytest.raises(UncountableError):
            counted(built(*offsets))


def test_a_large_file_is_read_only_where_its_directories_are() -> None:
    data = b"II*\0" + struct.pack("<I", 50_000_000)
    ends, read = {0: data, 50_000_000: struct.pack("<HI", 0, 0)}, list[int]()

    def read_range(start: int, end: int) -> bytes:
        read.append(end - start)
        base = max(each for each in ends if each <= start)
        return ends[base][start - base : end - base]

    assert count_tiff_pages(read_range) == 1
    assert sum(read) < 100


def test_pages_are_counted_in_each_format_and_nothing_else_is_an_image() -> None:
    assert [counted(pdf(3)), counted(tiff(2)), counted(b"\xff\xd8\xff..."), counted(b"\x89PNG\r\n\x1a\n")] == [
        3,
        2,
        1,
        1,
    ]
    for data in (b"", b"text", pdf(2)[:-200], pdf(1, "secret"), tiff(2)[:-30], b"%PDF-1.7"):
        with pytest.raises(UncountableError):
            counted(data)


def test_what_would_be_read_at_once_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(pdf(2)) == 2
    monkeypatch.setattr("shell.utils.page_counts.MAX_READ_BYTES", 10)
    with pytest.raises(UncountableError):
        counted(pdf(2))


WHOLE = ImageLayout(3, is_one_file=True)
LAYOUTS: list[tuple[list[tuple[str, int]], dict[str, int], ImageLayout | FindingCode]] = [
    ([("a", 0), ("b", 0)], {}, ImageLayout(2, is_one_file=False)),
    ([("a", 1), ("b", 1)], {"a": 1, "b": 1}, ImageLayout(2, is_one_file=False)),
    ([("a", 0)], {"a": 3}, WHOLE),
    ([("a", 1), ("a", 2), ("a", 3)], {"a": 3}, WHOLE),
    ([("a", 0), ("a", 0), ("a", 0)], {"a": 3}, WHOLE),
    ([("a", 1), ("a", 2), ("a", 3), ("a", 4)], {"a": 3}, WHOLE),
    ([("a", 1), ("a", 2)], {"a": 3}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 2), ("a", 1)], {"a": 2}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 1), ("a", 1)], {"a": 1}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 1)], {"a": 2}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 2)], {"a": 1}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 1), ("b", 1)], {"a": 1, "b": 2}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 0), ("b", 2)], {"b": 1}, FindingCode.IMAGE_NOT_WHOLE),
    ([("a", 0), ("b", 1), ("b", 2)], {"b": 2}, FindingCode.IMAGE_MIXED),
]


@pytest.mark.parametrize(("pages", "counts", "expected"), LAYOUTS)
def test_a_document_has_a_file_a_page_or_one_whole_file(
    pages: list[tuple[str, int]], counts: dict[str, int], expected: ImageLayout | FindingCode
) -> None:
    images = [PageImage(*page) for page in pages]
    assert set(list_files_to_count(images)) == counts.keys()
    assert decide_layout(images, counts) == expected


def simple_parts(objects: Sequence[int], documents: int) -> list[list[int]]:
    """The reference: a part takes documents as long as it may."""
    parts: list[list[int]] = []
    for count in objects:
        if not parts or len(parts[-1]) == documents or sum(parts[-1]) + count > MAX_PART_OBJECTS:
            parts.append([])
        parts[-1].append(count)
    return parts


@given(st.lists(st.integers(0, 700) | st.just(5_000), min_size=1), st.integers(1, 5))
def test_parts_are_those_of_the_reference(objects: list[int], documents: int) -> None:
    starts, parts = split_parts(objects, documents), simple_parts(objects, documents)
    assert [objects[a:b] for a, b in zip(starts, [*starts[1:], len(objects)], strict=True)] == parts
    assert all(len(part) == 1 or sum(part) <= MAX_PART_OBJECTS for part in parts)


NUMBERS = st.sampled_from("ABCDEFGH")


@given(st.dictionaries(NUMBERS, st.none() | NUMBERS))
def test_families_stand_together_each_parent_before_its_children(parents: dict[str, str | None]) -> None:
    places = order_families(parents)
    ordered = sorted(parents, key=lambda number: places[number])
    roots = [places[number].root for number in ordered]
    assert len(list(dict.fromkeys(roots))) == sum(a != b for a, b in zip(roots, [None, *roots], strict=False))
    for number, parent in parents.items():
        if parent and places[number].depth:
            assert (places[parent].root, places[parent].depth) == (places[number].root, places[number].depth - 1)
        if not parent:
            assert places[number] == (number, 0, number)


def test_findings_come_back_as_they_were_stored() -> None:
    found = group_findings(
        [(FindingCode.PAGE_COUNT, 7), *((FindingCode.INCOMPLETE_FAMILY, n) for n in range(150, 0, -1))]
    )
    assert [(each.code.value, each.count, len(each.exhibit_ids), each.blocks) for each in found] == [
        ("INCOMPLETE_FAMILY", 150, 100, False),
        ("PAGE_COUNT", 1, 1, False),
    ]
    assert parse_findings(format_findings(found)) == found
    assert parse_findings(None) == []
    assert GroupedFinding(FindingCode.IMAGE_MIXED, 1, (1,)).blocks
