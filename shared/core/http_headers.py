"""The header fields in which a client says which request this is, and which version it is changing."""

from __future__ import annotations

import re

from core.errors import InvalidInputError

MAX_KEY_CHARACTERS = 255
# Bare, or a structured field's string (RFC 8941, section 3.3.3), as the draft of the Idempotency-Key header has it.
_BARE = r"[!#-~](?:[ -~]{0,253}[!-~])?"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\["\\]){1,255}"'
KEY_PATTERN = f"^(?:{_BARE}|{_QUOTED})$"
_KEY = re.compile(KEY_PATTERN)

_TAG = r'(?:W/)?"[!#-~]*"'
ETAGS_PATTERN = rf"^(?:{_TAG}(?:[ ]?,[ ]?{_TAG}){{0,9}})$"
_ETAGS = re.compile(ETAGS_PATTERN)
_VERSION = re.compile(r'(?<!W/)"([1-9][0-9]{0,9})"')


def idempotency_key(field: str) -> str:
    """The key of an Idempotency-Key field; `"a"` and `a` are the same key.

    Raises InvalidInputError for what is no key of 1 to 255 printable ASCII characters.
    """
    text = field.strip(" \t")
    if not _KEY.match(text):
        raise InvalidInputError(
            f"Idempotency-Key must be 1 to {MAX_KEY_CHARACTERS} printable ASCII characters, bare or in double quotes"
        )
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def etag(version: int) -> str:
    """The entity tag of a version."""
    return f'"{version}"'


def versions(field: str) -> frozenset[int]:
    """The versions that an If-Match field allows; tags that cannot be ours, weak ones among them, allow none.

    Raises InvalidInputError for what is no list of at most ten entity tags, and for `*`, which would overwrite
    whatever is there.
    """
    text = field.strip(" \t")
    if not _ETAGS.match(text):
        raise InvalidInputError('If-Match must be the ETag of the version that you are changing, as in If-Match: "3"')
    return frozenset(int(version) for version in _VERSION.findall(text))
