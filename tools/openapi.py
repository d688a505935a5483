"""The OpenAPI document of the API: `python -m tools.openapi` writes docs/openapi.json, `--check` compares it.

The document is generated from the handlers. Added to the output of Powertools are the summaries from the handlers'
docstrings, the constraints of query parameters, and the responses that API Gateway itself returns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, SecurityScheme
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

import activities_api
import cases_api
import custodians_api
import custody_api
import exhibits_api
import exports_api
import import_checks_api
import import_results_api
import imports_api
import production_files_api
import productions_api
import profiles_api
import uploads_api
import volumes_api
from core.contracts.field_names import describe_fields
from core.http_headers import ETAGS_PATTERN, KEY_PATTERN
from shell.api.problems import MERGE_PATCH, SCHEME
from shell.api.resolver import Operation

DOCUMENT = Path(__file__).parent.parent / "docs" / "openapi.json"
APPS = (
    *(imports_api.app, exhibits_api.app, custodians_api.app, custody_api.app, cases_api.app, productions_api.app),
    *(import_checks_api.app, import_results_api.app, profiles_api.app, uploads_api.app, volumes_api.app),
    *(production_files_api.app, activities_api.app, exports_api.app),
)
TITLE = "exhibit-ingest"
_DESCRIPTION = (
    "Import litigation load files, follow the result of every row, produce exhibits under Bates numbers, and record "
    "who held which evidence device. The token determines tenant, user and role. A route's `security` has the role "
    "that it requires; a more powerful one will do, in the order viewer, editor, admin. Every POST requires an "
    "Idempotency-Key and takes effect once, however often it is repeated within 24 hours; the response to a "
    "repetition has the header X-Idempotent-Replayed: true. Errors are problem documents (RFC 9457): evaluate their "
    "`type` in scripts."
)
_GATEWAY_BODY = {
    "application/json": {"schema": {"type": "object", "properties": {"message": {"type": "string"}}}},
}
_GATEWAY_RESPONSES = {
    "401": "The token is missing or invalid. Returned by API Gateway.",
    "413": "The body is larger than 10 MB. Returned by API Gateway.",
    "429": "Too many requests; try again after a second. Returned by API Gateway.",
}
_RETRY_AFTER = {"Retry-After": {"description": "The seconds after which to retry.", "schema": {"type": "integer"}}}
_REPLAYED = {
    "X-Idempotent-Replayed": {
        "description": "Set if the request took effect before and this is a replay of its response.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}
# For Powertools, which checks that a route's security is one of them.
_SCHEMES: dict[str, SecurityScheme] = {SCHEME: HTTPBearer(bearerFormat="JWT")}
_FIELD_NAME = {"$ref": "#/components/schemas/FieldName"}
_PATTERNS = {"Idempotency-Key": KEY_PATTERN, "If-Match": ETAGS_PATTERN}


def build_document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of all routes."""
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": metadata.version(TITLE), "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{SCHEME: []}],
        "paths": {},
        "components": {
            "schemas": {},
            "securitySchemes": {SCHEME: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }
    for app in APPS:
        generated = json.loads(app.get_openapi_json_schema(title=TITLE, security_schemes=_SCHEMES))
        add_schemas(document["components"]["schemas"], generated["components"]["schemas"])
        for operation in app.operations.values():
            described = generated["paths"][operation.path][operation.method.lower()]
            path = "/".join(map(_to_camel_part, operation.path.split("/")))
            document["paths"].setdefault(path, {})[operation.method.lower()] = _complete(operation, described)
    _name_fields(document["components"]["schemas"])
    while unused := _find_unused(document):
        document["components"]["schemas"] = {
            name: schema for name, schema in sorted(document["components"]["schemas"].items()) if name not in unused
        }
    return {key: _tidy(value) for key, value in document.items()}


def add_schemas(schemas: dict[str, Any], added: dict[str, Any]) -> None:
    """Add the schemas of a function. Raises ValueError for a name with two meanings: clients would get one of them."""
    for name, schema in added.items():
        if schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two classes of the API are named {name}, and differ: rename one of them")


def _name_fields(schemas: dict[str, Any]) -> None:
    """List the fields of columns, by which an import validates its options after the request."""
    schemas["FieldName"] = {"description": "The field that a column is mapped to.", **describe_fields()}
    for name in ("Options", "SingleFileOptions"):
        schemas[name]["properties"]["columns"]["additionalProperties"] = _FIELD_NAME


def _tidy(value: Any) -> Any:
    """Remove titles that only repeat names, and write whole numbers as integers."""
    if isinstance(value, list):
        return [_tidy(each) for each in value]
    if isinstance(value, dict):
        is_schema = "type" in value or "anyOf" in value or "$ref" in value
        return {name: _tidy_member(name, each) for name, each in value.items() if not (is_schema and name == "title")}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tidy_member(name: str, value: Any) -> Any:
    """Tidy a member; the members of `properties` are names of the API, among them `title` and `type`."""
    if name == "properties" and isinstance(value, dict):
        return {each: _tidy(schema) for each, schema in value.items()}
    return _tidy(value)


def _find_unused(document: dict[str, Any]) -> set[str]:
    text = json.dumps(document)
    return {name for name in document["components"]["schemas"] if f'"#/components/schemas/{name}"' not in text}


def _complete(operation: Operation, described: dict[str, Any]) -> dict[str, Any]:
    documentation = " ".join((operation.handler.__doc__ or "").split())
    first, _, rest = documentation.partition(". ")
    parameters = list(_parameters(operation, described.get("parameters", [])))
    is_keyed = any(each["name"] == "Idempotency-Key" for each in parameters)
    return {
        "operationId": to_camel(operation.handler.__name__),
        "tags": [operation.path.split("/")[1]],
        "summary": first.rstrip("."),
        **({"description": rest} if rest else {}),
        **({"parameters": parameters} if parameters else {}),
        **_body(operation, described),
        "security": [{SCHEME: [operation.role.value]}],
        "responses": dict(sorted(_responses(operation, described, is_keyed).items())),
    }


def _body(operation: Operation, described: dict[str, Any]) -> dict[str, Any]:
    if "requestBody" not in described:
        return {}
    content = described["requestBody"]["content"]
    if operation.method == "PATCH":
        content = {**content, MERGE_PATCH: content["application/json"]}
    return {"requestBody": {**described["requestBody"], "content": content}}


def _responses(operation: Operation, described: dict[str, Any], is_keyed: bool) -> dict[str, Any]:
    """Return the responses that the route declares, with all their headers, and those of API Gateway."""
    responses = {str(code): described["responses"][str(code)] for code in operation.responses}
    # Powertools replaces the declared response with its own.
    responses["500"] = {**responses["503"], "description": "Internal Server Error"}
    for code, response in responses.items():
        if code in ("409", "503"):
            response["headers"] = _RETRY_AFTER
        if is_keyed and code < "300":
            response["headers"] = {**response.get("headers", {}), **_REPLAYED}
        if code in ("404", "500", "503"):
            response["content"] = {**response["content"], **_GATEWAY_BODY}
    for code, description in _GATEWAY_RESPONSES.items():
        if code != "413" or "requestBody" in described:
            responses[code] = {"description": description, "content": _GATEWAY_BODY}
    return responses


def _parameters(operation: Operation, described: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the parameters in the API's spelling and with their constraints, which Powertools omits for models."""
    constraints = {name: schema for model in operation.query_models for name, schema in _query_schemas(model).items()}
    for parameter in described:
        name, schema = parameter["name"], constraints.get(parameter["name"], parameter["schema"])
        if parameter["in"] == "header":
            name = "-".join(part.capitalize() for part in name.split("-"))
        elif parameter["in"] == "path":
            name = to_camel(name)
        schema = _without_null(schema)
        description = schema.pop("description", None) or parameter.get("description")
        schema = {**schema, **({"pattern": _PATTERNS[name]} if name in _PATTERNS else {})}
        yield {**parameter, "name": name, "schema": schema, **({"description": description} if description else {})}


def _query_schemas(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    schema = model.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    definitions = schema.get("$defs", {})
    return {
        name: json.loads(json.dumps(_resolve(each, definitions))) for name, each in schema.get("properties", {}).items()
    }


def _resolve(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_resolve(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return definitions[schema["$ref"].rpartition("/")[2]]
    return {key: _resolve(value, definitions) for key, value in schema.items()}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without null: a client omits a parameter instead."""
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    return {**kinds[0], **rest} if kinds else rest


def _to_camel_part(part: str) -> str:
    return "{" + to_camel(part[1:-1]) + "}" if part.startswith("{") else part


def main(arguments: list[str] | None = None) -> int:
    """Write docs/openapi.json, or with `--check` compare it with the handlers. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.openapi", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with code 1 if docs/openapi.json is outdated"
    )
    check = parser.parse_args(arguments).check
    text = json.dumps(build_document(), indent=2, ensure_ascii=False) + "\n"
    if not check:
        DOCUMENT.write_text(text, encoding="utf-8")
        return 0
    if DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == text:
        return 0
    print("docs/openapi.json is outdated; run: make openapi", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
