"""The OpenAPI document, made out of the handlers: `python -m tools.openapi` writes openapi.json, `--check` compares.

What Powertools leaves out is added here: summaries from the routes' docstrings, the constraints of query parameters,
the answers that API Gateway gives before a function is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.api_gateway import Route
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

import custodians_api
import custody_api
import exhibits_api
import imports_api
import productions_api
from core.http_headers import ETAGS_PATTERN, KEY_PATTERN
from shell.http_problems import MERGE_PATCH

DOCUMENT = Path(__file__).parent.parent / "openapi.json"
APPS = (imports_api.app, exhibits_api.app, custodians_api.app, custody_api.app, productions_api.app)
TITLE = "exhibit-ingest"
_DESCRIPTION = (
    "Load files into cases, and what became of every row; who held which evidence device. Tenant and user come from "
    "the token. Every POST carries an Idempotency-Key and has one effect, however often it is repeated within 24 "
    "hours; a repetition is answered with X-Idempotent-Replayed: true. Every error of a function is a problem document "
    "(RFC 9457): script against its type."
)
_SAID_BY_GATEWAY = {
    "application/json": {"schema": {"type": "object", "properties": {"message": {"type": "string"}}}},
}
_GATEWAY = {
    "401": "No token, or none that is valid; API Gateway says so.",
    "413": "The body is larger than 10 MB; API Gateway says so.",
    "429": "Too many requests; API Gateway says so. Come back in a second.",
}
_RETRY_AFTER = {"Retry-After": {"description": "In how many seconds to come back.", "schema": {"type": "integer"}}}
_REPLAYED = {
    "X-Idempotent-Replayed": {
        "description": "Given before: this request had its effect already.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}
_PATTERNS = {"Idempotency-Key": KEY_PATTERN, "If-Match": ETAGS_PATTERN}


def document() -> dict[str, Any]:
    """The OpenAPI 3.1 document of all routes."""
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": metadata.version(TITLE), "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": {},
        "components": {
            "schemas": {},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }
    for app in APPS:
        described = json.loads(app.get_openapi_json_schema(title=TITLE))
        made["components"]["schemas"] |= described["components"]["schemas"]
        for route, operation in _operations(app, described):
            path = "/".join(map(_camel, route.openapi_path.split("/")))
            made["paths"].setdefault(path, {})[route.method.lower()] = _completed(route, operation)
    while unused := _unused(made):
        made["components"]["schemas"] = {
            name: schema for name, schema in sorted(made["components"]["schemas"].items()) if name not in unused
        }
    return {key: _tidied(value) for key, value in made.items()}


def _tidied(value: Any) -> Any:
    """Without the titles that only repeat names, and with whole numbers written as such."""
    if isinstance(value, list):
        return [_tidied(each) for each in value]
    if isinstance(value, dict):
        is_schema = "type" in value or "anyOf" in value or "$ref" in value
        return {key: _tidied(each) for key, each in value.items() if not (is_schema and key == "title")}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unused(made: dict[str, Any]) -> set[str]:
    text = json.dumps(made)
    return {name for name in made["components"]["schemas"] if f'"#/components/schemas/{name}"' not in text}


def _operations(app: APIGatewayHttpResolver, described: dict[str, Any]) -> Iterator[tuple[Route, dict[str, Any]]]:
    for route in app._static_routes + app._dynamic_routes:
        yield route, described["paths"][route.openapi_path][route.method.lower()]


def _completed(route: Route, operation: dict[str, Any]) -> dict[str, Any]:
    said = " ".join((route.func.__doc__ or "").split())
    first, _, rest = said.partition(". ")
    parameters = list(_parameters(route, operation.get("parameters", [])))
    is_keyed = any(each["name"] == "Idempotency-Key" for each in parameters)
    return {
        "operationId": to_camel(route.func.__name__),
        "tags": [route.openapi_path.split("/")[1]],
        "summary": first.rstrip("."),
        **({"description": rest} if rest else {}),
        **({"parameters": parameters} if parameters else {}),
        **_body(route, operation),
        "responses": dict(sorted(_answers(route, operation, is_keyed).items())),
    }


def _body(route: Route, operation: dict[str, Any]) -> dict[str, Any]:
    if "requestBody" not in operation:
        return {}
    content = operation["requestBody"]["content"]
    if route.method == "PATCH":
        content = {**content, MERGE_PATCH: content["application/json"]}
    return {"requestBody": {**operation["requestBody"], "content": content}}


def _answers(route: Route, operation: dict[str, Any], is_keyed: bool) -> dict[str, Any]:
    """Those that the route declares, with the header fields that it does not, and those of API Gateway."""
    answers = {str(code): operation["responses"][str(code)] for code in route.responses or {}}
    # Powertools puts an answer of its own in the place of this one.
    answers["500"] = {**answers["503"], "description": "Internal Server Error"}
    for code, answer in answers.items():
        if code in ("409", "503"):
            answer["headers"] = _RETRY_AFTER
        if is_keyed and code < "300":
            answer["headers"] = {**answer.get("headers", {}), **_REPLAYED}
        if code in ("404", "500", "503"):
            answer["content"] = {**answer["content"], **_SAID_BY_GATEWAY}
    for code, description in _GATEWAY.items():
        if code != "413" or "requestBody" in operation:
            answers[code] = {"description": description, "content": _SAID_BY_GATEWAY}
    return answers


def _parameters(route: Route, given: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Names as clients write them, and constraints: of a model's fields Powertools gives the bare types."""
    models = [field.type_ for field in route.dependant.query_params if issubclass(field.type_, BaseModel)]
    constraints = {name: schema for model in models for name, schema in _query_schemas(model).items()}
    for parameter in given:
        name, schema = parameter["name"], constraints.get(parameter["name"], parameter["schema"])
        if parameter["in"] == "header":
            name = "-".join(part.capitalize() for part in name.split("-"))
        elif parameter["in"] == "path":
            name = to_camel(name)
        schema = _without_null(schema)
        described = schema.pop("description", None) or parameter.get("description")
        schema = {**schema, **({"pattern": _PATTERNS[name]} if name in _PATTERNS else {})}
        yield {**parameter, "name": name, "schema": schema, **({"description": described} if described else {})}


def _query_schemas(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    schema = model.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    definitions = schema.get("$defs", {})
    return {
        name: json.loads(json.dumps(_resolved(each, definitions)))
        for name, each in schema.get("properties", {}).items()
    }


def _resolved(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_resolved(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return definitions[schema["$ref"].rpartition("/")[2]]
    return {key: _resolved(value, definitions) for key, value in schema.items()}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is left out, not null."""
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    return {**kinds[0], **rest} if kinds else rest


def _camel(part: str) -> str:
    return "{" + to_camel(part[1:-1]) + "}" if part.startswith("{") else part


def main(arguments: list[str] | None = None) -> int:
    """Write the document, or say whether the one that is there is up to date; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if openapi.json is outdated")
    check = parser.parse_args(arguments).check
    text = json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
    if not check:
        DOCUMENT.write_text(text, encoding="utf-8")
        return 0
    if DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == text:
        return 0
    print("openapi.json is not what the handlers say; run: make openapi", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
