"""The end of a family that is the number of its last attachment, which extends that of the parent."""

from __future__ import annotations

import pytest

from core.checks.families import read_statement
from core.codes import CheckCode


@pytest.mark.parametrize("end", ["DOC00000002_A001", "DOC00000002.0003", "DOC00000002-1", "DOC00000002 a2"])
def test_an_attachment_is_numbered_after_its_parent(end: str) -> None:
    assert read_statement("DOC00000002", end) == (None, ())


@pytest.mark.parametrize("end", ["DOX00000003", "DOC00000003_A001", "DOC000000021_A1"])
def test_another_number_is_still_of_another_series(end: str) -> None:
    assert read_statement("DOC00000002", end) == (None, (CheckCode.BATES_PREFIX,))
