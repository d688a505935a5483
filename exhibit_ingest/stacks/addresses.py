"""Addresses of stacks: what a user pastes, as the origin of an API."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.printable import shorten_printable

LOCAL_HOSTS = ("127.0.0.1", "localhost")
_LONGEST, _LONGEST_HOST = 200, 253
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\.?")


def read_address(text: str) -> tuple[str, str | None]:
    """Return the origin of the API in a URL, and the key in its fragment, as in the link that `serve` prints.

    The address of the console is one of its API. Raises WrongUsageError for every other path, and without https.
    """
    check_safe(text)
    parts = urlsplit(text)
    if parts.path.rstrip("/") and not f"{parts.path}/".startswith("/console/"):
        raise WrongUsageError(
            f"{_show(text)} has the path {_show(parts.path)}: give the address of the API or of its console, which the"
            " stack's outputs ApiUrl and ConsoleUrl have."
        )
    key = parse_qs(parts.fragment).get("key", [None])[0]
    return f"{parts.scheme}://{parts.netloc}".lower(), key


def check_safe(url: str) -> str:
    """Return the URL; raise WrongUsageError if it is not https, other than to this machine, or has a password."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as exc:
        raise WrongUsageError(
            f"{_show(url)} is not a URL ({exc}): give one such as https://evidence.example.com."
        ) from exc
    if parts.scheme not in ("https", "http") or not host or not _is_host(host):
        raise WrongUsageError(f"{_show(url)} is not a URL: it begins with https:// and the name of a host.")
    if parts.username is not None:
        raise WrongUsageError(f"The URL of {_show(host)} has a user or a password: give it without them.")
    if parts.scheme == "http" and host not in LOCAL_HOSTS:
        raise WrongUsageError(f"{_show(url)} is not encrypted: give an address that begins with https://.")
    return url


def _is_host(host: str) -> bool:
    """Return whether a host is an address, or a name that can be looked up (RFC 1123), of any language."""
    if ":" in host:
        return True
    try:
        if not host.isascii() or "xn--" in host:
            import idna

            host = idna.encode(idna.decode(host) if host.isascii() else host).decode()
    except UnicodeError:
        return False
    return len(host) <= _LONGEST_HOST and _HOST.fullmatch(host) is not None


def _show(text: str) -> str:
    return shorten_printable(text, _LONGEST)
