"""The summary of a check: what was found, by code, and whether it stands in the way of an import."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum

from core.codes import FileFailure, Rejection, VolumeCode, WarningCode
from core.file_options import MissingFiles

# Chunks number the findings of a line from 0 and stay below; an attempt to end a check numbers its findings from a
# multiple of it.
FINDINGS_PER_ATTEMPT = 10**12


class Severity(StrEnum):
    """How serious a finding is: with an error, a row or the whole file is not imported."""

    ERROR = "error"
    WARNING = "warning"


class CheckStatus(StrEnum):
    """The result of a check: nothing was found, warnings alone, or errors."""

    OK = "ok"
    WARNINGS = "warnings"
    ERRORS = "errors"


@dataclass(frozen=True)
class CodeSummary:
    """All findings of a code: how many there are, the first line (0: the whole file), and the message there.

    The count of an error is that of the rows which have it.
    """

    code: str
    severity: Severity
    count: int
    first_line: int
    message: str


_ERRORS = frozenset(map(str, (*FileFailure, *Rejection))) - {str(FileFailure.NO_ROWS)}


# What a missing file of a volume is, in a row or in an image load file.
_MISSING: frozenset[str] = frozenset(
    (
        *(VolumeCode.NATIVE_MISSING, VolumeCode.TEXT_MISSING, VolumeCode.PATH_REFUSED, VolumeCode.PATH_AMBIGUOUS),
        WarningCode.IMAGE_MISSING,
    )
)


def judge_severity(code: str, missing_files: MissingFiles) -> Severity:
    """Return the severity of every finding with this code, if missing files are treated so."""
    is_error = code in _ERRORS or (missing_files is MissingFiles.REJECT and code in _MISSING)
    return Severity.ERROR if is_error else Severity.WARNING


def judge_check(summaries: Iterable[CodeSummary]) -> CheckStatus:
    """Return the status of a check with these findings."""
    severities = {each.severity for each in summaries}
    if Severity.ERROR in severities:
        return CheckStatus.ERRORS
    return CheckStatus.WARNINGS if severities else CheckStatus.OK


def map_severities(text: str | None) -> dict[str, Severity]:
    """Return the severity of each code of the summaries that `write_summaries` wrote."""
    return {each.code: each.severity for each in read_summaries(text or "[]")}


def write_summaries(summaries: Sequence[CodeSummary]) -> str:
    """Return the summaries as JSON text for `read_summaries`."""
    return json.dumps(list(map(astuple, summaries)), ensure_ascii=False)


def read_summaries(text: str) -> list[CodeSummary]:
    """Return the summaries that `write_summaries` wrote."""
    return [CodeSummary(code, Severity(kind), *rest) for code, kind, *rest in json.loads(text)]
