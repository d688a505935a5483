"""Get files from presigned URLs.

Guaranteed: a file has its name only when all its bytes are there, and then only the user can read it; nothing of a URL
is in a message.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from exhibit_ingest.errors import CommandError

if TYPE_CHECKING:
    import httpx

_ATTEMPTS = 5
_BLOCK = 1024 * 1024


class DownloadError(CommandError):
    """The storage does not answer, or refuses the URL; `is_expired` if a new URL may help."""

    def __init__(self, message: str, *, is_expired: bool = False) -> None:
        super().__init__(message)
        self.is_expired = is_expired


def make_private_folder(folder: Path) -> Path:
    """Create the folder if it is missing, for its owner alone, and return it; one of another user stays as it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(PermissionError):
        folder.chmod(0o700)
    return folder


def download(
    http: httpx.Client,
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    on_bytes: Callable[[int], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Write the object of a URL to a file, in place of an earlier one; begin again, a few times, if it breaks off.

    `on_bytes` gets the bytes of each block, and their negative sum where it begins again. The folder must exist. With
    `sha256`, the file gets its name only with bytes of this hash. Raises DownloadError and OSError.
    """
    import httpx

    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            for attempt in range(_ATTEMPTS):
                digest = hashlib.sha256()
                try:
                    _read(http, url, _write_both(file.write, digest.update), path.name, on_bytes)
                    break
                except httpx.TransportError as exc:
                    if attempt == _ATTEMPTS - 1:
                        raise DownloadError(
                            f"{path.name} did not arrive ({type(exc).__name__}). Run the command again."
                        ) from exc
                    on_bytes(-file.tell())
                    file.seek(0)
                    file.truncate()
                    sleep(2**attempt)
            if sha256 is not None and digest.hexdigest() != sha256.lower():
                raise DownloadError(
                    f"{path.name} arrived with other bytes than its SHA-256 says. Run the command again."
                )
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise


def _write_both(write: Callable[[bytes], int], update: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def write_both(block: bytes) -> None:
        write(block)
        update(block)

    return write_both


def _read(
    http: httpx.Client, url: str, write: Callable[[bytes], None], name: str, on_bytes: Callable[[int], None]
) -> None:
    with http.stream("GET", url) as response:
        if not response.is_success:
            is_expired = response.status_code in (400, 401, 403)
            text = f"The storage refused to send {name} ({response.status_code}). Run the command again."
            raise DownloadError(text, is_expired=is_expired)
        # The bytes of the object as they are stored, whatever coding a header names.
        for block in response.iter_raw(_BLOCK):
            write(block)
            on_bytes(len(block))
