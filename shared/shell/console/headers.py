"""The security headers of every response of the console. Pure.

Guaranteed: scripts and styles come from this origin alone, in files; text from evidence that reached the page as markup
could neither run nor load anything. Connections go to this origin, the bucket, and where users sign in. Nothing is
framed: a PDF opens in a tab of its own. The one policy of Trusted Types names one script of this origin, that of the
worker that decodes TIFF files, whatever it is given.
"""

from __future__ import annotations

from shell.settings import ConsoleSettings


def build_headers(settings: ConsoleSettings) -> dict[str, str]:
    """Return the headers by name, in lower case."""
    return {
        "content-security-policy": _build_policy(settings.storage, settings.sign_in_domain),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "strict-transport-security": "max-age=31536000",
    }


def _build_policy(storage: str, sign_in: str) -> str:
    connect = " ".join(["'self'", storage, *([sign_in] if sign_in else [])])
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data: blob: {storage}; connect-src {connect}; worker-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types tiff-worker"
    )
