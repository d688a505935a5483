"""Why a document of an image load file is rejected, and what is warned of."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import Rejection, VolumeCode, WarningCode
from core.explanations.explanation import Explanation

REJECTED_DOCUMENTS: Mapping[str, Explanation] = {
    Rejection.AMBIGUOUS_KEY: Explanation(
        "several documents of the case have a range that begins with this Bates number",
        "write control numbers as image keys",
    ),
    WarningCode.IMAGE_MISSING: Explanation(
        "an image is not found, and `missing_files` is reject",
        "add it, or correct the path",
    ),
    VolumeCode.PATH_REFUSED: Explanation(
        "the path of an image leads out of the volume, and `missing_files` is reject",
        "set `strip_prefix`, or correct the path",
    ),
    VolumeCode.PATH_AMBIGUOUS: Explanation(
        "several files have the path of an image but for case or composition, and `missing_files` is reject",
        "write the path as the file's",
    ),
    Rejection.KEY_TOO_LONG: Explanation(
        "an image key (255 characters) or a path (1,024) does not fit; the message names the line",
        "shorten it",
    ),
    Rejection.KEY_NOT_STORABLE: Explanation(
        "an image key or a path has a character that the database cannot store; the message names the line",
        "deploy with utf8mb4, or rename it",
    ),
    Rejection.OPT_COLUMNS: Explanation(
        (
            "a line of the document (OPT or LFP) has too few columns, or a column that cannot be read; the message "
            "names it"
        ),
        "correct the line",
    ),
    Rejection.OPT_NO_DOC_BREAK: Explanation(
        "lines before the first one that begins a document",
        "set the document break of their first page, or remove them (a header, for example)",
    ),
    Rejection.OPT_DOC_NOT_FOUND: Explanation(
        (
            "the case has no document with this image key; keys are compared exactly, either with control numbers "
            "or with the begin of [any Bates range](#second-bates-numbers), which is decided once for the file"
        ),
        "import the data file first, or correct the key",
    ),
    Rejection.PAGES_OF_REJECTED_ROW: Explanation(
        "in a volume: the row of this document was rejected; the message has its line and code",
        (
            "correct the row with `corrects`, and the pages follow by themselves; or import its error file, then that "
            "of the images"
        ),
    ),
    Rejection.OPT_DUPLICATE_KEY: Explanation(
        (
            "an earlier line of the file begins a document with the same image key, or with another number of the "
            "same document"
        ),
        "remove one of the two, or correct its key",
    ),
    Rejection.HAS_PAGES: Explanation(
        (
            "the document has pages already, and the import appends; the message says which line of which file they "
            "are from: of several image load files of a volume, the first one that names a document gives it its pages"
        ),
        "overlay them; for two files of one volume, ask the sender which of them is right",
    ),
    Rejection.UNDECODABLE_BYTES: Explanation(
        "bytes are not valid in the file's encoding",
        "set the option `encoding`, or correct the line",
    ),
    Rejection.RECORD_TOO_LARGE: Explanation(
        "the document has more than 100,000 pages or 16 MB, or a line of more than 64 KB",
        "look for a missing document break or line end",
    ),
}
IMAGE_WARNINGS: Mapping[str, Explanation] = {
    WarningCode.OPT_PAGE_COUNT: Explanation(
        (
            "the document declares another page count than it has pages, or, with `verify_images`, its images have "
            "another number of pages; it has those of its lines"
        ),
        "compare the pages with the images; ask the sender for missing ones",
    ),
    WarningCode.IMAGE_MISSING: Explanation(
        "the volume does not have the image that a line names",
        "ask the sender for it; compare the path with the folders of the volume",
    ),
    VolumeCode.PATH_REFUSED: Explanation(
        "the path of an image leads out of the volume",
        "set `strip_prefix`, or correct the path",
    ),
    VolumeCode.PATH_AMBIGUOUS: Explanation(
        "several files have the path of an image but for case or composition, and none has it exactly",
        "write the path as the file's",
    ),
    VolumeCode.FILE_EMPTY: Explanation(
        "an image has no bytes",
        "ask the sender for it again",
    ),
    WarningCode.IMAGE_UNREADABLE: Explanation(
        (
            "with `verify_images`: the image is damaged, encrypted or of an unknown format, so that its pages "
            "cannot be counted"
        ),
        "ask the sender for the image again",
    ),
    WarningCode.NO_IMAGES: Explanation(
        (
            "a document of the volume's data file has no pages after the image load file (line 0; the message has "
            "the line of the data file)"
        ),
        "ask the sender whether the document was produced as a native only",
    ),
    WarningCode.LFP_COMMAND_IGNORED: Explanation(
        ("commands of an LFP other than `IM`, `BF`, `BM` and `BR` are not applied; the message counts them (line 0)"),
        "nothing, unless the message names commands that matter to you",
    ),
    WarningCode.PAGES_REPLACED: Explanation(
        (
            "an overlay: the document had pages of another image load file of the same volume, and got other pages of "
            "this one; the message has that file and its line"
        ),
        "ask the sender which of the two files is right; undo the import of the wrong one",
    ),
    WarningCode.PAGES_MISSING: Explanation(
        (
            "numbers of the range that the data file states have no page, under this document or another one; once "
            "for each document, with the numbers"
        ),
        "ask the sender for these pages, or for the right range",
    ),
    WarningCode.PAGE_OF_OTHER_DOCUMENT: Explanation(
        (
            "a page, or several that follow each other, is under a document, and the data file has its number in "
            "another one: probably a document break is missing or in the wrong place"
        ),
        "ask the sender where the document ends; correct the document breaks or the ranges",
    ),
    WarningCode.PAGE_KEY_GAP: Explanation(
        (
            "a page key is outside every range of the data file; or the page keys of a document repeat or go "
            "backwards; or, if the data file states no range, numbers are skipped"
        ),
        "ask the sender for the right range or the right page keys",
    ),
    WarningCode.PAGE_COUNT_DIFFERS: Explanation(
        (
            "the page count or the range of the data file, the page count or the lines of the image load file and, "
            "as far as they were opened, the image files have different numbers of pages"
        ),
        "ask the sender which number is right; open the images with `verify_images`",
    ),
}
