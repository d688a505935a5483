"""Sign URLs to get evidence, so that a browser shows it only if nothing in it can run.

Guaranteed: the response's type is one of SHOWN, by the extension of the path, or `application/octet-stream`, whatever
is stored with the object; what is not of SHOWN is downloaded. HTML, SVG, XML and scripts are not of SHOWN.
Not guaranteed: that a file has the content that its extension promises.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from shell.aws.presigned_urls import presign_download
from shell.settings import settings

BINARY = "application/octet-stream"
_TEXT = "text/plain; charset=utf-8"
# By extension. A browser shows these types itself, or cannot show them and downloads them.
SHOWN = {
    "bmp": "image/bmp",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "csv": _TEXT,
    "log": _TEXT,
    "txt": _TEXT,
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
# RFC 6266, appendix D: names in `filename` that clients read differently.
_UNSAFE = frozenset('"\\%;')


class Download(NamedTuple):
    """A signed URL, the type with which it responds, and how long it is valid."""

    url: str
    media_type: str
    expires_s: int


def find_media_type(path: str) -> str:
    """Return the type with which a file is served."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return SHOWN.get(name.rpartition(".")[2].lower(), BINARY) if "." in name else BINARY


def sign_download(key: str, version_id: str | None, path: str, *, is_saved: bool = False) -> Download:
    """Return the URL to get an object; a browser saves it under the name of the path, with `is_saved` at once."""
    media_type = find_media_type(path)
    kind = "attachment" if is_saved or media_type == BINARY else "inline"
    url = presign_download(settings().bucket, key, version_id, media_type, f"{kind}; {_format_name(path)}")
    return Download(url, media_type, settings().upload_url_seconds)


def _format_name(path: str) -> str:
    """Return the file name as parameters of Content-Disposition (RFC 6266, section 4.3), in ASCII and in UTF-8."""
    name = path.replace("\\", "/").rpartition("/")[2] or "file"
    plain = "".join(each if each.isascii() and each.isprintable() and each not in _UNSAFE else "_" for each in name)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
