"""The header fields that name a request and a version."""

from __future__ import annotations

import pytest

from core.errors import InvalidInputError
from core.http_headers import format_etag, parse_idempotency_key, parse_versions

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
