"""The results of checks, and how they are printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """What a finding means for the deployment, least first."""

    OK = 0
    NOTE = 1
    UNKNOWN = 2
    PROBLEM = 3


@dataclass(frozen=True)
class Finding:
    """One sentence or more for a person: what is, and for a problem what to do."""

    severity: Severity
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.severity.name.lower():8}{self.subject}: {self.text}"


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 1 for a problem, 2 where something could not be checked, else 0."""
    worst = max((finding.severity for finding in findings), default=Severity.OK)
    return {Severity.PROBLEM: 1, Severity.UNKNOWN: 2}.get(worst, 0)


def join(names: Iterable[str]) -> str:
    """Return the names in order, as in a sentence; `none` without one."""
    return ", ".join(sorted(names)) or "none"
