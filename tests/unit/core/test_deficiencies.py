"""Every code is something for the producing party or not, and what it reads is in its words."""

from __future__ import annotations

import re

import pytest

from core.checks.deficiencies import (
    _ADVICE,
    DEFICIENT,
    HEADINGS,
    LISTED_IN_TEXT,
    NOT_DEFICIENT,
    Deficiency,
    Request,
    describe_deficiency,
    format_text,
)
from core.codes import CheckCode, Rejection, VolumeCode, WarningCode
from core.families.kinds import FamilyKind
from core.families.unread import KindCount, describe_unread
from tests.unit.core.test_lacking_documents import find
from tools.sources import ROOT

GAP_ADVICE = " Look first whether a rejected row has these numbers."
CODES = [*Rejection, *WarningCode, *CheckCode, *VolumeCode]


def describe(code: str, message: str = "") -> Deficiency | None:
    return describe_deficiency("a.dat", code, 7, message, document="A-1", column="Date", value="x" * 300)


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_decided(code: str) -> None:
    assert (code in DEFICIENT) != (code in NOT_DEFICIENT)
    assert (describe(code, "Line 7: it is so. Do this.") is None) == (code in NOT_DEFICIENT)


def test_every_request_has_a_heading() -> None:
    assert set(HEADINGS) == set(Request) == set(DEFICIENT.values())


@pytest.mark.parametrize(
    ("code", "message", "detail"),
    [
        ("PAGES_MISSING", "Line 7: the file is. Missing: A1. Ask the sender for it.", "The file is. Missing: A1."),
        (
            "BATES_GAP",
            f"Line 7: 2 missing: A4 to A5.{GAP_ADVICE}",
            "2 missing: A4 to A5.",
        ),
        ("INVALID_DATE", "Not a date (read as MDY)", "The date cannot be read."),
    ],
)
def test_the_detail_is_what_was_stated_and_found(code: str, message: str, detail: str) -> None:
    found = describe(code, message)
    assert found is not None
    assert found.detail == detail
    assert found.value == f"{'x' * 200} (cut)"


def test_the_producing_party_reads_nothing_of_the_case() -> None:
    for file, detail in (
        ({3, 6}, "These documents of an earlier production are not in this file: A004, A005."),
        ({3, 4, 6}, "This document of an earlier production is not in this file: A005."),
    ):
        (finding,) = find(file, {4, 5} - file)
        found = describe(CheckCode.CASE_DOCUMENTS_NOT_IN_FILE, finding.message)
        assert found is not None
        assert found.detail == detail
    count = KindCount(named=5)
    count.add_missing("A-9", 7)
    (column,) = describe_unread({FamilyKind.BEGIN: count}, {"family_begin": "BEGATTACH"})
    found = describe(WarningCode.FAMILY_NOT_READ, column.message)
    assert found is not None
    assert found.detail == (
        "1 of the 5 values that name the first document of a family name no document, such as A-9 (line 7)."
    )
    sentences = [each.detail for code in CODES if (each := describe(code, "It is so."))]
    assert [sentence for sentence in sentences if "case" in sentence] == []


def test_the_text_lists_each_request_once_and_says_how_much_it_leaves_out() -> None:
    first = Deficiency(Request.SEND_PAGES, "a.opt", 1, "A-1", "", "", "Page\nmissing.")
    pages = [first, *(first._replace(line=line, document=f"A-{line}") for line in range(2, 203))]
    rows = [Deficiency(Request.RESEND_ROWS, "a.dat", 0, "", "Date", "31/31", "The row is wrong.")]
    counts = {Request.SEND_PAGES: 202, Request.RESEND_ROWS: 1}
    lines = list(format_text("VOL001", counts, [*pages, *rows]))
    assert lines[:4] == [
        "Deficiencies of VOL001",
        "",
        "Send the pages that are missing, or cannot be opened (202):",
        "  - A-1 (a.opt, line 1): Page missing.",
    ]
    assert lines[LISTED_IN_TEXT + 3] == "  - and 2 more; deficiencies.csv has all"
    assert lines[-3:] == [
        "Send these rows again, corrected (1):",
        "  - (a.dat, column Date): The row is wrong. [31/31]",
        "",
    ]
    assert list(format_text("VOL001", {}, []))[-1] == "Nothing that has to be sent or corrected was found."


# The messages of the checks, with the parts of a text that is longer than a line joined.
SOURCES = [
    re.sub(r'"\n +f?"', "", path.read_text("utf-8"))
    for folder in ("core/checks", "core/families", "core/imports", "core/image_load_file", "shell/imports/images")
    for path in sorted((ROOT / "shared" / folder).rglob("*.py"))
    if path.name != "deficiencies.py"
]


@pytest.mark.parametrize("code", sorted({*_ADVICE}))
def test_the_advice_of_a_code_is_one_of_its_messages_in_the_source(code: str) -> None:
    """Each begin of advice is written in the module that writes the message."""
    for advice in _ADVICE[code]:
        assert any(advice.strip() in text for text in SOURCES), advice


def test_a_number_with_a_sentence_in_it_is_not_cut() -> None:
    message = "Line 7: J. Smith 1 and J. Smith 2. A9 differ in prefix or suffix. Correct the one that is wrong."
    found = describe(CheckCode.BATES_PREFIX, message)
    assert found is not None
    assert found.detail == "J. Smith 1 and J. Smith 2. A9 differ in prefix or suffix."
    fact = "'J. Correct it, or map the column' is not a Bates number, which has digits."
    found = describe(CheckCode.BATES_UNPARSED, f"Line 7: {fact} Correct it, or map the column to property.")
    assert found is not None
    assert found.detail == fact
