"""A client generated from docs/openapi.json: it is type-checked, and used against the API.

Guaranteed: every schema has the members that it requires. Not guaranteed: that other generators take the document.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.exhibits.stored_cases import Matter
from tools.openapi import DOCUMENT

PACKAGE = "generated_client"
# What a program does with a problem; mypy says which of its members the client does not have.
PROGRAM = f"""
from {PACKAGE}.models.problem import Problem

def describe(problem: Problem) -> str:
    return f"{{problem.title}} ({{problem.status}}): {{problem.detail}}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the generated package."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "config.yml").write_text("post_hooks: []\n")
    options = ["--path", str(DOCUMENT), "--output-path", str(folder / PACKAGE), "--config", str(folder / "config.yml")]
    _run("openapi_python_client", "generate", "--meta", "none", "--fail-on-warning", *options)
    return folder


def _run(module: str, *arguments: str, cwd: Path | None = None) -> None:
    command = [sys.executable, "-m", module, *arguments]
    finished = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_every_schema_has_the_members_that_it_requires() -> None:
    schemas = list(_list_schemas(json.loads(DOCUMENT.read_text(encoding="utf-8"))))
    assert len(schemas) > 80
    assert [each for each in schemas if not set(each["required"]) <= set(each["properties"])] == []


def _list_schemas(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema of an object with required members, wherever in the document it stands."""
    if isinstance(value, dict) and isinstance(value.get("required"), list):
        yield {"properties": {}, **value}
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_schemas(each)


@pytest.mark.slow
def test_a_generated_client_is_type_checked(folder: Path) -> None:
    (folder / "program.py").write_text(PROGRAM)
    _run("mypy", "--strict", "--cache-dir", str(folder / "cache"), "program.py", PACKAGE, cwd=folder)


def test_a_generated_client_creates_a_case_and_reads_a_problem(
    folder: Path, acme: Matter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)

    def send(request: httpx.Request) -> httpx.Response:
        headers = {
            name: request.headers[name] for name in ("idempotency-key", "content-type") if name in request.headers
        }
        reply = acme.client.call(request.method, request.url.raw_path.decode(), request.content, **headers)
        return httpx.Response(reply.status, json=reply.json)

    client = _load("client").Client(base_url="https://api.test")
    client.set_httpx_client(httpx.Client(base_url="https://api.test", transport=httpx.MockTransport(send)))
    add, body = _load("api.cases.add_case"), _load("models.new_case").NewCase(name="Generated")
    assert add.sync(client=client, body=body, idempotency_key="once").name == "Generated"
    problem = add.sync(client=client, body=body, idempotency_key="twice")
    assert (problem.status, problem.title) == (409, "An object with this name exists already.")


def _load(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}")
