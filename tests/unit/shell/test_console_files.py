"""The console's function returns files of the build and nothing else, each with the headers that confine the page."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import SettingsError
from shell.console.files import respond
from shell.settings import ConsoleSettings

BUCKET = "https://evidence.s3.eu-central-1.amazonaws.com"
DOMAIN = "https://pool.auth.eu-central-1.amazoncognito.com"
ON_AWS = {
    "CONSOLE_STORAGE": BUCKET,
    "CONSOLE_SIGN_IN": "cognito",
    "CONSOLE_SIGN_IN_DOMAIN": DOMAIN,
    "CONSOLE_CLIENT_ID": "client",
}
SETTINGS = ConsoleSettings.from_environment(ON_AWS)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "console_files"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<title>page</title>", "utf-8")
    (folder / "assets" / "index-1.js").write_text("run()", "utf-8")
    (tmp_path / "console.py").write_text("secret", "utf-8")
    return folder


def content(response: dict[str, Any]) -> str:
    assert response["isBase64Encoded"] is True
    return gzip.decompress(base64.b64decode(response["body"])).decode()


@pytest.mark.parametrize("path", ["/console/", "/console/cases/7/documents", "/console/imports", "/console/assets"])
def test_a_place_in_the_page_gets_the_page(built: Path, path: str) -> None:
    response = respond(path, built, SETTINGS)
    assert (response["statusCode"], content(response)) == (200, "<title>page</title>")
    assert response["headers"]["cache-control"] == "no-cache"
    assert response["headers"]["content-type"] == "text/html"


def test_a_file_with_a_hash_in_its_name_is_kept(built: Path) -> None:
    response = respond("/console/assets/index-1.js", built, SETTINGS)
    assert (response["statusCode"], content(response)) == (200, "run()")
    assert "immutable" in response["headers"]["cache-control"]
    assert response["headers"]["content-type"] in ("text/javascript", "application/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "/console/assets/index-2.js",
        "/console/../console.py",
        "/console/assets/../../console.py",
        "/console//etc/host.conf",
        "/console/assets/index-1.js/x.js",
        "/console/a\0.js",
        f"/console/{'x' * 5000}.js",
        "/console/\ud800.js",
    ],
)
def test_what_the_build_lacks_is_not_found_and_never_the_page(built: Path, path: str) -> None:
    response = respond(path, built, SETTINGS)
    assert (response["statusCode"], response["body"]) == (404, "")


def test_every_response_confines_the_page(built: Path) -> None:
    for path in ("/console", "/console/", "/console/config.json", "/console/assets/index-1.js", "/console/no.js"):
        headers = respond(path, built, SETTINGS)["headers"]
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["connect-src"].split() == ["'self'", BUCKET, DOMAIN]
        assert (policy["require-trusted-types-for"], policy["trusted-types"]) == ("'script'", "tiff-worker")
        assert policy["worker-src"] == "'self'"
        assert "frame-src" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_the_page_knows_how_to_sign_in(built: Path, tmp_path: Path) -> None:
    def config(environment: dict[str, str]) -> Any:
        settings = ConsoleSettings.from_environment(environment)
        return json.loads(respond("/console/config.json", built, settings)["body"])

    assert config(ON_AWS) == {
        "signIn": {"kind": "cognito", "domain": DOMAIN, "clientId": "client"},
        "storage": BUCKET,
    }
    # The command has a sign-in before the user pool knows the address of the console.
    described = {"kind": "none", "domain": DOMAIN, "clientId": "client"}
    assert config({**ON_AWS, "CONSOLE_SIGN_IN": "none"})["signIn"] == described
    here = {"AWS_ENDPOINT_URL": "http://127.0.0.1:5000", "CONSOLE_STORAGE": BUCKET, "CONSOLE_SIGN_IN": "local"}
    assert config(here) == {"signIn": {"kind": "local"}, "storage": "http://127.0.0.1:5000"}
    issuer = {"CONSOLE_SIGN_IN": "issuer", "CONSOLE_ISSUER": "https://id.example.com", "CONSOLE_CLIENT_ID": "firm"}
    described = {"kind": "issuer", "issuer": "https://id.example.com", "clientId": "firm"}
    assert config({"CONSOLE_STORAGE": BUCKET, **issuer})["signIn"] == described
    with pytest.raises(SettingsError, match="CONSOLE_STORAGE"):
        ConsoleSettings.from_environment({})


def test_without_a_build_the_answer_says_what_to_do(tmp_path: Path) -> None:
    response = respond("/console/", tmp_path, SETTINGS)
    assert response["statusCode"] == 404
    assert "make console" in response["body"]
    assert respond("/console", tmp_path, SETTINGS)["headers"]["location"] == "/console/"
