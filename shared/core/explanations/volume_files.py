"""What is wrong with a file of a volume."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import VolumeCode
from core.explanations.explanation import Explanation

VOLUME_FILES: Mapping[str, Explanation] = {
    VolumeCode.NATIVE_MISSING: Explanation(
        "the volume has no file at the path of the native",
        "ask the sender for it; compare the path with the folders of the volume",
    ),
    VolumeCode.TEXT_MISSING: Explanation(
        "the volume has no file at the path of the text",
        "ask the sender for it; compare the path with the folders of the volume",
    ),
    VolumeCode.FILE_EMPTY: Explanation(
        "the file has no bytes",
        "ask the sender whether the document is empty",
    ),
    VolumeCode.HASH_MISMATCH: Explanation(
        (
            "an MD5, SHA-1 or SHA-256 in a column of hashes is not that of the native's bytes, as far as these are "
            "known: see `verify_hashes`; the hash of an e-mail often covers some of its fields instead"
        ),
        "for other documents, ask the sender for the file again",
    ),
    VolumeCode.PATH_REFUSED: Explanation(
        (
            "the path leads out of the volume: it has `..`, a control character, or a drive, share or URL that "
            "`stripPrefix` does not name; or it has more than 4,096 characters"
        ),
        "set `strip_prefix`, or correct the path",
    ),
    VolumeCode.PATH_AMBIGUOUS: Explanation(
        "several files of the volume have the path but for case or composition, and none has it exactly",
        "write the path as the file's",
    ),
    VolumeCode.LATE_FILE: Explanation(
        (
            "the file was there when the list of the volume was complete, but was not in it; files after that are "
            "not reported"
        ),
        "put it into another volume",
    ),
    VolumeCode.UNREFERENCED_FILE: Explanation(
        "neither a row nor a page names the file",
        "ask the sender whether rows are missing",
    ),
    VolumeCode.FILE_OF_REJECTED_ROW: Explanation(
        "only rejected rows name the file; `line` and `row_code` are those of the row",
        "correct the row, and import its error file",
    ),
}
