"""SHA-256 whose state can be stored, so that another process goes on where this one stopped.

hashlib does not export its state. OpenSSL's SHA256_CTX is a public plain structure (openssl/sha.h, "SHA256_Init(3)"):
its bytes are the state. Where OpenSSL cannot be loaded, the digest is hashlib's and there is no state to store; the
bytes before are then hashed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from ctypes import CDLL, c_char_p, c_size_t, create_string_buffer
from functools import cache

# Eight words of the hash, two of the length, 16 of pending data, and two counters, of 32 bits each.
_STATE_BYTES = 28 * 4
_PROBE = b"a block of 64 bytes and some more, so that both the hash and the rest count"


class ResumableSha256:
    """A SHA-256 digest, from the beginning or from the `state` of another one.

    `bytes_before` yields the bytes that are in the state; it is called only where the state cannot be used.
    """

    def __init__(self, state: bytes | None = None, bytes_before: Callable[[], Iterable[bytes]] = tuple) -> None:
        self._library = _load_library()
        self._hashlib = hashlib.sha256()
        self._state = create_string_buffer(state or b"", _STATE_BYTES)
        if self._library and state is None:
            self._library.SHA256_Init(self._state)
        if state is None or self._library is None:
            for each in bytes_before():
                self.update(each)

    def update(self, raw: bytes) -> None:
        """Add the bytes."""
        if self._library:
            self._library.SHA256_Update(self._state, raw, len(raw))
        else:
            self._hashlib.update(raw)

    def digest(self) -> bytes:
        """Return the digest of the bytes so far; more may be added."""
        return _finish(self._library, self._state.raw) if self._library else self._hashlib.digest()

    def export_state(self) -> bytes | None:
        """Return the state for a new instance; None if it cannot be exported."""
        return self._state.raw if self._library else None


def _finish(library: CDLL, state: bytes) -> bytes:
    digest = create_string_buffer(32)
    library.SHA256_Final(digest, create_string_buffer(state, _STATE_BYTES))
    return digest.raw


@cache
def _load_library() -> CDLL | None:
    """Return the OpenSSL that Python uses, or the system's; None if neither computes SHA-256 as hashlib does."""
    import _hashlib

    for name in (getattr(_hashlib, "__file__", None), "libcrypto.so.3"):
        try:
            library = _declare(CDLL(name)) if name else None
        except (OSError, AttributeError):
            continue
        if library and _computes(library):
            return library
    return None


def _declare(library: CDLL) -> CDLL:
    library.SHA256_Init.argtypes = [c_char_p]
    library.SHA256_Update.argtypes = [c_char_p, c_char_p, c_size_t]
    library.SHA256_Final.argtypes = [c_char_p, c_char_p]
    return library


def _computes(library: CDLL) -> bool:
    state = create_string_buffer(_STATE_BYTES)
    library.SHA256_Init(state)
    library.SHA256_Update(state, _PROBE, len(_PROBE))
    return _finish(library, state.raw) == hashlib.sha256(_PROBE).digest()
