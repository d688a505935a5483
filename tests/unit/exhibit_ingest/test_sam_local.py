"""What `sam local invoke` gets of this machine; the template that is written for it: tests/artifact."""

from __future__ import annotations

import pytest

from local.command import sam_local


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
