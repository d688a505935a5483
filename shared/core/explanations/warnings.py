"""What is warned of in a row of a load file, or of the file as a whole (line 0)."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import WarningCode
from core.explanations.explanation import Explanation

WARNINGS: Mapping[str, Explanation] = {
    WarningCode.INVALID_DATE: Explanation(
        "the text is not a date: the date is empty, the text is kept",
        "correct the cell, or [say how the column is written](#how-dates-are-written)",
    ),
    WarningCode.INVALID_TIME: Explanation(
        "the text in a time column is not a time: the date is stored without it, the text is kept",
        "correct the cell, or map the column to `property`",
    ),
    WarningCode.AMBIGUOUS_TIME: Explanation(
        "clocks in the zone showed this time twice, when they were set back: the first one is stored",
        "ask the sender for times with an offset, or in UTC",
    ),
    WarningCode.NONEXISTENT_TIME: Explanation(
        ("clocks in the zone did not show this time, because they were set forward: it is stored moved on by the gap"),
        "look at the option `time_zone`; ask the sender for times with an offset, or in UTC",
    ),
    WarningCode.VALUE_TRUNCATED: Explanation(
        "a text was longer than its column",
        "nothing, if the beginning is enough: `warnings.csv` has the whole text or its place in the file",
    ),
    WarningCode.CHARACTERS_REMOVED: Explanation(
        "characters that a utf8mb3 column cannot store were removed",
        "deploy with utf8mb4, and import the row again",
    ),
    WarningCode.PROPERTY_DROPPED: Explanation(
        "the properties of a row together exceed 65,535 bytes: the largest were dropped",
        "move long texts to files; `warnings.csv` has each text or its place in the file",
    ),
    WarningCode.TEXT_AND_PATH: Explanation(
        "the document has a text in its cells and the path of a text file: the file is its text, the cells are stored",
        "nothing, if the file is the text; otherwise [remove the path](#text-in-cells)",
    ),
    WarningCode.NAME_MERGED: Explanation(
        "a name has several spellings that differ in case or accents only: they are one custodian or tag",
        "nothing, if they are the same; otherwise write one of them differently",
    ),
    WarningCode.REPLACEMENT_CHARACTER: Explanation(
        (
            "the text has U+FFFD (�), which stands for lost characters, for example in rejected rows that were "
            "not corrected; nothing was changed"
        ),
        "look the text up in the file that the sender made",
    ),
    WarningCode.BATES_CHANGED: Explanation(
        (
            "the document had another Bates range, which stays as a [production number](#second-bates-numbers); the "
            "message has both"
        ),
        "if the earlier one was wrong, undo the import that stated it; otherwise nothing",
    ),
    WarningCode.MIXED_NEWLINES: Explanation(
        "a record has both line ends and ®: both are line ends now",
        "nothing, unless ® was meant as ®: then set `newline` to `none`",
    ),
    WarningCode.KEY_UNWRAPPED: Explanation(
        'an id is written as `="0001"`, by which spreadsheets keep zeros: it was read as 0001',
        "nothing",
    ),
    WarningCode.KEY_LOOKS_CHANGED: Explanation(
        "an id is a number such as 1.23E+11, or begins with the apostrophe of a spreadsheet; it was stored as it is",
        "export the column as text from the source, and correct the ids",
    ),
    WarningCode.UNSEEN_CHARACTERS: Explanation(
        (
            "an id, name or file name has characters that cannot be seen, such as a no-break space or U+200B; the "
            "message names them, and they were stored"
        ),
        "compare with the ids and names of other files; remove the characters in the load file if these lack them",
    ),
    WarningCode.ID_SIMILAR_IN_CASE: Explanation(
        (
            "the case has a document whose id differs only in case, zeros before a number, spaces or characters that "
            "cannot be seen; the row is another document"
        ),
        "find out whether they are one document; if so, correct the id",
    ),
    WarningCode.BLANK_ROWS: Explanation(
        "rows without a value in any cell, as spreadsheets write them, are not rows (line 0)",
        "nothing, unless documents are missing",
    ),
    WarningCode.NUL_PADDING: Explanation(
        "the file ends with NUL characters, which were not read as a row (line 0)",
        "compare the last row with the export: a file that was not copied completely can end so",
    ),
    WarningCode.REPEATED_HEADER: Explanation(
        "lines of a header inside the file, as in files put together, are not rows (line 0)",
        "nothing",
    ),
    WarningCode.FAMILY_NOT_READ: Explanation(
        (
            "values of a [column of families](#how-parents-are-found) name no document of the file or the case, so no "
            "parent follows from them; once for each column, with how many and the first three (line 0)"
        ),
        (
            "import the file that has these documents, correct the cells, or map the column to `property` if it holds "
            "something else"
        ),
    ),
    WarningCode.FAMILY_CONFLICT: Explanation(
        (
            "documents are listed as attachments by several rows of the file, the first of which has the parent; or "
            "rows name each other as parents, directly or through others (line 0)"
        ),
        "find out which row is right, and correct the other one",
    ),
    WarningCode.DIFFERS_FROM_CHECK: Explanation(
        (
            "the import had another result than the check before it, in counts, codes, new names or single rows: "
            "the case changed in between, or a chunk failed (line 0)"
        ),
        "compare the reports of both; undo the import if it is not what you confirmed",
    ),
    WarningCode.BYTE_ORDER_MARK: Explanation(
        "byte order marks before records were removed (line 0)",
        "nothing",
    ),
    WarningCode.NEWLINE_MARK_KEPT: Explanation(
        "® stands for line ends in this file; in this path or file name it was kept as written",
        "nothing, if the name of the file has ®; otherwise correct the path",
    ),
    WarningCode.AMBIGUOUS_DATE_ORDER: Explanation(
        "no date of the column shows whether day or month comes first: month first was assumed (line 0)",
        "if that is wrong, undo the import and repeat it with `date_order`",
    ),
    WarningCode.MIXED_DATE_ORDER: Explanation(
        "the dates of the column show different orders: those with the year last are read month first (line 0)",
        "ask the sender which order is meant; set `date_order`",
    ),
    WarningCode.NO_DATE_STATED: Explanation(
        "cells of a column of dates say that there is none: `N/A`, `NULL`, `none`, `00/00/0000`; how many (line 0)",
        "nothing, if that is what the sender means",
    ),
    WarningCode.DATE_PLACEHOLDER: Explanation(
        (
            "dates of the column are those that programs write where none is known: 1/1/1601, 12/30/1899, 12/31/1899, "
            "1/1/1900, 9/9/9999 or 12/31/9999; they are stored as written (line 0)"
        ),
        "do not rely on them; ask the sender for the dates, or clear them with an overlay",
    ),
    WarningCode.TWO_DIGIT_YEAR: Explanation(
        "years of the column have two digits: they are read as 1950 to 2049 (line 0)",
        "if another century or the year first is meant, undo the import and repeat it with `date_format`",
    ),
    WarningCode.OTHER_SEPARATOR: Explanation(
        (
            "no value of a column of custodians or tags contains the separator, and they contain `|` or another sign; "
            "or a value in quotation marks contains the separator (line 0)"
        ),
        (
            "if the sign separates values, undo the import and repeat it with `multi_value_separator`; for documents "
            "that the case has already, import the file again with the option and mode `overlay`, with `multi_values` "
            "`replace` to remove the other values"
        ),
    ),
    WarningCode.COLUMN_WITHOUT_EFFECT: Explanation(
        (
            "a column that is not blank was read as a field, and not one of its cells had an effect; the message has "
            "three of them (line 0)"
        ),
        "say how it is written with `date_format` or `multi_value_separator`, or map the column to another field",
    ),
    WarningCode.NO_ROWS: Explanation(
        "the file has a header and no rows (line 0)",
        "ask the sender whether the file should have rows",
    ),
    WarningCode.ERROR_FILE_ENCODING: Explanation(
        (
            "rejected rows were saved in another encoding than UTF-8 with a byte order mark; the message says how "
            "they are read (line 0)"
        ),
        "compare some accents, and cells with `?`, with the load file; save the rows as UTF-8 if they differ",
    ),
    WarningCode.MIXED_ENCODING: Explanation(
        ("a file that is read as cp1252 has characters that are valid UTF-8 (`GrÃ¼n`); the message has the first line"),
        "look at that line; if most of the file is UTF-8, set the option `encoding`",
    ),
}
