"""What a request to AWS asks for, read by AWS's own description of its services, which botocore carries.

Guarantees that a request which that description does not tell apart from all others raises UnknownRequestError, and
is never passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, unquote_plus, urlsplit

from botocore import xform_name
from botocore.session import Session

from tests.support.servers.recording_proxy import Seen

_CREDENTIAL = re.compile(r"Credential=([^/]+)/\d{8}/[^/]+/([^/]+)/aws4_request")
_KEY_TO_DELETE = re.compile(rb"<Object>(.*?)</Object>", re.DOTALL)
_PLACEHOLDER = re.compile(r"\\{(\w+)(\\\+)?\\}")


class UnknownRequestError(Exception):
    """The request is unknown."""


@dataclass(frozen=True)
class AwsRequest:
    """An operation such as s3:GetObject, the caller by the id of its key, and what its parameters were."""

    caller: str
    operation: str
    parameters: Mapping[str, Any]
    found: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.caller} {self.operation} {dict(self.parameters)}"


class _Shape(NamedTuple):
    """What distinguishes an operation of a REST service: more marks are more special."""

    name: str
    method: str
    path: re.Pattern[str]
    query: Mapping[str, str]
    header: frozenset[str]

    @property
    def marks(self) -> int:
        return len(self.query) + len(self.header)


def read_request(seen: Seen) -> AwsRequest:
    """What the request asks for; raises UnknownRequestError."""
    match = _CREDENTIAL.search(seen.headers.get("authorization", "") + " " + unquote(seen.uri))
    if match is None:
        raise UnknownRequestError(f"unsigned: {seen.method} {seen.uri}")
    caller, service = match[1], match[2]
    name, parameters = _of_service(service, seen)
    return AwsRequest(caller, f"{service}:{name}", parameters, seen.status != 404, seen.headers)


def _of_service(service: str, seen: Seen) -> tuple[str, Mapping[str, Any]]:
    if "x-amz-target" in seen.headers:
        return seen.headers["x-amz-target"].rpartition(".")[2], json.loads(seen.body)
    if "x-www-form-urlencoded" in seen.headers.get("content-type", ""):
        form = {name: values[0] for name, values in parse_qs(seen.body.decode()).items()}
        return form["Action"], form
    return _of_rest(service, seen)


def _of_rest(service: str, seen: Seen) -> tuple[str, Mapping[str, Any]]:
    split = urlsplit(seen.uri)
    query = {name: values[0] for name, values in parse_qs(split.query, keep_blank_values=True).items()}
    fitting = [
        (shape, match)
        for shape in _shapes(service)
        if shape.method == seen.method
        and (match := shape.path.fullmatch(split.path))
        and all(name in query and value in ("", query[name]) for name, value in shape.query.items())
        and shape.header <= seen.headers.keys()
    ]
    most = max((shape.marks for shape, _ in fitting), default=0)
    best = [each for each in fitting if each[0].marks == most]
    if len(best) != 1:
        raise UnknownRequestError(f"{seen.method} {seen.uri} may be {[shape.name for shape, _ in best] or 'anything'}")
    shape, match = best[0]
    return shape.name, {**query, **{name: unquote(each) for name, each in match.groupdict().items()}, **_more(seen)}


def _more(seen: Seen) -> Mapping[str, Any]:
    """The source of a copy, and what is to be deleted."""
    found: dict[str, Any] = {}
    if "x-amz-copy-source" in seen.headers:
        source, _, version = seen.headers["x-amz-copy-source"].partition("?versionId=")
        found |= {"CopySource": unquote_plus(source).lstrip("/"), "CopySourceVersion": version}
    if doomed := _KEY_TO_DELETE.findall(seen.body):
        found["Doomed"] = [(_within(b"Key", each), _within(b"VersionId", each)) for each in doomed]
    return found


def _within(tag: bytes, text: bytes) -> str:
    match = re.search(rb"<%s>(.*?)</%s>" % (tag, tag), text, re.DOTALL)
    return match[1].decode() if match else ""


@cache
def methods(service: str) -> Mapping[str, str]:
    """The service's operations by the names of boto3's methods."""
    return {xform_name(name): name for name in Session().get_service_model(service).operation_names}


@cache
def _shapes(service: str) -> tuple[_Shape, ...]:
    return tuple(_read(service))


def _read(service: str) -> Iterator[_Shape]:
    model = Session().get_service_model(service)
    for name in model.operation_names:
        operation = model.operation_model(name)
        path, _, query = operation.http["requestUri"].partition("?")
        pattern = _PLACEHOLDER.sub(lambda m: f"(?P<{m[1]}>{'.+' if m[2] else '[^/]+'})", re.escape(path))
        shape = operation.input_shape
        needed = [shape.members[each].serialization for each in shape.required_members] if shape else []
        fixed = {key: value[0] for key, value in parse_qs(query, keep_blank_values=True).items()}
        query_names = {each["name"]: "" for each in needed if each.get("location") == "querystring"}
        header = frozenset(each["name"].lower() for each in needed if each.get("location") == "header")
        yield _Shape(name, operation.http["method"], re.compile(pattern), {**fixed, **query_names}, header)
