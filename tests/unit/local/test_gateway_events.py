"""A function gets the event that API Gateway would send, and its answer becomes what API Gateway would make of it."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local.gateway.events import HttpRequest, MalformedResponseError, build_event, build_response
from local.gateway.routing import RouteMatch
from local.template.model import ApiRoute

# The sample of AWS's page on payload format 2.0, without client certificate and stage variables.
DOCUMENTED: dict[str, Any] = {
    "version": "2.0",
    "routeKey": "POST /my/{parameter1}",
    "rawPath": "/my/path",
    "rawQueryString": "parameter1=value1&parameter1=value2&parameter2=value",
    "cookies": ["cookie1", "cookie2"],
    "headers": {
        "header1": "value1",
        "header2": "value1,value2",
        "content-type": "text/plain",
        "host": "id.execute-api.us-east-1.amazonaws.com",
        "user-agent": "agent",
    },
    "queryStringParameters": {"parameter1": "value1,value2", "parameter2": "value"},
    "requestContext": {
        "accountId": "123456789012",
        "apiId": "local",
        "authorizer": {"jwt": {"claims": {"claim1": "value1", "claim2": "value2"}, "scopes": None}},
        "domainName": "id.execute-api.us-east-1.amazonaws.com",
        "domainPrefix": "id",
        "http": {
            "method": "POST",
            "path": "/my/path",
            "protocol": "HTTP/1.1",
            "sourceIp": "192.0.2.1",
            "userAgent": "agent",
        },
        "requestId": "id",
        "routeKey": "POST /my/{parameter1}",
        "stage": "$default",
        "time": "12/Mar/2020:19:03:58 +0000",
        "timeEpoch": 1583348638390,
    },
    "body": "Hello from Lambda",
    "pathParameters": {"parameter1": "path"},
    "isBase64Encoded": False,
}
# The sample's two times differ by days: each is read in its own timestamp.
TIMESTAMP = datetime.fromtimestamp(1583348638.390, UTC)


def request(**changes: Any) -> HttpRequest:
    given: dict[str, Any] = {"method": "GET", "path": "/my/path", "query": "", "headers": [], "body": b""}
    return HttpRequest(**(given | {"source_ip": "192.0.2.1"} | changes))


def event(claims: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    payload = request(**changes)
    route = ApiRoute("Function", payload.method, "/my/{parameter1}")
    return build_event(payload, RouteMatch(route, {"parameter1": "path"}), claims or {}, "id", TIMESTAMP)


def test_the_event_is_the_documented_one() -> None:
    headers = [("Header1", "value1"), ("HEADER2", "value1"), ("header2", "value2"), ("Cookie", "cookie1; cookie2")]
    headers += [("Content-Type", "text/plain"), ("Host", DOCUMENTED["requestContext"]["domainName"])]
    made = event(
        {"claim1": "value1", "claim2": "value2"},
        method="POST",
        query="parameter1=value1&parameter1=value2&parameter2=value",
        headers=[*headers, ("User-Agent", "agent")],
        body=b"Hello from Lambda",
    )
    context = DOCUMENTED["requestContext"] | {"time": "04/Mar/2020:19:03:58 +0000"}
    assert made == DOCUMENTED | {"requestContext": context}


@pytest.mark.parametrize("name", ["imports_api", "exhibits_api"])
def test_it_has_the_fields_of_the_recorded_events(name: str) -> None:
    recorded = json.loads((Path(__file__).parents[3] / "events" / f"{name}.json").read_text("utf-8"))
    made = event(method="POST", headers=[("Content-Type", "application/json")], body=b"{}")
    assert made.keys() - {"pathParameters"} == recorded.keys()
    assert made["requestContext"].keys() == recorded["requestContext"].keys()
    assert made["requestContext"]["http"].keys() == recorded["requestContext"]["http"].keys()


def test_the_path_is_decoded_and_the_query_is_not() -> None:
    made = event(path="/my/a%20%C3%BC", query="name=%C3%BC+b&flag=")
    assert made["rawPath"] == made["requestContext"]["http"]["path"] == "/my/a ü"
    assert made["rawQueryString"] == "name=%C3%BC+b&flag="
    assert made["queryStringParameters"] == {"name": "ü b", "flag": ""}


def test_every_claim_is_a_string() -> None:
    made = event({"exp": 17, "email_verified": True, "groups": ["a", "b"], "rate": 0.5})
    claims = made["requestContext"]["authorizer"]["jwt"]["claims"]
    assert claims == {"exp": "17", "email_verified": "true", "groups": "[a b]", "rate": "0.5"}


@pytest.mark.parametrize(
    ("headers", "body", "is_text"),
    [
        ([("Content-Type", "application/json; charset=utf-8")], b'{"a": "\xc3\xbc"}', True),
        ([("Content-Type", "application/merge-patch+json")], b"{}", True),
        ([("Content-Type", "TEXT/CSV")], b"a,b", True),
        ([("Content-Type", "application/json")], b"\xff", False),
        ([("Content-Type", "application/json"), ("Content-Encoding", "gzip")], b"{}", False),
        ([("Content-Type", "application/octet-stream")], b"abc", False),
        ([("Content-Type", "application/x-www-form-urlencoded")], b"a=b", False),
        ([], b"abc", False),
    ],
)
def test_a_body_is_text_where_it_says_so_and_base64_elsewhere(
    headers: list[tuple[str, str]], body: bytes, is_text: bool
) -> None:
    made = event(headers=headers, body=body)
    assert made["isBase64Encoded"] is not is_text
    assert (made["body"].encode() if is_text else base64.b64decode(made["body"])) == body


def test_an_answer_is_taken_as_it_is() -> None:
    made = build_response(
        {
            "statusCode": 201,
            "headers": {"Content-Type": "application/json", "ETag": '"3"', "Retry-After": 5, "Content-Length": "999"},
            "multiValueHeaders": {"X-Other": ["a"]},
            "cookies": ["a=1", "b=2"],
            "body": '{"ü": 1}',
        }
    )
    assert (made.status, made.body) == (201, '{"ü": 1}'.encode())
    assert made.headers == [
        *(("content-type", "application/json"), ("etag", '"3"'), ("retry-after", "5")),
        *(("set-cookie", "a=1"), ("set-cookie", "b=2")),
    ]


def test_a_base64_answer_is_decoded() -> None:
    made = build_response({"statusCode": "200", "body": "AAE=", "isBase64Encoded": True})
    assert (made.status, made.body) == (200, b"\x00\x01")
    assert made.headers == [("content-type", "text/plain;charset=UTF-8")]


@pytest.mark.parametrize("result", [{"message": "hello"}, "hello", None, [1], 7])
def test_an_answer_without_a_status_is_the_body_of_a_200(result: Any) -> None:
    made = build_response(result)
    assert (made.status, json.loads(made.body)) == (200, result)
    assert made.headers == [("content-type", "application/json")]


NONSENSE: list[dict[str, Any]] = [
    *({"statusCode": status} for status in ("many", None, 99)),
    *({"statusCode": 200, "body": body} for body in ({"a": 1}, "\ud800")),
    *({"statusCode": 200, "headers": headers} for headers in ({"x": "a\r\nset-cookie: b"}, {"x: a\r\ny": "b"})),
    *({"statusCode": 200, "headers": {"x": "\ud800"}}, {"statusCode": 200, "cookies": ["a\nb"]}),
    {"statusCode": 200, "body": "no base64!", "isBase64Encoded": True},
]


@pytest.mark.parametrize("result", NONSENSE)
def test_nonsense_is_refused(result: Any) -> None:
    with pytest.raises(MalformedResponseError):
        build_response(result)
