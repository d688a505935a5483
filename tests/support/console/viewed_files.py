"""Files for the tests of the viewer: long TIFF files, a PDF that acts, and what must not be shown."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence

from PIL import Image, ImageDraw
from pypdf import PdfWriter
from pypdf.annotations import Link
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, TextStringObject

from tests.support.console.tiff_pages import draw_page, write_tiff

HTML = b"<html><script>document.title = 'ran'; parent.ran = true</script><h1>Evidence</h1></html>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>parent.ran = true</script><rect width="9" height="9"/></svg>'
COLUMNS = "Control Number,Title,Tags,Native Link,Text Link"


def png(size: tuple[int, int] = (300, 200)) -> bytes:
    """Return a PNG image."""
    written = io.BytesIO()
    draw_page(1, size, "RGB").save(written, "PNG")
    return written.getvalue()


def large_tiff(pages: int, size: int) -> bytes:
    """Return a TIFF file with Group 4 of so many pages and about so many bytes: words, and noise as scans have it."""
    words = draw_page(0, (1700, 2200))
    noise = max(0, size // pages - len(write_tiff(words))) * 8 // 27
    return write_tiff(*(_scan(words, number, noise) for number in range(1, pages + 1)))


def _scan(words: Image.Image, number: int, noise: int) -> Image.Image:
    page, source = words.copy(), random.Random(number)
    pen = ImageDraw.Draw(page)
    pen.rectangle((40, 40, 600, 130), fill="white")
    pen.text((40, 40), f"Page {number}", fill="black", font_size=72)
    pen.point([(source.randrange(1700), source.randrange(2200)) for _ in range(noise)], fill="black")
    return page


def acting_pdf(target: str) -> bytes:
    """Return a PDF whose script, actions and links all want to reach `target`."""
    page = io.BytesIO()
    draw_page(1, (600, 800), "RGB").save(page, "PDF")
    writer = PdfWriter(clone_from=page)
    script = (
        f"app.alert('from the PDF'); app.launchURL('{target}/launched', true); this.getURL('{target}/got');"
        f"this.submitForm('{target}/submitted'); Net.HTTP.request({{cVerb: 'GET', cURL: '{target}/requested'}});"
    )
    writer._root_object[NameObject("/OpenAction")] = _action("/JavaScript", "/JS", script)
    first = writer.pages[0]
    opened = DictionaryObject({NameObject("/O"): _action("/URI", "/URI", f"{target}/opened")})
    first[NameObject("/AA")] = opened
    writer.add_annotation(0, Link(rect=(0, 0, 600, 800), url=f"{target}/clicked"))
    launch = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/Link"),
            NameObject("/Rect"): ArrayObject(map(NumberObject, (0, 0, 60, 80))),
            NameObject("/A"): _action("/Launch", "/F", "/bin/sh"),
        }
    )
    writer.add_annotation(0, launch)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def _action(kind: str, name: str, value: str) -> DictionaryObject:
    return DictionaryObject({NameObject("/S"): NameObject(kind), NameObject(name): TextStringObject(value)})


def build_rows(*rows: Sequence[str]) -> bytes:
    """Return a load file of control numbers, titles, tags, natives and texts."""
    return "\n".join([COLUMNS, *(",".join(row) for row in rows), ""]).encode()


def build_opt(*documents: Sequence[tuple[str, str]]) -> bytes:
    """Return an image load file of documents, whose pages are keys and paths."""
    lines = []
    for pages in documents:
        for number, (key, path) in enumerate(pages):
            lines.append(f"{key},VOL001,{path},{'' if number else 'Y'},,,{'' if number else len(pages)}")
    return "".join(f"{line}\r\n" for line in lines).encode()
