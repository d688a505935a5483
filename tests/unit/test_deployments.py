"""The environments of samconfig.toml, and the workflow that deploys them: in this order, without a secret."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.unit.template.conftest import ROOT
from tests.unit.template.test_template_versions import PARAMETERS

WORKFLOW = (ROOT / ".github/workflows/deploy.yml").read_text(encoding="utf-8")
JOBS: dict[str, dict[str, Any]] = yaml.safe_load(WORKFLOW)["jobs"]
ENVIRONMENTS = {
    name: each["deploy"]["parameters"]
    for name, each in tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8")).items()
    if name in ("dev", "staging", "prod")
}
MADE = re.compile(r"^make ((?:[a-z-]+ ?)+)", re.MULTILINE)


def commands(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def overrides(environment: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in ENVIRONMENTS[environment]["parameter_overrides"])


def test_production_gets_what_staging_was_tested_with() -> None:
    needs = {name: each.get("needs") for name, each in JOBS.items()}
    assert needs == {"build": None, "staging": "build", "production": "staging"}
    unpack = "tar -xf build.tar"
    stack = ENVIRONMENTS["staging"]["stack_name"]
    assert commands("build") == ["make check build", "tar -cf build.tar .aws-sam/build"]
    assert commands("staging") == [unpack, "make deploy ENVIRONMENT=staging", f"make smoke STACK={stack}"]
    assert commands("production") == [unpack, "make deploy ENVIRONMENT=prod DEPLOY_ARGS=--no-confirm-changeset"]
    assert WORKFLOW.count("make check build") == 1, "what is built twice can differ"


def test_only_a_job_of_an_environment_gets_credentials_and_only_short_lived_ones() -> None:
    assert yaml.safe_load(WORKFLOW)["permissions"] == {"contents": "read"}
    assert "permissions" not in JOBS["build"]
    for name in ("staging", "production"):
        assert JOBS[name]["environment"] == name
        assert JOBS[name]["permissions"] == {"contents": "read", "id-token": "write"}
    assert not re.search(r"secrets\.|access-key|password", WORKFLOW)


def test_the_action_that_gets_credentials_is_one_commit() -> None:
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    others = [each for each in used if not each.startswith("actions/")]
    assert len(others) == 2
    assert all(re.fullmatch(r"aws-actions/configure-aws-credentials@[0-9a-f]{40}", each) for each in others)


def test_every_target_that_is_made_is_in_the_makefile() -> None:
    declared = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made = {name for job in JOBS for run in commands(job) for names in MADE.findall(run) for name in names.split()}
    assert {"check", "build", "deploy", "smoke"} == made
    assert made <= declared


def test_production_requires_a_second_factor() -> None:
    assert overrides("prod")["UserPoolMfa"] == "ON"


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_an_environment_sets_parameters_that_exist_to_values_that_are_allowed(name: str) -> None:
    assert ENVIRONMENTS[name]["stack_name"] == f"exhibit-ingest-{name}"
    assert f"environment={name}" in ENVIRONMENTS[name]["tags"]
    assert ENVIRONMENTS[name]["confirm_changeset"] == (name == "prod")
    # The roles and policies of the stack have no names of their own.
    assert ENVIRONMENTS[name]["capabilities"] == "CAPABILITY_IAM"
    required = {each for each, declared in PARAMETERS.items() if "Default" not in declared}
    assert required <= overrides(name).keys() <= PARAMETERS.keys()
    refused = [each for each, value in overrides(name).items() if not is_allowed(PARAMETERS[each], value)]
    assert refused == ([] if name == "dev" else ["AlarmEmail"]), "only what has to be set is refused"


def is_allowed(declared: dict[str, Any], value: str) -> bool:
    choices = [str(each) for each in declared.get("AllowedValues", [value])]
    return value in choices and re.fullmatch(declared.get("AllowedPattern", ".*"), value) is not None


def test_the_trust_policy_of_the_guide_lets_one_environment_in() -> None:
    guide = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    policies = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]
    (statement,) = next(each for each in policies if "OIDC" in str(each) or "WebIdentity" in str(each))["Statement"]
    assert statement["Action"] == "sts:AssumeRoleWithWebIdentity"
    (conditions,) = statement["Condition"].values()
    assert list(statement["Condition"]) == ["StringEquals"], "a wildcard would let every branch in"
    assert conditions["token.actions.githubusercontent.com:sub"].endswith(":environment:staging")
    assert conditions["token.actions.githubusercontent.com:aud"] == "sts.amazonaws.com"
