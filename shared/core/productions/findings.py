"""What is noticed about the documents of a production before their numbers are reserved.

A finding that blocks refuses the production; any other is a warning that is stored with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

MAX_IDS = 100


class FindingCode(StrEnum):
    """The codes of findings."""

    INCOMPLETE_FAMILY = "INCOMPLETE_FAMILY"
    PAGE_COUNT = "PAGE_COUNT"
    BATES_OVERLAP = "BATES_OVERLAP"
    PRIVILEGED_TAG = "PRIVILEGED_TAG"
    FILE_MISSING = "FILE_MISSING"
    IMAGE_NOT_WHOLE = "IMAGE_NOT_WHOLE"
    IMAGE_MIXED = "IMAGE_MIXED"
    IMAGE_UNREADABLE = "IMAGE_UNREADABLE"


_MESSAGES = {
    FindingCode.INCOMPLETE_FAMILY: "Members of a family are not selected. Select them, or produce without them.",
    FindingCode.PAGE_COUNT: (
        "The image load file states another number of pages than the images have. Numbers follow the images."
    ),
    FindingCode.BATES_OVERLAP: (
        "A load file gives documents of the case Bates numbers that the production assigns too. Use another prefix."
    ),
    FindingCode.PRIVILEGED_TAG: (
        "Documents have a tag of which the name says that they are privileged. Select documents without it, unless the "
        "privilege is waived."
    ),
    FindingCode.FILE_MISSING: (
        "Files are missing in the bucket or in their volume. Upload the files again; those of a volume, by an import "
        "of the volume in mode append_overlay."
    ),
    FindingCode.IMAGE_NOT_WHOLE: (
        "A part of an image file is used, or its pages in another order. Split the file, and load the pages again."
    ),
    FindingCode.IMAGE_MIXED: (
        "A document has several image files, one of them with several pages. Send one file, or a file for each page."
    ),
    FindingCode.IMAGE_UNREADABLE: (
        "The pages of an image file cannot be counted: it is damaged, encrypted or of an unknown format. Replace it."
    ),
}
_WARNINGS = frozenset(
    {
        FindingCode.INCOMPLETE_FAMILY,
        FindingCode.PAGE_COUNT,
        FindingCode.BATES_OVERLAP,
        FindingCode.PRIVILEGED_TAG,
    }
)
# "Not Privileged" and "Non-privileged" are tags of other documents.
_PRIVILEGED = re.compile(r"(?<!no[nt])(?<!no[nt][ _-])(?<!un)priv(?:ileg|\b)", re.IGNORECASE)


@dataclass(frozen=True)
class GroupedFinding:
    """A finding: the first ids of the exhibits that it is about, and the number of all of them."""

    code: FindingCode
    count: int
    exhibit_ids: tuple[int, ...]

    @property
    def blocks(self) -> bool:
        """Whether documents with this finding cannot be produced."""
        return self.code not in _WARNINGS

    @property
    def message(self) -> str:
        """What was found and what to do next, without content of a document."""
        return _MESSAGES[self.code]


def says_privileged(tag: str) -> bool:
    """Return whether the name of a tag says that its documents are privileged."""
    return _PRIVILEGED.search(tag) is not None


def format_findings(findings: Iterable[GroupedFinding]) -> str:
    """Return the findings as JSON."""
    return json.dumps([asdict(each) for each in findings])


def parse_findings(stored: str | None) -> list[GroupedFinding]:
    """Return the findings that `format_findings` has formatted, none for None."""
    rows = json.loads(stored) if stored else []
    return [GroupedFinding(FindingCode(row["code"]), row["count"], tuple(row["exhibit_ids"])) for row in rows]


def group_findings(found: Iterable[tuple[FindingCode, int]]) -> list[GroupedFinding]:
    """Return a finding for each code, in the order of the codes; `found` are codes and ids of exhibits."""
    ids: dict[FindingCode, set[int]] = {}
    for code, exhibit_id in found:
        ids.setdefault(code, set()).add(exhibit_id)
    return [
        GroupedFinding(code, len(ids[code]), tuple(sorted(ids[code])[:MAX_IDS])) for code in FindingCode if code in ids
    ]
