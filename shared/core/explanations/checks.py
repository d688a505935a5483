"""What a check finds in the whole file. Each is a warning: the rows can be imported as they are."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import CheckCode
from core.explanations.explanation import Explanation

FINDINGS: Mapping[str, Explanation] = {
    CheckCode.BATES_UNPARSED: Explanation(
        (
            "a Bates number or a number of a family range has no digits, or other characters after them than most "
            "of the file's numbers; or a row has an end number and no begin"
        ),
        "compare it with the document; map the column to `property` if it holds something else",
    ),
    CheckCode.BATES_PREFIX: Explanation(
        "the begin and end number of a row have different prefixes, or different characters after the digits",
        "correct the one that is wrong",
    ),
    CheckCode.BATES_REVERSED: Explanation(
        "the begin number is after the end number",
        "correct the one that is wrong",
    ),
    CheckCode.BATES_WIDTH: Explanation(
        (
            "the begin and end number of a row differ in their number of digits; or a row and the one before it in "
            "Bates order do"
        ),
        "compare both with the documents",
    ),
    CheckCode.BATES_GAP: Explanation(
        "numbers that no row has, between two rows of the file; once for each gap, at the row after it",
        (
            "look first whether a rejected row has the numbers; ask the sender whether documents were withheld or "
            "another volume has them"
        ),
    ),
    CheckCode.BATES_OVERLAP: Explanation(
        (
            "a row has numbers that a row before it in Bates order has, too; a range that covers several other ones "
            "is named once, with their number"
        ),
        "correct the range that is wrong: of one that covers others, probably its end",
    ),
    CheckCode.BATES_OVERLAP_CASE: Explanation(
        (
            "another document of the case has numbers of this row, now or from an "
            "[earlier delivery](#second-bates-numbers); the message names one such document"
        ),
        "find out which of the two is wrong",
    ),
    CheckCode.BATES_PAGES: Explanation(
        "the range has more or fewer numbers than the page count",
        "correct the range or the count; a native with one number can have more pages",
    ),
    CheckCode.PARENT_MISSING: Explanation(
        "the parent is neither in the file nor in the case",
        "import the file that has it first, or correct the cell",
    ),
    CheckCode.PARENT_CYCLE: Explanation(
        "the parents of the row lead back to it; once for each row of the cycle",
        "correct one of the parents",
    ),
    CheckCode.FAMILY_GAP: Explanation(
        "a family range (`BEGATTACH` to `ENDATTACH`) has numbers that no row that states the range has",
        (
            "look first whether a rejected row has the numbers, then for a document that is missing or states "
            "another family"
        ),
    ),
    CheckCode.FAMILY_RANGE: Explanation(
        (
            "a row is outside of the family range that it states, its parent is outside of it, or it is outside of "
            "its parent's; once for a row"
        ),
        "correct the parent, the range or the numbers",
    ),
    CheckCode.NATIVE_DUPLICATE: Explanation(
        "several rows have the same hash of the native; once for each hash, with the lines",
        "find out whether they are copies",
    ),
    CheckCode.NAME_SIMILAR: Explanation(
        (
            "custodians or tags that are probably one: they differ in spaces, signs or accents, or are `Last, "
            "First` and `First Last`; once for each group"
        ),
        "use one spelling",
    ),
    CheckCode.ID_SIMILAR: Explanation(
        (
            "ids that differ only in case, spaces, characters that cannot be seen, or zero padding; once for each "
            "group, with the lines"
        ),
        "find out whether they are one document",
    ),
    CheckCode.ID_SIMILAR_IN_CASE: Explanation(
        (
            "the case has a document whose id differs from one of the file only in case, spaces, characters that "
            "cannot be seen, or zero padding; once for each group, with the first line"
        ),
        (
            "find out whether they are one document. If so, correct the id before you import; the import would create "
            "a second document"
        ),
    ),
    CheckCode.CASE_DOCUMENTS_NOT_IN_FILE: Explanation(
        (
            "documents of the case have numbers between the first and the last of the file, and no row has their id or "
            "their first number: a replacement production that lacks documents; once for each prefix, with their "
            "number and the first 20. If more documents are missing from the file than it has, it is taken for part of "
            "a production and nothing is reported"
        ),
        "if the file replaces an earlier production, ask the sender whether they were withdrawn",
    ),
    CheckCode.DATE_FUTURE: Explanation(
        "a date is more than 14 hours after the check (a date without an offset can be of any time zone)",
        "compare it with the document",
    ),
    CheckCode.DATE_BEFORE_1970: Explanation(
        "a date is before 1970",
        "compare it with the document",
    ),
}
