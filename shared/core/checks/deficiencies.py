"""What a producing party has to send or correct, from what was found in its files.

Guaranteed: every code is either a deficiency of the files, in the group of what the producing party would do, or none
of its business; a test looks for each code in one of the two. Sentences speak of files, documents and pages, and of
nothing that only the receiving side knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

from core.checks.page_findings import ADVICE
from core.codes import CheckCode, Rejection, VolumeCode, WarningCode

HEADER = ("request", "document", "load_file", "line", "column", "value", "detail")
LISTED_IN_TEXT = 200
MAX_VALUE = 200
_LINE = re.compile(r"Lines? [0-9]+: ")


class Request(IntEnum):
    """What a producing party would do, in the order of the files."""

    SEND_PAGES = 1
    SEND_IMAGES = 2
    SEND_NATIVES = 3
    SEND_TEXTS = 4
    SEND_FILES = 5
    SEND_DOCUMENTS = 6
    CORRECT_BREAKS = 7
    CORRECT_RANGES = 8
    CORRECT_FAMILIES = 9
    RESEND_ROWS = 10
    CORRECT_VALUES = 11


HEADINGS = {
    Request.SEND_PAGES: "Send the pages that are missing, or cannot be opened",
    Request.SEND_IMAGES: "Send images of these documents, or confirm that there are none",
    Request.SEND_NATIVES: "Send the native files that are missing, or are not the ones that were described",
    Request.SEND_TEXTS: "Send the text files that are missing",
    Request.SEND_FILES: "Send the files that are empty, or correct the paths that do not lead to one file",
    Request.SEND_DOCUMENTS: "Send the documents whose numbers are missing, or say why they were withheld",
    Request.CORRECT_BREAKS: "Correct the document breaks and page keys of the image load file",
    Request.CORRECT_RANGES: "Correct the Bates numbers, ranges and page counts",
    Request.CORRECT_FAMILIES: "Correct the families",
    Request.RESEND_ROWS: "Send these rows again, corrected",
    Request.CORRECT_VALUES: "Correct or confirm these values",
}

# A sentence for each code; None: what the message says was stated and found, up to its advice (`_ADVICE`).
_GROUPS: Mapping[Request, Mapping[str, str | None]] = {
    Request.SEND_PAGES: {
        WarningCode.PAGES_MISSING: None,
        WarningCode.IMAGE_MISSING: "The image that the load file names was not sent.",
        WarningCode.IMAGE_UNREADABLE: "The image cannot be opened.",
    },
    Request.SEND_IMAGES: {WarningCode.NO_IMAGES: "The image load file has no page of this document."},
    Request.SEND_NATIVES: {
        VolumeCode.NATIVE_MISSING: "The native file that the load file names was not sent.",
        VolumeCode.HASH_MISMATCH: "The hash in the load file is not that of the native file that was sent.",
    },
    Request.SEND_TEXTS: {VolumeCode.TEXT_MISSING: "The text file that the load file names was not sent."},
    Request.SEND_FILES: {
        VolumeCode.FILE_EMPTY: "The file is empty.",
        VolumeCode.PATH_REFUSED: "The path leads out of the folder that was sent.",
        VolumeCode.PATH_AMBIGUOUS: "The path can be any of several files that were sent.",
    },
    Request.SEND_DOCUMENTS: {
        CheckCode.BATES_GAP: None,
        CheckCode.FAMILY_GAP: None,
        CheckCode.CASE_DOCUMENTS_NOT_IN_FILE: None,
        Rejection.OPT_DOC_NOT_FOUND: "The image load file has pages of a document for which the data file has no row.",
    },
    Request.CORRECT_BREAKS: {
        WarningCode.PAGE_OF_OTHER_DOCUMENT: None,
        WarningCode.PAGE_KEY_GAP: None,
        WarningCode.PAGES_REPLACED: "Two image load files have different pages of this document.",
        Rejection.OPT_NO_DOC_BREAK: "No document break precedes these pages.",
        Rejection.OPT_DUPLICATE_KEY: "Two documents of the image load file begin with the same page key.",
        Rejection.OPT_COLUMNS: "The line of the image load file cannot be read.",
    },
    Request.CORRECT_RANGES: {
        WarningCode.PAGE_COUNT_DIFFERS: None,
        WarningCode.OPT_PAGE_COUNT: None,
        **dict.fromkeys((CheckCode.BATES_UNPARSED, CheckCode.BATES_PREFIX, CheckCode.BATES_REVERSED)),
        **dict.fromkeys((CheckCode.BATES_WIDTH, CheckCode.BATES_OVERLAP, CheckCode.BATES_PAGES)),
    },
    Request.CORRECT_FAMILIES: {
        CheckCode.PARENT_MISSING: "The row names a parent that was not sent.",
        CheckCode.PARENT_CYCLE: "The document is, by way of others, its own parent.",
        CheckCode.FAMILY_RANGE: None,
        WarningCode.FAMILY_NOT_READ: None,
        WarningCode.FAMILY_CONFLICT: None,
    },
    Request.RESEND_ROWS: {
        Rejection.MISSING_ID: "The row has no document number.",
        Rejection.DUPLICATE_ID: "Another row of the file has the same document number.",
        Rejection.WRONG_CELL_COUNT: "The row has another number of cells than the header.",
        Rejection.MALFORMED_QUOTING: "The text qualifiers of the row do not match.",
        Rejection.UNDECODABLE_BYTES: "The row has bytes that are no characters in the encoding of the file.",
        Rejection.KEY_TOO_LONG: "A number or path of the row is too long.",
        Rejection.KEY_NOT_STORABLE: "A number or path of the row has characters that cannot be stored.",
        WarningCode.NUL_PADDING: "The file ends with NUL characters, as one that was not copied completely does.",
    },
    Request.CORRECT_VALUES: {
        WarningCode.INVALID_DATE: "The date cannot be read.",
        WarningCode.INVALID_TIME: "The time cannot be read.",
        WarningCode.NONEXISTENT_TIME: "The time does not exist in its time zone.",
        WarningCode.DATE_PLACEHOLDER: None,
        WarningCode.KEY_LOOKS_CHANGED: "The document number looks as if a spreadsheet had changed it.",
        WarningCode.REPLACEMENT_CHARACTER: "The value has characters that were lost before the file was sent.",
        WarningCode.REPEATED_HEADER: "The header is repeated inside the file.",
        CheckCode.DATE_FUTURE: "The date is in the future.",
    },
}
# How the advice of a message begins, by code: from the last of these on, it is for the receiving side. Ids and values,
# which can have sentences of their own, stand before it.
_ADVICE: Mapping[str, Sequence[str]] = {
    CheckCode.BATES_GAP: [" Look first whether a rejected row"],
    CheckCode.FAMILY_GAP: [" No row of the family has"],
    CheckCode.CASE_DOCUMENTS_NOT_IN_FILE: [" If the file replaces an earlier production,"],
    WarningCode.OPT_PAGE_COUNT: [" Look for missing lines,", " Find out which is right."],
    CheckCode.BATES_UNPARSED: [" Correct it, or map the column", " Compare it with the document."],
    CheckCode.BATES_PREFIX: [" Correct the one that is wrong."],
    CheckCode.BATES_REVERSED: [" Correct the one that is wrong."],
    CheckCode.BATES_WIDTH: [" Write both with the same number.", " Compare both with the documents."],
    CheckCode.BATES_OVERLAP: [" Correct the range that is wrong.", " Correct the end of the range,"],
    CheckCode.BATES_PAGES: [" Correct the range or the count."],
    CheckCode.FAMILY_RANGE: [" Correct the range or the numbers.", " Correct the parent, the range or"],
    WarningCode.FAMILY_NOT_READ: [" No parent follows from them."],
    WarningCode.FAMILY_CONFLICT: [" The first of these rows has the parent.", " Find out which of them is the parent,"],
    WarningCode.DATE_PLACEHOLDER: [" They are stored as they are written."],
}
# What a message says of the case, and the words in its place: the producing party does not know the case.
_EARLIER = "of an earlier production"
_REWORDED: Mapping[str, Mapping[re.Pattern[str], str]] = {
    CheckCode.CASE_DOCUMENTS_NOT_IN_FILE: {
        re.compile(r"\Athe case has 1 document with .+? lacks: ", re.DOTALL): (
            f"this document {_EARLIER} is not in this file: "
        ),
        re.compile(r"\Athe case has [0-9,]+ documents .+? lacks: ", re.DOTALL): (
            f"these documents {_EARLIER} are not in this file: "
        ),
    },
    WarningCode.FAMILY_NOT_READ: {re.compile(r" are of no document of the file or the case,"): " name no document,"},
}
# Decisions of the receiving side, or what it has done with the values.
NOT_DEFICIENT: frozenset[str] = frozenset(
    map(
        str,
        (
            *(Rejection.EXISTS_WITH_OTHER_VALUES, Rejection.NOT_IN_CASE, Rejection.AMBIGUOUS_KEY, Rejection.HAS_PAGES),
            *(Rejection.TOO_MANY_VALUES, Rejection.RECORD_TOO_LARGE, Rejection.VALUE_REFUSED, Rejection.CHUNK_FAILED),
            *(Rejection.DOCUMENT_CHANGED, Rejection.LINE_NOT_OPEN),
            # Follows from another rejected row.
            Rejection.PAGES_OF_REJECTED_ROW,
            *(WarningCode.AMBIGUOUS_TIME, WarningCode.VALUE_TRUNCATED, WarningCode.CHARACTERS_REMOVED),
            *(WarningCode.PROPERTY_DROPPED, WarningCode.NAME_MERGED, WarningCode.MIXED_NEWLINES),
            *(WarningCode.NEWLINE_MARK_KEPT, WarningCode.AMBIGUOUS_DATE_ORDER, WarningCode.MIXED_DATE_ORDER),
            *(WarningCode.MIXED_ENCODING, WarningCode.ERROR_FILE_ENCODING, WarningCode.NO_ROWS),
            *(WarningCode.BYTE_ORDER_MARK, WarningCode.DIFFERS_FROM_CHECK, WarningCode.LFP_COMMAND_IGNORED),
            *(WarningCode.NO_DATE_STATED, WarningCode.TWO_DIGIT_YEAR, WarningCode.OTHER_SEPARATOR),
            *(WarningCode.COLUMN_WITHOUT_EFFECT, WarningCode.TEXT_AND_PATH, WarningCode.BATES_CHANGED),
            *(WarningCode.BLANK_ROWS, WarningCode.KEY_UNWRAPPED, WarningCode.UNSEEN_CHARACTERS),
            WarningCode.ID_SIMILAR_IN_CASE,
            *(CheckCode.BATES_OVERLAP_CASE, CheckCode.NATIVE_DUPLICATE, CheckCode.NAME_SIMILAR, CheckCode.ID_SIMILAR),
            CheckCode.DATE_BEFORE_1970,
            *(VolumeCode.LATE_FILE, VolumeCode.UNREFERENCED_FILE, VolumeCode.FILE_OF_REJECTED_ROW),
        ),
    )
)
DEFICIENT: Mapping[str, Request] = {str(code): request for request, codes in _GROUPS.items() for code in codes}
_SENTENCES: Mapping[str, str | None] = {str(code): text for codes in _GROUPS.values() for code, text in codes.items()}


class Deficiency(NamedTuple):
    """Something to send or correct; `line` is 0 for a whole file, and a blank text stands for what is not known."""

    request: Request
    load_file: str
    line: int
    document: str
    column: str
    value: str
    detail: str

    def list_cells(self) -> tuple[str | int | None, ...]:
        """Return the cells of its line under HEADER."""
        place = (self.document, self.load_file, self.line or None)
        return (HEADINGS[self.request], *place, self.column, self.value, self.detail)


def describe_deficiency(
    load_file: str, code: str, line: int, message: str, *, document: str | None, column: str | None, value: str | None
) -> Deficiency | None:
    """Return what the producing party has to do about a finding, None if nothing."""
    request = DEFICIENT.get(code)
    if request is None:
        return None
    shown = value or ""
    shown = f"{shown[:MAX_VALUE]} (cut)" if len(shown) > MAX_VALUE else shown
    detail = _SENTENCES[code] or _take_fact(code, message)
    return Deficiency(request, load_file, line, document or "", column or "", shown, detail)


def _take_fact(code: str, message: str) -> str:
    """Return what a message says was stated and found, without its line, the case, and the advice after it."""
    text = _LINE.sub("", message, count=1)
    for stated, instead in _REWORDED.get(code, {}).items():
        text = stated.sub(instead, text, count=1)
    ends = [text.rfind(advice) for advice in _ADVICE.get(code, [ADVICE])]
    fact = text[: max(ends)] if max(ends) >= 0 else text
    return fact[:1].upper() + fact[1:]


def format_text(name: str, counts: Mapping[Request, int], deficiencies: Iterable[Deficiency]) -> Iterator[str]:
    """Yield the lines of a text that can be sent to the producing party; the deficiencies come in order of request."""
    yield f"Deficiencies of {name}"
    yield ""
    if not counts:
        yield "Nothing that has to be sent or corrected was found."
        return
    for request, group in groupby(deficiencies, key=lambda each: each.request):
        yield f"{HEADINGS[request]} ({counts[request]:,}):"
        for number, each in enumerate(group, start=1):
            if number <= LISTED_IN_TEXT:
                yield f"  - {_describe(each)}"
        if counts[request] > LISTED_IN_TEXT:
            yield f"  - and {counts[request] - LISTED_IN_TEXT:,} more; deficiencies.csv has all"
        yield ""


def _describe(each: Deficiency) -> str:
    where = f"{each.load_file}, line {each.line}" if each.line else each.load_file
    column = f", column {each.column}" if each.column else ""
    value = f" [{_flatten(each.value)}]" if each.value else ""
    document = f"{_flatten(each.document)} " if each.document else ""
    return f"{document}({where}{_flatten(column)}): {_flatten(each.detail)}{value}"


def _flatten(text: str) -> str:
    """Return the text on one line."""
    return " ".join(text.split())
