"""Every call of AWS that a function's code can get to is one that its role may make, whether or not a test makes it.

That the resource is the right one too is shown by tests/artifact/test_artifact_permissions.py, of calls that are made.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from tests.support.permissions import Roles
from tests.support.reaching import Sources, calls_in, never_made
from tests.unit.template.conftest import ROOT, Deployed

WIRED = Template.load(DEFAULT_TEMPLATE)
HANDLERS = {name: each.handler.partition(".")[0] for name, each in WIRED.functions.items()}
READING, WRITING = {"s3:GetObject", "s3:GetObjectVersion"}, {"s3:PutObject"}
ABORTING = {"s3:AbortMultipartUpload"}
# Of each set one action is enough.
ALLOWED_BY: Mapping[str, list[set[str]]] = {
    "lambda.get_durable_execution": [{"lambda:GetDurableExecution"}],
    "lambda.invoke": [{"lambda:InvokeFunction"}],
    "s3.complete_multipart_upload": [WRITING],
    "s3.copy": [READING, WRITING, ABORTING],
    "s3.copy_object": [READING, WRITING],
    "s3.create_multipart_upload": [WRITING],
    "s3.delete_objects": [{"s3:DeleteObject"}, {"s3:DeleteObjectVersion"}],
    "s3.get_object": [READING],
    "s3.head_object": [READING],
    "s3.list_object_versions": [{"s3:ListBucketVersions"}],
    "s3.put_object": [WRITING],
    "s3.upload_fileobj": [WRITING, ABORTING],
    "s3.upload_part": [WRITING],
    "secretsmanager.get_secret_value": [{"secretsmanager:GetSecretValue"}, {"kms:Decrypt"}],
    "sns.publish_batch": [{"sns:Publish"}],
    "sqs.change_message_visibility": [{"sqs:ChangeMessageVisibility"}],
    "sqs.send_message_batch": [{"sqs:SendMessage"}],
}


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources(ROOT / "functions", ROOT / "shared")


@pytest.fixture(scope="module")
def reached(sources: Sources) -> dict[str, set[str]]:
    """The calls that each function can get to."""
    return {function: sources.calls_from(handler) for function, handler in HANDLERS.items()}


def lacking(roles: Roles, function: str, calls: set[str]) -> list[str]:
    """The calls that the function may not make, and why."""
    return [
        f"{function} may not {call}: it lacks {' or '.join(sorted(actions))}"
        for call in sorted(calls)
        for actions in ALLOWED_BY[call]
        if not any(roles.may(function, action) for action in actions)
    ]


def test_a_function_may_make_every_call_that_its_code_can_get_to(
    deployed: Deployed, reached: dict[str, set[str]]
) -> None:
    roles = Roles(deployed, WIRED)
    for function, handler in HANDLERS.items():
        made = reached[function] - never_made(ROOT / "functions" / f"{handler}.py")
        assert lacking(roles, function, made) == []


def test_it_is_known_of_every_call_what_allows_it_and_some_function_can_get_to_it(
    sources: Sources, reached: dict[str, set[str]]
) -> None:
    assert sources.every_call() == set(ALLOWED_BY) == set().union(*reached.values())


def test_a_call_that_is_not_allowed_is_found(plain: Deployed) -> None:
    calls = {"s3.delete_objects", "secretsmanager.get_secret_value"}
    found = lacking(Roles(plain, WIRED), "PurgeExpiredFunction", calls)
    assert found == [
        "PurgeExpiredFunction may not s3.delete_objects: it lacks s3:DeleteObject",
        "PurgeExpiredFunction may not s3.delete_objects: it lacks s3:DeleteObjectVersion",
    ]


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
