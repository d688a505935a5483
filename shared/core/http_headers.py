"""The request headers Idempotency-Key, If-Match and If-None-Match, and the response headers ETag and
Content-Disposition.
"""

from __future__ import annotations

import re
from collections.abc import Container
from urllib.parse import quote

from core.errors import InvalidInputError

MAX_KEY_CHARACTERS = 255
# Bare, or a string of RFC 8941, section 3.3.3, as the draft of the Idempotency-Key header requires.
_BARE = r"[!#-~](?:[ -~]{0,253}[!-~])?"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\["\\]){1,255}"'
KEY_PATTERN = f"^(?:{_BARE}|{_QUOTED})$"
_KEY = re.compile(KEY_PATTERN)

_TAG = r'(?:W/)?"[!#-~]*"'
# A list may have white space around its commas, and empty members (RFC 9110, section 5.6.1.2).
ETAGS_PATTERN = rf"^(?:\*|[ \t,]*{_TAG}(?:[ \t]*,[ \t,]*{_TAG}){{0,9}}[ \t,]*)$"
_ETAGS = re.compile(ETAGS_PATTERN)
_VERSION = re.compile(r'(?<!W/)"([1-9][0-9]{0,9})"')
_ANY_VERSION = range(1, 2**63)
# What Windows, macOS or Linux refuse in a name of a file, and what a header cannot have in quotes.
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u2028\u2029\ud800-\udfff]')
_NOT_ASCII = re.compile(r"[^ !#-~]|%")
_MAX_NAME_CHARACTERS = 150


def parse_idempotency_key(field: str) -> str:
    """Return the key of an Idempotency-Key header; `"a"` and `a` are the same key.

    Raises InvalidInputError unless the key has 1 to 255 printable ASCII characters.
    """
    text = field.strip(" \t")
    if not _KEY.match(text):
        raise InvalidInputError(
            f"Idempotency-Key must be 1 to {MAX_KEY_CHARACTERS} printable ASCII characters, bare or in double quotes."
        )
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def format_etag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


def parse_versions(field: str) -> Container[int]:
    """Return the versions that an If-Match header allows (RFC 9110, section 13.1.1).

    `*` allows every version. Weak tags, and tags of another form, allow none.
    Raises InvalidInputError unless the header is `*` or a list of one to ten entity tags. RFC 9110 allows an empty
    list; it is refused because it names no version: 400 says so, 412 would not.
    """
    text = field.strip(" \t")
    if not _ETAGS.match(text):
        raise InvalidInputError(
            'If-Match must be the ETag of the version that you are changing, as in If-Match: "3", or * for any version.'
        )
    if text == "*":
        return _ANY_VERSION
    return frozenset(int(version) for version in _VERSION.findall(text))


def matches_etag(field: str | None, etag: str) -> bool:
    """Return whether an If-None-Match header has a tag, compared weakly (RFC 9110, section 13.1.2)."""
    text = (field or "").strip(" \t")
    tags = {each.strip(" \t").removeprefix("W/") for each in text.split(",")}
    return text == "*" or etag.removeprefix("W/") in tags


def name_download(*parts: str) -> str:
    """Return a name for a file, with its parts in order; the last one, with the suffix, is never cut."""
    *first, last = (_NOT_IN_NAMES.sub("_", part) for part in parts)
    room = _MAX_NAME_CHARACTERS - len(last) - 3
    return f"{' - '.join(first)[:room].strip(' .')} - {last}"


def format_attachment(file_name: str) -> str:
    """Return the Content-Disposition of a download (RFC 6266): its name in ASCII, then as it is (RFC 5987)."""
    plain = _NOT_ASCII.sub("_", file_name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"
