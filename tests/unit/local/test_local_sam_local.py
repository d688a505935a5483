"""What is written for `sam local invoke`: every variable named in the template, and addresses that containers know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.cli import sam_local
from local.stack.options import DEFAULT_TEMPLATE
from local.template.intrinsics import load_document

BUILD = Path("/build")
VARIABLES = {"ImportChunkFunction": {"DATABASE_URL": "mysql://host.docker.internal", "CHUNK_ROWS": "7"}}


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return sam_local.build_template(load_document(DEFAULT_TEMPLATE), VARIABLES, BUILD)


def properties(template: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = template["Resources"][name]["Properties"]
    return found


def test_the_template_names_every_variable_for_sam_passes_on_no_other(written: dict[str, Any]) -> None:
    named = properties(written, "ImportChunkFunction")["Environment"]["Variables"]
    assert set(named) >= set(VARIABLES["ImportChunkFunction"])


def test_the_repositorys_own_template_does_not_name_them_all() -> None:
    assert "Environment" not in load_document(DEFAULT_TEMPLATE)["Resources"]["ImportChunkFunction"]["Properties"]


def test_functions_and_layers_are_those_that_were_built(written: dict[str, Any]) -> None:
    assert properties(written, "ImportChunkFunction")["CodeUri"] == str(BUILD / "ImportChunkFunction")
    assert properties(written, "SharedLayer")["ContentUri"] == str(BUILD / "SharedLayer")
    assert written["Resources"]["SharedLayer"]["Metadata"] == {"SkipBuild": True}


def test_the_rest_of_the_template_stays(written: dict[str, Any]) -> None:
    source = load_document(DEFAULT_TEMPLATE)
    assert written["Resources"]["ImportChunksQueue"] == source["Resources"]["ImportChunksQueue"]
    changed = {name for name in source["Resources"] if written["Resources"][name] != source["Resources"][name]}
    assert changed == {"ImportChunkFunction", "SharedLayer", "DependenciesLayer"}


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("http://127.0.0.1:5000", "http://host.docker.internal:5000"),
        ("http://127.0.0.1:5000/123456789012/Queue", "http://host.docker.internal:5000/123456789012/Queue"),
        (
            "mysql+pymysql://u:p@localhost:3306/db?charset=utf8mb4",
            "mysql+pymysql://u:p@host.docker.internal:3306/db?charset=utf8mb4",
        ),
        ("redis://127.0.0.1:6379/0", "redis://host.docker.internal:6379/0"),
        ("mysql+pymysql://localhost@db.example/db", "mysql+pymysql://localhost@db.example/db"),
        ("mysql+pymysql://u@db.localhost.example/db", "mysql+pymysql://u@db.localhost.example/db"),
        ("arn:aws:sns:us-east-1:123456789012:topic", "arn:aws:sns:us-east-1:123456789012:topic"),
    ],
)
def test_this_machine_is_called_as_a_container_calls_it(value: str, seen: str) -> None:
    assert sam_local._rewrite_addresses({"NAME": value})["NAME"] == seen


def test_nobodys_session_reaches_the_container() -> None:
    assert sam_local._rewrite_addresses({"NO_PROXY": "127.0.0.1"}) == {"AWS_SESSION_TOKEN": ""}
