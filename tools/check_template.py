"""Check the template with SAM, SAM's linter and cfn-lint, and that every API route but the console's needs a token.

Guarantees that `sam validate`, `sam validate --lint` and cfn-lint on the transformed template all pass, because each
of them finds mistakes that the others miss, and that no route of the API is open. Needs no credentials, Docker or
network. Does not guarantee that a deployment succeeds: quotas, existing names and permissions are known to AWS only.

Run with the interpreter that has aws-sam-cli: python tools/check_template.py [template.yaml]
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

REGION = "us-east-1"
# Of each partition or size of region that users deploy to, one: what a region lacks is found before a deployment.
REGIONS = (REGION, "eu-central-1", "ap-southeast-2", "us-gov-west-1")
ARTIFACT = "s3://bucket/key.zip"
# The files of the console, which anybody may read: it signs in before it calls the API.
_CONSOLE = re.compile(r"GET /console(/|/\{page\+\})?")
# The longest finding that is printed, in characters: some list every resource.
MESSAGE = 300


class Loader:
    """A replacement for the list of AWS managed policies, which SAM would request from AWS; the template uses none."""

    def load(self) -> dict[str, str]:
        """Return no policies."""
        return {}


def main(arguments: list[str]) -> int:
    """Print every finding; return 0 when there are no findings, else 1."""
    template = Path(arguments[0] if arguments else "template.yaml").resolve()
    checks: dict[str, Callable[[Path], str]] = {
        "sam validate": sam_validate,
        "sam validate --lint": sam_lint,
        "transform, then cfn-lint": lint_transformed,
        "every route needs a token": check_routes,
    }
    with ThreadPoolExecutor(max_workers=2) as pool:
        findings = dict(zip(checks, pool.map(lambda check: check(template), checks.values()), strict=True))
    for name, found in findings.items():
        print(f"{name}: {found.strip() or 'ok'}")
    return int(any(findings.values()))


def sam_validate(template: Path) -> str:
    """Return what SAM's transform rejects: unknown properties of events, values of the wrong type."""
    return _sam(template)


def sam_lint(template: Path) -> str:
    """Return the findings of cfn-lint in the template as written."""
    return _sam(template, "--lint")


def lint_transformed(template: Path) -> str:
    """Return the findings of cfn-lint in the CloudFormation template that SAM generates, one per line."""
    return _check_transformed(template, _lint)


def check_routes(template: Path) -> str:
    """Return the routes that SAM generates without an authorizer, one per line."""
    return _check_transformed(template, lambda transformed: "\n".join(list_open_routes(transformed)))


def list_open_routes(transformed: dict[str, Any]) -> Iterator[str]:
    """Yield every route, method and function URL of a transformed template that answers without a JWT."""
    for name, resource in transformed["Resources"].items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Lambda::Url":
            yield f"{name}: a function URL has no JWT authorizer"
        elif resource["Type"] == "AWS::ApiGatewayV2::Route" and properties.get("AuthorizationType") != "JWT":
            yield f"{name}: {properties.get('RouteKey')} is open"
        elif resource["Type"] == "AWS::ApiGatewayV2::Api":
            yield from (f"{name}: {operation} is open" for operation in _open_operations(properties.get("Body", {})))


def _open_operations(document: dict[str, Any]) -> Iterator[str]:
    schemes = document.get("components", {}).get("securitySchemes", {})
    jwt = {
        name
        for name, scheme in schemes.items()
        if scheme.get("x-amazon-apigateway-authorizer", {}).get("type") == "jwt"
    }
    for path, operations in document.get("paths", {}).items():
        for method, operation in operations.items():
            # One satisfied requirement is enough, and an empty requirement is always satisfied.
            requirements = operation.get("security", [])
            is_open = not requirements or not all(jwt.intersection(each) for each in requirements)
            if is_open and not _CONSOLE.fullmatch(f"{method.upper()} {path}"):
                yield f"{method.upper()} {path}"


def _check_transformed(template: Path, check: Callable[[dict[str, Any]], str]) -> str:
    # Imported here, so that this module can be imported (and typed) where SAM is not installed.
    from samtranslator.public.exceptions import InvalidDocumentException

    try:
        return check(transform(template))
    except InvalidDocumentException as exc:
        return "\n".join(cause.message for cause in exc.causes)
    except (OSError, yaml.YAMLError) as exc:
        return str(exc)


def _lint(transformed: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "transformed.json")
        path.write_text(json.dumps(transformed, indent=2), encoding="utf-8")
        return _cfn_lint(path)


def transform(template: Path, artifacts: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the CloudFormation template that SAM generates; `artifacts` are code addresses by logical id.

    Resources that `artifacts` does not name get the address ARTIFACT.

    Raises samtranslator's InvalidDocumentException.
    """
    from samtranslator.translator.transform import transform as sam_transform
    from samtranslator.yaml_helper import yaml_parse

    os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
    # SAM logs warnings about metrics that were never published, and about features that only its service can switch on.
    for name in ("metrics.metrics", "feature_toggle.feature_toggle"):
        logging.getLogger(f"samtranslator.{name}").setLevel(logging.ERROR)
    source = yaml_parse(template.read_text(encoding="utf-8"))
    _point_at_artifacts(source, artifacts or {})
    result: dict[str, Any] = sam_transform(source, {}, Loader())
    return result


def _point_at_artifacts(source: dict[str, Any], artifacts: Mapping[str, str]) -> None:
    """Set the code addresses, as `sam package` does: the transform rejects local folders."""
    for globals_of_kind in source.get("Globals", {}).values():
        globals_of_kind.pop("CodeUri", None)
    for name, resource in source["Resources"].items():
        uri = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}
        if resource["Type"] in uri:
            resource["Properties"][uri[resource["Type"]]] = artifacts.get(name, ARTIFACT)


def _sam(template: Path, *options: str) -> str:
    result = _run("sam", "validate", "--template-file", str(template), "--region", REGION, *options)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def _cfn_lint(path: Path) -> str:
    result = _run("cfn-lint", "--template", str(path), "--regions", *REGIONS, "--format", "json")
    if result.returncode == 0:
        return ""
    try:
        return "\n".join(_format_finding(finding) for finding in json.loads(result.stdout))
    except json.JSONDecodeError:
        return f"cfn-lint ended with {result.returncode}: {result.stderr or result.stdout}"


def _format_finding(finding: dict[str, Any]) -> str:
    where = "/".join(str(step) for step in finding["Location"].get("Path") or [])
    return f"{finding['Rule']['Id']} {where}: {finding['Message'][:MESSAGE]}"


def _run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Run by the interpreter: the first line of a script fails where the path is long or contains a space.
    return subprocess.run(
        [sys.executable, str(Path(sys.executable).with_name(tool)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": REGION},
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
