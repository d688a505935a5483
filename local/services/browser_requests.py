"""Answer browsers as S3 does: preflights and CORS headers by the rules of the bucket, bodies of any content type kept.

Guaranteed: a preflight (OPTIONS with an Origin) needs no signature and gets 200 or 403 by the first rule that matches
origin, method and headers, as in "How does Amazon S3 evaluate the CORS configuration on a bucket" of the S3 User Guide;
every other response to a request with an Origin, errors among them, has the CORS headers of the rule that matches, or
none. A PUT is stored byte by byte, also if its content type is one of HTML forms, whose bodies moto parses.
Not guaranteed: virtual-hosted addresses; the bucket is the first part of the path, as in every local URL.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote

from local.storage.request_bodies import Application

_PREFIX = "access-control-"
_FORBIDDEN = (
    b"<Error><Code>AccessForbidden</Code><Message>CORSResponse: This CORS request is not allowed. This is usually "
    b"because the evalution of Origin, request method / Access-Control-Request-Method or "
    b"Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.</Message></Error>"
)
Headers = list[tuple[str, str]]


class CorsRule(NamedTuple):
    """A CORS rule of a bucket; origins and headers can have one wildcard each."""

    origins: Sequence[str]
    methods: Sequence[str]
    headers: Sequence[str]
    exposed: Sequence[str]
    max_age: str | None

    def allows(self, origin: str, method: str, headers: Sequence[str] = ()) -> bool:
        """Return whether the rule matches a request from this origin."""
        return (
            method in self.methods
            and any(_matches(origin, pattern) for pattern in self.origins)
            and all(any(_matches(name.lower(), each.lower()) for each in self.headers) for name in headers)
        )

    def build_headers(self, origin: str, headers: str | None = None) -> Headers:
        """Return the headers of a response; `headers` are those that a preflight asked for."""
        is_open = "*" in self.origins
        return [
            ("Access-Control-Allow-Origin", "*" if is_open else origin),
            ("Access-Control-Allow-Methods", ", ".join(self.methods)),
            *([] if is_open else [("Access-Control-Allow-Credentials", "true")]),
            *([("Access-Control-Allow-Headers", headers)] if headers else []),
            *([("Access-Control-Expose-Headers", ", ".join(self.exposed))] if self.exposed else []),
            *([("Access-Control-Max-Age", self.max_age)] if self.max_age else []),
            ("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"),
        ]


def _matches(text: str, pattern: str) -> bool:
    """Return whether a pattern with `*`, and no other wildcard, matches the text."""
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def answer_browsers(application: Application) -> Application:
    """Return the WSGI application, a method, with preflights answered before it and CORS headers in its responses."""

    def answered(self: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        origin, rules = environ.get("HTTP_ORIGIN"), _find_rules(environ)
        if origin is None or rules is None:
            return application(self, environ, start_response)
        if environ["REQUEST_METHOD"] == "OPTIONS":
            return _answer_preflight(environ, origin, rules, start_response)
        rule = next((rule for rule in rules if rule.allows(origin, environ["REQUEST_METHOD"])), None)
        added = rule.build_headers(origin) if rule else []
        return application(self, environ, partial(_start_with, start_response, added))

    return answered


def _answer_preflight(
    environ: Mapping[str, Any], origin: str, rules: Sequence[CorsRule], start_response: Any
) -> Iterable[bytes]:
    method = environ.get("HTTP_ACCESS_CONTROL_REQUEST_METHOD", "")
    text = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "")
    names = [name.strip() for name in text.split(",") if name.strip()]
    rule = next((rule for rule in rules if rule.allows(origin, method, names)), None)
    if rule is None:
        start_response("403 Forbidden", [("Content-Type", "application/xml"), ("Content-Length", str(len(_FORBIDDEN)))])
        return [_FORBIDDEN]
    start_response("200 OK", [*rule.build_headers(origin, ", ".join(names)), ("Content-Length", "0")])
    return [b""]


def _start_with(start_response: Any, added: Headers, status: str, headers: Headers, *rest: Any) -> Any:
    """Start a response with these CORS headers instead of moto's, which match loosely."""
    kept = [(name, value) for name, value in headers if not name.lower().startswith(_PREFIX)]
    return start_response(status, [*kept, *added], *rest)


def _find_rules(environ: Mapping[str, Any]) -> list[CorsRule] | None:
    """Return the rules of the bucket that the path names, or None if it names none."""
    from moto.backends import get_backend

    name = unquote(str(environ["REQUEST_URI"]).partition("?")[0]).strip("/").partition("/")[0]
    for account in list(get_backend("s3").values()):
        if name in account["aws"].buckets:
            return [_read_rule(each) for each in account["aws"].buckets[name].cors]
    return None


def _read_rule(rule: Any) -> CorsRule:
    lists = [rule.allowed_origins, rule.allowed_methods, rule.allowed_headers, rule.exposed_headers]
    origins, methods, headers, exposed = (list(each or ()) for each in lists)
    return CorsRule(origins, methods, headers, exposed, rule.max_age_seconds)


def keep_bodies() -> None:
    """Have moto store the body of a PUT as it is; else it parses one with a content type of forms, and loses it."""
    from moto.moto_server import werkzeug_app

    dispatcher: Any = werkzeug_app.DomainDispatcherApplication
    read_body = dispatcher._get_body
    dispatcher._get_body = lambda self, environ: (
        None if environ["REQUEST_METHOD"] == "PUT" else read_body(self, environ)
    )
    request: Any = werkzeug_app.BackendRequest
    parses = request.want_form_data_parsed
    request.want_form_data_parsed = property(lambda self: self.method != "PUT" and parses.fget(self))
