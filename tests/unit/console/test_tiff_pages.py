"""The decoder of TIFF files: every pixel as libtiff has it, and a fault for what is damaged."""

from __future__ import annotations

import hashlib
import io
import random
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from tests.support.console.tiff_pages import Decoder, draw_page, run_decoder, write_tiff

FAULTS = {"broken", "unknown-kind", "too-large", "no-such-page"}


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Decoder]:
    with run_decoder(tmp_path_factory.mktemp("pages")) as decoder:
        yield decoder


def noise(size: tuple[int, int], mode: str = "1") -> Image.Image:
    """An image with runs of all lengths."""
    source, page = random.Random(7), Image.new("L", size)
    values = [0, 255] if mode == "1" else range(256)
    pixels: list[int] = []
    while len(pixels) < size[0] * size[1]:
        pixels += [source.choice(values)] * int(1 + source.paretovariate(0.45))
    page.putdata(pixels[: size[0] * size[1]])
    return page.convert(mode, dither=Image.Dither.NONE)


def expected(data: bytes, page: int = 1) -> dict[str, Any]:
    with Image.open(io.BytesIO(data)) as image:
        image.seek(page - 1)
        pixels = image.convert("RGBA").tobytes()
        return {"width": image.width, "height": image.height, "sha256": hashlib.sha256(pixels).hexdigest()}


def check(decoder: Decoder, data: bytes, page: int = 1) -> dict[str, Any]:
    found = decoder.decode(data, page)
    pixels = expected(data, page)
    assert {name: found.get(name) for name in pixels} == pixels, found
    return found


@pytest.mark.parametrize(
    "compression", ["group4", "group3", "tiff_ccitt", "packbits", "tiff_lzw", "tiff_adobe_deflate"]
)
@pytest.mark.parametrize("width", [1, 7, 8, 64, 1729, 2561, 6001])
def test_black_and_white_is_as_libtiff_has_it(decoder: Decoder, compression: str, width: int) -> None:
    check(decoder, write_tiff(noise((width, 61)), compression=compression))


@pytest.mark.parametrize("tags", [{262: 0}, {262: 1}, {266: 2}, {278: 10}, {292: 1}, {292: 5}, {274: 6}])
def test_options_of_faxes_are_followed(decoder: Decoder, tags: dict[int, int]) -> None:
    compression = "group3" if 292 in tags else "group4"
    found = (
        check(decoder, write_tiff(draw_page(1), compression=compression, tiffinfo=tags))
        if 274 not in tags
        else (decoder.decode(write_tiff(draw_page(1), tiffinfo=tags)))
    )
    assert found["turn"] == (90 if 274 in tags else 0)


@pytest.mark.parametrize("mode", ["L", "P", "RGB"])
@pytest.mark.parametrize("compression", [None, "packbits", "tiff_lzw", "tiff_deflate"])
def test_grey_and_colours_are_as_libtiff_has_them(decoder: Decoder, mode: str, compression: str | None) -> None:
    check(decoder, write_tiff(noise((333, 47), mode), compression=compression))
    if mode != "P" and compression and compression != "packbits":
        check(decoder, write_tiff(noise((333, 47), mode), compression=compression, tiffinfo={317: 2}))


def test_only_what_is_known_is_decoded(decoder: Decoder) -> None:
    for mode, options in [("CMYK", {}), ("I;16", {}), ("F", {}), ("RGB", {"compression": "webp"})]:
        try:
            data = write_tiff(Image.new(mode, (9, 9)), **{"compression": None, **options})
        except OSError:
            continue
        assert decoder.decode(data)["code"] == "unknown-kind", mode


def test_pages_are_found_by_number(decoder: Decoder) -> None:
    data = write_tiff(*(draw_page(number, (85, 110)) for number in (1, 2, 3)))
    assert [check(decoder, data, page)["pages"] for page in (1, 2, 3)] == [None, None, 3]
    assert decoder.decode(data, 4) == {"code": "no-such-page", "detail": "It has 3 pages."}


def test_sizes_are_limited_before_anything_is_decoded(decoder: Decoder) -> None:
    bomb = bytearray(write_tiff(Image.new("1", (100, 100))))
    for tag in (256, 257):
        at = bomb.index(struct.pack("<H", tag), 8)
        struct.pack_into("<HHII", bomb, at, tag, 4, 1, 60_000)
    assert decoder.decode(bytes(bomb)) == {"code": "too-large", "detail": "The page has 3,600 million pixels."}
    struct.pack_into("<HHII", bomb, bomb.index(struct.pack("<H", 257), 8), 257, 4, 1, 10)
    assert decoder.decode(bytes(bomb))["detail"] == "A side of the page has more than 32,767 pixels."


def test_a_directory_that_leads_back_is_a_fault(decoder: Decoder) -> None:
    data = bytearray(write_tiff(draw_page(1, (85, 110)), draw_page(2, (85, 110))))
    [first] = struct.unpack_from("<I", data, 4)
    [count] = struct.unpack_from("<H", data, first)
    [second] = struct.unpack_from("<I", data, first + 2 + 12 * count)
    [count] = struct.unpack_from("<H", data, second)
    struct.pack_into("<I", data, second + 2 + 12 * count, first)
    assert decoder.decode(bytes(data), 2)["code"] == "broken"


@pytest.mark.parametrize("compression", ["group4", "group3", "packbits", "tiff_lzw", "tiff_deflate"])
def test_damage_is_a_fault_or_the_pixels_of_a_page(decoder: Decoder, compression: str) -> None:
    whole, source = write_tiff(draw_page(1, (425, 550)), compression=compression), random.Random(3)
    for length in (0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 9):
        assert decoder.decode(whole[:length]).get("code") == "broken", length
    faults = 0
    for _ in range(120):
        data = bytearray(whole)
        for _ in range(3):
            data[source.randrange(len(data))] = source.randrange(256)
        code = decoder.decode(bytes(data)).get("code")
        assert code in FAULTS | {None}
        faults += code is not None
    # Two of three have damage that no decoder could miss; uncompressed runs have no check of their own.
    assert faults > (60 if compression == "group4" else 2), faults
