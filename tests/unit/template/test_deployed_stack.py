"""`make deploy` reads samconfig.toml as SAM does, so that both look at one stack."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import boto3
import pytest

from tests.unit.template.test_guarded_deployments import ALL, denied
from tools.deploy.__main__ import main


@pytest.mark.parametrize("environment", ["x", "y"])
def test_sam_deploys_the_stack_that_is_looked_at(
    environment: str, aws_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAM reads the section `global` too, into which --guided moves what all commands have in common."""
    name, config = f"looked-at-{environment}", tmp_path / "samconfig.toml"
    config.write_text(
        f'[x.global.parameters]\nregion = "eu-west-1"\nstack_name = "{name}"\n'
        '[y.global.parameters]\nregion = "eu-west-1"\nstack_name = "common"\n'
        f'[y.deploy.parameters]\nstack_name = "{name}"\n'
    )
    monkeypatch.setattr("tools.deploy.__main__._CONFIG", config)
    login = {"AWS_ENDPOINT_URL": aws_url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    for variable, value in login.items():
        monkeypatch.setenv(variable, value)
    client = boto3.client("cloudformation", region_name="eu-west-1")
    topic = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    client.create_stack(StackName=name, TemplateBody=json.dumps(topic))
    calls: list[list[str]] = []

    def sam(options: Sequence[str]) -> int:
        calls.append([*options])
        return 0

    assert main([environment, "--capabilities", "CAPABILITY_IAM"], sam) == 0
    named = ["--config-env", environment, "--stack-name", name, "--region", "eu-west-1"]
    given = [*named, "--capabilities", "CAPABILITY_IAM"]
    assert calls == [[*given, "--no-execute-changeset", "--no-fail-on-empty-changeset"], given]
    assert denied(client.get_stack_policy(StackName=name)["StackPolicyBody"]) == ALL
