"""Write a slip sheet: one page that stands for a document that is produced in its native format.

Guaranteed: the same number gives the same bytes, so a slip sheet that is written again does not change its hash.
"""

from __future__ import annotations

import io

CAPTION = "Produced in native format"
# US Letter, in points.
_WIDTH, _HEIGHT = 612, 792
_FONT = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}


def build_slip_sheet(bates: str) -> bytes:
    """Return a PDF file of one page with the caption and the Bates number, which has only ASCII characters."""
    # It is not compiled in the layer, and few productions need it.
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    page = writer.add_blank_page(_WIDTH, _HEIGHT)
    content = DecodedStreamObject()
    content.set_data(
        f"BT /F1 18 Tf 72 {_HEIGHT // 2} Td ({CAPTION}) Tj ET\nBT /F1 12 Tf 72 36 Td ({bates}) Tj ET\n".encode("ascii")
    )
    font = DictionaryObject({NameObject(name): NameObject(value) for name, value in _FONT.items()})
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    page[NameObject("/Contents")] = writer._add_object(content)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()
