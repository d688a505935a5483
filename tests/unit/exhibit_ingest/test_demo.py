"""The demo fails where a planted row has another result than the expected one."""

import io
import re

import pytest
from rich.console import Console

from local.command.demo import print_planted_rows
from samples.demo import describe

FINDINGS = {row.line: [(code, "") for code in re.findall("[A-Z]+_[A-Z_]+", row.expected)] for row in describe()}
[ATTACHMENT] = [row for row in describe() if row.parent]
PARENTS = {ATTACHMENT.control_number or "": ATTACHMENT.parent}


@pytest.mark.parametrize(
    ("findings", "parents", "is_expected"),
    [
        (FINDINGS, PARENTS, True),
        (FINDINGS, {}, False),
        (FINDINGS, dict.fromkeys(PARENTS, "ACME0000041"), False),
        (FINDINGS | {ATTACHMENT.line: [("FAMILY_RANGE", "")]}, PARENTS, False),
        (FINDINGS | {214: []}, PARENTS, False),
        (FINDINGS | {214: [("KEY_TOO_LONG", "")]}, PARENTS, False),
    ],
)
def test_every_planted_row_has_its_expected_result(
    findings: dict[int, list[tuple[str, str]]], parents: dict[str, str | None], *, is_expected: bool
) -> None:
    assert print_planted_rows(Console(file=io.StringIO()), findings, parents) is is_expected
