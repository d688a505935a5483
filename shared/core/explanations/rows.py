"""Why a row of a load file is rejected."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import Rejection
from core.explanations.explanation import Explanation

REJECTED_ROWS: Mapping[str, Explanation] = {
    Rejection.MISSING_ID: Explanation(
        "the id's cell is blank",
        "give the row an id",
    ),
    Rejection.DUPLICATE_ID: Explanation(
        (
            "an earlier line of this file, given in the message, has the same id, or another number of the same "
            "document; that row is in the case"
        ),
        (
            "if it is the right one, do nothing; if both are documents, give this row another id; if this row is "
            "the right one, correct the exhibit over the API"
        ),
    ),
    Rejection.EXISTS_WITH_OTHER_VALUES: Explanation(
        (
            "the case holds this id with other values, perhaps because it was edited since its import; the message "
            "names the columns that differ, both values, and the import, file and line that the stored ones came "
            "from"
        ),
        "compare the two; to change the document, [overlay it](#change-documents-with-a-later-file)",
    ),
    Rejection.NOT_IN_CASE: Explanation(
        (
            "the case has no document with the id or begin Bates number of an overlay's row; the message names the "
            "document whose id differs only in case, zeros before a number, spaces or characters that cannot be seen"
        ),
        "correct it; if it is a new document, import with `append_overlay`",
    ),
    Rejection.DOCUMENT_CHANGED: Explanation(
        (
            "a corrected row of an overlay would change a document that was created or changed after its import "
            "rejected the row, or that has another version than the row states; the message says by what"
        ),
        (
            "look at the document; if the row is still right, correct it with the `version` of the document, or import "
            "it as an overlay of its own"
        ),
    ),
    Rejection.LINE_NOT_OPEN: Explanation(
        (
            "the file says which import it corrects, and the line of the row is not an open rejected row of that "
            "import; the message says why"
        ),
        (
            "nothing, if the line is corrected already; import a row that you added in a file of its own, without "
            "`corrects`"
        ),
    ),
    Rejection.AMBIGUOUS_KEY: Explanation(
        (
            "several documents of the case have a range that begins with the Bates number of an overlay's row; the "
            "message lists up to 20 of them"
        ),
        "overlay them by control number",
    ),
    Rejection.WRONG_CELL_COUNT: Explanation(
        "the row has more or fewer cells than the header, or the last cell of an error file's row is not a line",
        "look for a delimiter inside an unquoted cell",
    ),
    Rejection.MALFORMED_QUOTING: Explanation(
        "a qualifier is not closed, or is not doubled inside a cell",
        "close or double it",
    ),
    Rejection.UNDECODABLE_BYTES: Explanation(
        "bytes are not valid in the file's encoding",
        "re-encode the cell, or set the option `encoding`",
    ),
    Rejection.KEY_TOO_LONG: Explanation(
        "an id or name is longer than its column",
        "shorten it; check the quoting of the file",
    ),
    Rejection.KEY_NOT_STORABLE: Explanation(
        (
            "an id has a line break or another control character inside, or an id or name has a character that the "
            "database cannot store"
        ),
        "check the quoting of the file; remove the character; deploy with utf8mb4",
    ),
    Rejection.TOO_MANY_VALUES: Explanation(
        "a cell has more than 1,000 custodians or tags",
        "check the column's mapping",
    ),
    Rejection.RECORD_TOO_LARGE: Explanation(
        "a record is over 16 MB",
        "look for an unclosed qualifier, or move the text to a file of a volume and give its path",
    ),
    Rejection.VALUE_REFUSED: Explanation(
        "the database refused a value; the message has its error number",
        "ask the operator; on your own machine the logs are in `.local/logs`",
    ),
    Rejection.CHUNK_FAILED: Explanation(
        "a run of rows failed in every attempt",
        "import the rejected rows again; then ask the operator",
    ),
}
