"""The request headers Idempotency-Key and If-Match, and the response header ETag."""

from __future__ import annotations

import re
from collections.abc import Container

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
