"""The header fields that name a request and a version."""

from __future__ import annotations

import pytest

from core.errors import InvalidInputError
from core.http_headers import (
    format_attachment,
    format_etag,
    matches_etag,
    name_download,
    parse_idempotency_key,
    parse_versions,
)

KEYS = [
    *(
        ("abc", "abc"),
        ('"abc"', "abc"),
        (" abc\t", "abc"),
        ("a b", "a b"),
        ('"a b "', "a b "),
        (r'"a\"b\\c"', 'a"b\\c'),
    ),
    *(("k" * 255, "k" * 255), ('"' + "k" * 255 + '"', "k" * 255), ('"' + r"\"" * 255 + '"', '"' * 255)),
    ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
]


@pytest.mark.parametrize(("field", "key"), KEYS)
def test_a_key_comes_quoted_or_bare(field: str, key: str) -> None:
    assert parse_idempotency_key(field) == key


@pytest.mark.parametrize("field", ["", '""', '"', '"a', r'"a\b"', "k" * 256, '"' + "k" * 256 + '"', "ä", "a\0b"])
def test_what_is_no_key_is_refused(field: str) -> None:
    with pytest.raises(InvalidInputError, match="Idempotency-Key"):
        parse_idempotency_key(field)


NAMED: list[tuple[str, set[int]]] = [
    *((format_etag(7), {7}), ('"3"', {3}), ('"3", "4"', {3, 4}), ('"3","4"', {3, 4}), ('W/"3", "4"', {4})),
    *((field, set()) for field in ('W/"3"', '"abc"', '"03"', '"99999999999"')),
    # White space around commas, and members that are empty.
    *((field, {3, 4}) for field in ('"3"  ,\t "4"', '"3",,"4"', ',"3" , ,\t"4", ,', '\t, W/"5" ,"3","4"')),
    (", ,".join(['"1"'] * 10), {1}),
    *(('"a,"\t,"3"', {3}), ('"3,4" , ', set())),
]


@pytest.mark.parametrize(("field", "allowed"), NAMED)
def test_if_match_allows_the_versions_that_it_names_strongly(field: str, allowed: set[int]) -> None:
    assert parse_versions(field) == allowed


def test_an_asterisk_allows_every_version() -> None:
    assert all(version in parse_versions(" * ") for version in (1, 2, 2**31))


REFUSED = ["", ",", " , ", "*, *", "*,", '*, "3"', "**", "3", '"3', '"3" "4"', '"3"\n,"4"', ", ".join(['"1"'] * 11)]


@pytest.mark.parametrize("field", REFUSED)
def test_an_if_match_without_an_etag_is_refused(field: str) -> None:
    with pytest.raises(InvalidInputError, match="If-Match"):
        parse_versions(field)


@pytest.mark.parametrize(
    ("field", "matches"),
    [
        *((None, False), ("", False), ("*", True), ('W/"a"', True), ('"a"', True), ('"b"', False), ("a", False)),
        *(('"b", W/"a"', True), ('\t"b" ,"a" ', True), ('W/"b", "c"', False)),
    ],
)
def test_if_none_match_is_compared_weakly(field: str | None, matches: bool) -> None:
    assert matches_etag(field, 'W/"a"') is matches


def test_the_name_of_a_download_says_what_it_is_of_and_is_one_that_every_system_takes() -> None:
    assert name_download("Smith v. Jones", "import 7", "report.csv") == "Smith v. Jones - import 7 - report.csv"
    hostile = name_download('../a\\b:*?"<>|\r\n\ud800', "import 7", "report.csv")
    assert not set(hostile) & set('/\\:*?"<>|\r\n\ud800')
    long = name_download("Fall " * 100, "import 7", "report.csv")
    assert (len(long) <= 150, long.endswith(" - report.csv")) == (True, True)


def test_a_download_has_its_name_in_ascii_and_as_it_is() -> None:
    plain = format_attachment("Smith v. Jones - report.csv")
    assert plain == (
        "attachment; filename=\"Smith v. Jones - report.csv\"; filename*=UTF-8''Smith%20v.%20Jones%20-%20report.csv"
    )
    assert format_attachment('Mü"%\r\n.csv') == (
        "attachment; filename=\"M_____.csv\"; filename*=UTF-8''M%C3%BC%22%25%0D%0A.csv"
    )
