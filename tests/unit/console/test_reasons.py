"""The page that corrects rejected rows has words for every reason that a row can have."""

from __future__ import annotations

import re

from core.codes import Rejection, VolumeCode, WarningCode
from local.stack.options import REPOSITORY

WORDS = REPOSITORY / "console" / "src" / "ui" / "codes.ts"
# Rows that name these files are rejected if the import rejects what is missing (`missing_files`).
OF_FILES = {
    *(VolumeCode.NATIVE_MISSING, VolumeCode.TEXT_MISSING, VolumeCode.PATH_REFUSED, VolumeCode.PATH_AMBIGUOUS),
    WarningCode.IMAGE_MISSING,
}


def test_every_reason_has_its_words() -> None:
    named = re.findall(r"^  ([A-Z_]+): \{", WORDS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(each.value for each in (*Rejection, *OF_FILES))
