"""Files that are no delimited load files fail before a row is read, with what the uploader can do."""

from __future__ import annotations

import codecs

import pytest

from core.errors import FileRefusedError
from core.load_file.dialect import read_opening
from core.load_file.options import ImportOptions

FOREIGN = {
    "an XLSX workbook": (b"PK\x03\x04\x14\0\x06\0", "UNSUPPORTED_FORMAT", "Export the sheet as CSV"),
    "an XLS workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "UNSUPPORTED_FORMAT", "Export it as CSV"),
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "UNSUPPORTED_FORMAT", "load file"),
    "a GZIP archive": (b"\x1f\x8b\x08\0\0\0\0\0", "UNSUPPORTED_FORMAT", "Unpack"),
    "a RAR archive": (b"Rar!\x1a\x07\x01\x00", "UNSUPPORTED_FORMAT", "Unpack it, and import the folder"),
    "a 7z archive": (b"7z\xbc\xaf\x27\x1c", "UNSUPPORTED_FORMAT", "Unpack"),
    "a TIFF": (b"II*\0\x08\0\0\0", "UNSUPPORTED_FORMAT", "load file"),
    "a JPEG": (b"\xff\xd8\xff\xe0\0\x10JFIF", "UNSUPPORTED_FORMAT", "load file"),
    "a PNG": (b"\x89PNG\r\n\x1a\n", "UNSUPPORTED_FORMAT", "load file"),
    "SQLite": (b"SQLite format 3\0", "UNSUPPORTED_FORMAT", "Export the table"),
    "EDRM XML": (b'<?xml version="1.0"?>\n<Root DataInterchangeType="Update">', "UNSUPPORTED_FORMAT", "export"),
    "XML with a mark": (codecs.BOM_UTF8 + b"\n<Root>", "UNSUPPORTED_FORMAT", "XML"),
    "JSON": (b'[{"docid": 1}]', "UNSUPPORTED_FORMAT", "JSON"),
    "an LFP": (b"IM,ABC0001,D,0,@VOL01;IMG;ABC0001.TIF;2\n", "UNSUPPORTED_FORMAT", "LFP"),
    "a DII": (b"; made by no tool\r\n@FULLTEXT DOC\r\n@T ABC0001\r\n", "UNSUPPORTED_FORMAT", "DII"),
    "a DII that begins at once": (b"@T ABC0001\n@D @I\\IMAGES\n", "UNSUPPORTED_FORMAT", "DII"),
    "an OPT": (b"ABC0001,VOL01,.\\IMAGES\\ABC0001.TIF,Y,,,2\r\n", "UNSUPPORTED_FORMAT", "DAT file that comes with it"),
    "an OPT of five columns": (b"ABC0001,VOL,IMG\\1.jpg,Y,1\n", "UNSUPPORTED_FORMAT", "OPT"),
    "nothing": (b"", "EMPTY_FILE", "empty"),
    "blanks": (b" \r\n\t\n", "EMPTY_FILE", "empty"),
    "a mark and nothing": (codecs.BOM_UTF8, "EMPTY_FILE", "empty"),
    "a wide mark and nothing": (codecs.BOM_UTF16_LE, "EMPTY_FILE", "empty"),
    "a wide mark and blanks": ("\ufeff \r\n".encode("utf-16-be"), "EMPTY_FILE", "empty"),
    "random bytes": (bytes(range(256)) * 20, "BINARY_FILE", "DAT or CSV"),
    "UTF-16 without a mark": ("DOCID,Title\n1,abc\n".encode("utf-16-le") * 9, "UNSUPPORTED_ENCODING", "set option"),
    **{
        f"UTF-32, {order}": (
            ("\ufeff" + "DOCID,Title\n1,abc\n" * 9).encode(f"utf-32-{order}"),
            "UNSUPPORTED_ENCODING",
            "UTF-8",
        )
        for order in ("le", "be")
    },
}


def refusal(head: bytes, options: ImportOptions | None = None) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as caught:
        read_opening(head, options or ImportOptions(), whole=True)
    return caught.value


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_refused_with_what_to_do(name: str) -> None:
    head, code, advice = FOREIGN[name]
    error = refusal(head)
    assert error.code == code
    assert advice in str(error)


def test_a_load_file_that_mentions_images_is_no_image_file() -> None:
    for text in ("DOCID,Title,Path\nIM1,x,y.tif\n", "Image,DOCID\nIM,1\n", "@docid,Control Number\n1,2\n"):
        assert read_opening(text.encode(), ImportOptions(), whole=True).names


def test_separators_of_old_load_files_are_no_binary_data() -> None:
    text = "þDOCIDþ\x14þTagsþ\n" + "þ1þ\x14þa\x1eb\x1ecþ\n" * 20
    assert read_opening(text.encode(), ImportOptions(), whole=True).names == ("DOCID", "Tags")


def test_the_first_line_must_end_where_it_is_looked_for() -> None:
    with pytest.raises(FileRefusedError, match="The first line") as caught:
        read_opening(b"DOCID,Title", ImportOptions(), whole=False)
    assert caught.value.code == "NOT_DELIMITED"
