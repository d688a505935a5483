"""Read a line of an Opticon file (OPT): ImageKey,Volume,Path,DocBreak,FolderBreak,BoxBreak,PageCount.

The format has no header and no quoting. Sources: Veritas article 100012341, Concordance Desktop answer center,
docs.zylab.com. Real files also have four columns, five with the count in the fifth, seven with the count in the fifth,
and more than seven where a path has commas.
"""

from __future__ import annotations

from core.codes import Rejection
from core.image_load_file.page_lines import WHITESPACE, LineError, PageLine, parse_number

IMAGE_KEY, PATH, DOCUMENT_BREAK, PAGE_COUNT = "image key", "path", "document break", "page count"
_STARTS_DOCUMENT = {"Y": True, "y": True, "N": False, "n": False, "": False}
_MARKS = ("Y", "y", "N", "n")
_COLUMNS = 7


def parse_opticon_line(text: str) -> PageLine | LineError:
    """Return what a line says, which is not blank and without its line end."""
    columns = text.split(",")
    if len(columns) != _COLUMNS:
        columns = _arrange(columns)
        if len(columns) != _COLUMNS:
            return _describe_number_of_columns(columns)
    image_key, path = columns[0].strip(WHITESPACE), columns[2].strip(WHITESPACE)
    starts_document = _STARTS_DOCUMENT.get(columns[3].strip(WHITESPACE))
    if starts_document is None:
        message = "The document break is neither Y, N nor blank. Correct it, or look for a comma in the columns before."
        return LineError(Rejection.OPT_COLUMNS, DOCUMENT_BREAK, message, image_key=image_key)
    text = columns[6].strip(WHITESPACE)
    # A number in the column of folder breaks is a page count, too.
    count = parse_number(text or columns[4].strip(WHITESPACE)) if text or columns[4] else None
    if not image_key or not path or (text and count is None):
        column = IMAGE_KEY if not image_key else PATH if not path else PAGE_COUNT
        return _describe_column(column, starts_document, image_key)
    return PageLine(image_key, columns[1].strip(WHITESPACE), path, starts_document, count)


def _arrange(columns: list[str]) -> list[str]:
    """Return the seven columns that are meant by another number of columns; another number if that is not known."""
    if len(columns) == 5 and not _is_break(columns[4]):
        return [*columns[:4], "", "", columns[4]]
    if 4 <= len(columns) < _COLUMNS:
        return [*columns, "", "", ""][:_COLUMNS]
    return _join_path(columns) if len(columns) > _COLUMNS else columns


def _join_path(columns: list[str]) -> list[str]:
    """Return seven columns: the last four are fixed, and the commas before them belong to the path.

    Where the path would end in a comma or have a document break between two commas, there are more than seven.
    """
    length = len(columns)
    # Only the last columns are copied: a line can have tens of thousands of commas.
    while length > _COLUMNS and _ends_in_comma(columns[length - 5 : length]):
        length -= 1
    columns = columns[:length]
    if len(columns) > _COLUMNS and (_is_break(columns[-5]) or any(each in _MARKS for each in columns[3:-4])):
        return columns
    return [*columns[:2], ",".join(columns[2:-4]), *columns[-4:]]


def _ends_in_comma(columns: list[str]) -> bool:
    """Return whether the last of five columns is the blank one after a final comma: no path ends in ",Y"."""
    before, mark = columns[0].strip(WHITESPACE), columns[1].strip(WHITESPACE)
    moves_break = not before and mark in _MARKS
    return before in _STARTS_DOCUMENT and not moves_break and not columns[-1].strip(WHITESPACE)


def _is_break(column: str) -> bool:
    return column.strip(WHITESPACE) in _STARTS_DOCUMENT


def _describe_number_of_columns(columns: list[str]) -> LineError:
    advice = "An Opticon line has image key, volume, path, document break, folder break, box break and page count."
    message = f"The line has {len(columns)} columns. {advice} Add the missing columns, or remove the additional ones."
    return LineError(Rejection.OPT_COLUMNS, None, message, image_key=columns[0].strip(WHITESPACE))


def _describe_column(column: str, starts_document: bool, image_key: str) -> LineError:
    what = "is not a number of pages" if column == PAGE_COUNT else "is blank"
    message = f"The {column} {what}. Correct it."
    return LineError(Rejection.OPT_COLUMNS, column, message, starts_document, image_key)
