"""Which calls of AWS a function's code can get to: none is missed, wherever it is made and however it is written.

tests/artifact/test_artifact_permissions.py shows that each of them is made, and that the function's role allows it.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from tests.support.aws.reachable_calls import Sources, calls_in
from tests.support.aws.role_permissions import Roles
from tests.unit.template.conftest import ROOT, Deployed

WIRED = Template.load(DEFAULT_TEMPLATE)
LOOKING_UP = "secretsmanager.get_secret_value"
HANDLERS = {name: each.handler.partition(".")[0] for name, each in WIRED.functions.items()}


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources(ROOT / "functions", ROOT / "shared")


def test_every_function_that_can_look_up_the_databases_secret_may(deployed: Deployed, sources: Sources) -> None:
    """The one call that is never made under the emulator, where functions get DATABASE_URL."""
    roles = Roles(deployed, WIRED)
    looking = [name for name, handler in HANDLERS.items() if LOOKING_UP in sources.calls_from(handler)]
    assert "ImportChunkFunction" in looking
    for function in looking:
        assert roles.may(function, "secretsmanager:GetSecretValue"), function
        assert roles.may(function, "kms:Decrypt"), function
    assert not roles.may(looking[0], "secretsmanager:PutSecretValue")


@pytest.mark.parametrize(
    ("written", "call"),
    [
        ("s3().put_object(Body=b'')", "s3.put_object"),
        ("lambda_client().get_durable_execution()['Status']", "lambda.get_durable_execution"),
        ("sqs().get_paginator('list_queues').paginate()", "sqs.list_queues"),
        ("_presign('get_object', Key=key)", "s3.get_object"),
        ("parameters.SecretsProvider(boto_config=soon)", "secretsmanager.get_secret_value"),
    ],
)
def test_a_call_is_known_however_it_is_written(written: str, call: str) -> None:
    assert set(calls_in(ast.parse(written))) == {call}


def test_no_client_is_used_in_a_way_in_which_its_calls_would_be_missed(sources: Sources) -> None:
    # The client that signs addresses, for which the operations that it signs count.
    assert sources.kept_clients() == ["shell.aws.presigned_urls: _signing_client(s3())"]


def test_a_client_that_is_kept_in_a_variable_is_found(tmp_path: Path) -> None:
    (tmp_path / "handler.py").write_text("def work():\n    client = s3()\n    client.delete_bucket()\n", "utf-8")
    assert Sources(tmp_path).kept_clients() == ["handler: client = s3()"]


def test_a_call_far_behind_a_handler_is_found(tmp_path: Path) -> None:
    (tmp_path / "shell").mkdir()
    (tmp_path / "handler.py").write_text("def work():\n    from shell import steps\n    steps.DO[0]()\n", "utf-8")
    (tmp_path / "shell" / "steps.py").write_text("from shell.store import far\nDO = [far]\nOTHER = 1\n", "utf-8")
    kept = "class Kept:\n    def get(self):\n        sns().publish()\n"
    store = f"def far():\n    Kept().get()\n{kept}def no():\n    s3().copy()\n"
    (tmp_path / "shell" / "store.py").write_text(store, "utf-8")
    assert Sources(tmp_path).calls_from("handler") == {"sns.publish"}
