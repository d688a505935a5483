"""Notice that an error file was saved in another encoding than it was written in: UTF-8 with a byte order mark.

Guaranteed: an error file without that mark is never read without a warning, unless thorns or the uploader's option
decide its encoding. UTF-16 is exact. Without a mark two encodings may fit, or a program has written ? for what its
encoding lacks, so that only ASCII is left; only the owner of the file can see what is right.
"""

from __future__ import annotations

from core.load_file.delimiters import Sign
from core.load_file.dialect import Opening
from core.load_file.encoding import CP1252, UTF_8, Utf8Evidence, is_wide
from core.load_file.original_lines import has_line_column

_LOST = "A spreadsheet writes ? for characters that its encoding lacks."
_WRITTEN = "These rejected rows were written in UTF-8 with a byte order mark, and were saved"


def describe_error_file_encoding(opening: Opening, encoding: str, evidence: Utf8Evidence) -> str | None:
    """Return a warning about the encoding in which a file is read; None for a file that is as it was written.

    `encoding` is that of the layout, `evidence` that of the whole file.
    """
    sign = opening.dialect.signs.encoding if opening.dialect.signs else None
    if not has_line_column(opening) or sign is Sign.GIVEN:
        return None
    if is_wide(encoding):
        return f"{_WRITTEN} in UTF-16. They are read as UTF-16, which has all characters."
    if encoding == CP1252:
        return (
            f"{_WRITTEN} in another encoding, read as cp1252 (Western European, Windows). {_LOST} Compare the values "
            "with the load file, or save the rows as UTF-8."
        )
    if encoding == UTF_8 and sign is Sign.CHARACTERS:
        return _describe_utf8(evidence)
    return None


def _describe_utf8(evidence: Utf8Evidence) -> str:
    if evidence.valid:
        return (
            f"{_WRITTEN} without it. They are read as UTF-8, which fits. If a program saved them in another encoding, "
            "accents and other characters are wrong: compare them with the load file."
        )
    return (
        f"{_WRITTEN} without it, in ASCII alone. {_LOST} Compare the cells that have ? or unexpected signs with the "
        "load file; if they differ, save the rows as UTF-8. If there are none, nothing was lost."
    )
