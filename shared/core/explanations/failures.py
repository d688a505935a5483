"""Why a whole file or a whole volume fails."""

from __future__ import annotations

from collections.abc import Mapping

from core.codes import FileFailure, VolumeFailure
from core.explanations.explanation import Explanation

FAILED_FILES: Mapping[str, Explanation] = {
    FileFailure.EMPTY_FILE: Explanation(
        "the file has no bytes, or nothing but empty lines",
        "export it again and upload it",
    ),
    FileFailure.BINARY_FILE: Explanation(
        "the file is not text",
        "upload the load file, not an image, a native or a zip",
    ),
    FileFailure.UNSUPPORTED_FORMAT: Explanation(
        "DII, EDRM XML, XLSX and others",
        "the message says what to upload instead",
    ),
    FileFailure.UNSUPPORTED_ENCODING: Explanation(
        "UTF-32 among others",
        "save the file in UTF-8",
    ),
    FileFailure.UNSUPPORTED_LINE_ENDS: Explanation(
        "some rows end in CR alone and some in LF",
        "save the file with one kind of line ends",
    ),
    FileFailure.NOT_DELIMITED: Explanation(
        (
            "the first line is not divided into columns, has a qualifier that is not closed, or does not end within "
            "16 MB"
        ),
        "the message says what to check: the delimiter, the qualifier or the line ends",
    ),
    FileFailure.NO_ID_COLUMN: Explanation(
        "no column is recognised as the control number",
        'map one: `"columns": {"Doc ID": "control_number"}`; a file without a header needs `header` false',
    ),
    FileFailure.PROFILE_MISMATCH: Explanation(
        "the file lacks columns of its [profile](#mapping-profiles); the message names them",
        "import the file without the profile, or change the profile",
    ),
    FileFailure.NO_ROWS: Explanation(
        (
            "there are bytes after the header, but no row; a file that ends with its header is an import of "
            "nothing, with the warning `NO_ROWS`"
        ),
        "export the file again with its rows",
    ),
    FileFailure.TOO_MANY_COLUMNS: Explanation(
        "over 10,000 columns",
        "look for missing line ends, or export fewer columns",
    ),
    FileFailure.FILE_TOO_LARGE: Explanation(
        "over 100 GB",
        "split the file",
    ),
    FileFailure.LFP_BOUNDARIES: Explanation(
        (
            "boundary commands of an LFP cannot be applied; the message has "
            "[what is wrong](#boundary-commands-of-an-lfp), with the lines"
        ),
        "correct these lines, or ask the sender which pages each document has",
    ),
    FileFailure.SOURCE_GONE: Explanation(
        "the uploaded version is not in the bucket any more",
        "upload the file again",
    ),
    FileFailure.NOT_READ: Explanation(
        "reading failed in every attempt",
        "ask the operator for the log",
    ),
    FileFailure.BAD_OPTIONS: Explanation(
        "an option is unknown, invalid or contradicts another one; the message names it",
        "correct it",
    ),
    FileFailure.NOT_A_CORRECTION: Explanation(
        "the file does not have rows of the import that `corrects` names; the message says why: other columns, no "
        "column of lines, an import that was undone or is one of another case",
        "import the corrected rejected-rows file of that import, with all of its columns, or leave `corrects` out",
    ),
    FileFailure.NOT_UPLOADED: Explanation(
        "announced with the API, but not uploaded within 7 days",
        "announce the import again",
    ),
    FileFailure.NOT_COMPLETED: Explanation(
        (
            "every row was imported or rejected, but the last step, which decides how names are spelled, failed "
            "in every attempt"
        ),
        "repeat that step: retry the import",
    ),
    FileFailure.HELD_TOO_LONG: Explanation(
        "uploaded with `hold`, and neither checked nor run within 30 days; the file is still there",
        "retry the import: it is held again",
    ),
    FileFailure.CASE_CLOSED: Explanation(
        "uploaded into a closed case; the file is still there",
        "reopen the case, then retry the import",
    ),
    FileFailure.ROWS_PER_DAY: Explanation(
        "with this file, the imports of the day have more rows than your tenant may import a day",
        "retry the import tomorrow (UTC), or ask the operator for a higher limit",
    ),
}
FAILED_VOLUMES: Mapping[str, Explanation] = {
    VolumeFailure.ZIP_ENCRYPTED: Explanation(
        "an entry needs a password",
        "make the zip without one",
    ),
    VolumeFailure.ZIP_LINK: Explanation(
        "an entry is a link or a device",
        "put the file itself into the zip",
    ),
    VolumeFailure.ZIP_PATH: Explanation(
        (
            "the name of an entry is blank, absolute, has a drive, `..` or a control character, or with the folder "
            "of the volume more than 1,024 bytes of UTF-8; or it has a character that the database cannot store, "
            "also in the name of a file of a folder"
        ),
        "rename the file; make a zip from the volume's folder",
    ),
    VolumeFailure.ZIP_OVERLAP: Explanation(
        "an entry shares bytes with another one, or with the directory of the zip",
        "make the zip again",
    ),
    VolumeFailure.ZIP_DUPLICATE: Explanation(
        "two entries have the same path",
        "make the zip again",
    ),
    VolumeFailure.ZIP_BOMB: Explanation(
        ("an entry has more than 100 MB and more than 200 times its compressed bytes, or more bytes than the zip says"),
        "upload the file without a zip",
    ),
    VolumeFailure.ZIP_TOO_MANY: Explanation(
        "more than 2,000,000 entries",
        "split the zip",
    ),
    VolumeFailure.ZIP_TOO_LARGE: Explanation(
        "more than 1 TB when expanded",
        "split the zip",
    ),
    VolumeFailure.ZIP_METHOD: Explanation(
        "an entry is compressed with another method than Deflate (Windows uses Deflate64 for large files)",
        "make the zip with Deflate, or without compression",
    ),
    VolumeFailure.ZIP_DAMAGED: Explanation(
        (
            "the zip is cut off, contradicts itself, is one part of several, has over 65,535 bytes after its end, or "
            "the bytes of an entry do not have its size or CRC-32; or the file is a RAR, 7z, gzip or tar archive, "
            "which the message names"
        ),
        (
            "upload the zip again; if that fails, create it again. Unpack a RAR, 7z, gzip or tar archive and send the "
            "folder"
        ),
    ),
    VolumeFailure.NO_LOAD_FILE: Explanation(
        (
            "none of the places above has a load file; the message lists what there is, also archives inside the "
            "volume, which are not unpacked"
        ),
        "set `loadFile` or `imageLoadFile`; unpack the archive that has the production",
    ),
    VolumeFailure.SEVERAL_LOAD_FILES: Explanation(
        "there are several data files, OPT files beside LFP files, or more than 100 image load files; the message "
        "lists them",
        "set `loadFile` or `imageLoadFile`",
    ),
    VolumeFailure.FILES_MISSING: Explanation(
        (
            "files that were declared are not in the bucket, or have another size; or one was deleted before it was "
            "hashed"
        ),
        "upload them, and import the volume again",
    ),
    VolumeFailure.ENTRY_CONFLICT: Explanation(
        "another file is in the bucket at the place of an entry",
        "delete the volume, and upload the zip as a new one",
    ),
    VolumeFailure.NOT_LISTED: Explanation(
        "the files were not listed in any attempt",
        "import the volume again; if it fails again, ask the operator for the log",
    ),
    VolumeFailure.NOT_EXPANDED: Explanation(
        "a part of the zip was not expanded in any attempt",
        "import the volume again; if it fails again, ask the operator for the log",
    ),
    VolumeFailure.NOT_HASHED: Explanation(
        "files were not read for `verify_hashes` in any attempt",
        "import the volume again; if it fails again, ask the operator for the log",
    ),
}
