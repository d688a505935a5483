"""The environments of samconfig.toml, and the workflow that deploys them: in this order, without a secret."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.template.conftest import ROOT
from tests.unit.template.test_versions import PARAMETERS

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
    # Without a user: the role of production reads no document, and its pool requires a second factor.
    after = f"make smoke STACK={ENVIRONMENTS['prod']['stack_name']} SMOKE_ARGS=--outside"
    assert commands("production") == [unpack, "make deploy ENVIRONMENT=prod DEPLOY_ARGS=--no-confirm-changeset", after]
    assert WORKFLOW.count("make check build") == 1, "what is built twice can differ"


def test_only_a_job_of_an_environment_gets_credentials_and_only_short_lived_ones() -> None:
    assert yaml.safe_load(WORKFLOW)["permissions"] == {"contents": "read"}
    assert "permissions" not in JOBS["build"]
    for name in ("staging", "production"):
        assert JOBS[name]["environment"] == name
        assert JOBS[name]["permissions"] == {"contents": "read", "id-token": "write"}
    assert not re.search(r"secrets\.|access-key|password", WORKFLOW)


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").iterdir()), ids=lambda path: path.name)
def test_every_action_is_one_commit_with_its_version_beside_it(path: Path) -> None:
    """A tag can be moved to other code, which then runs with what the job may do."""
    used = re.findall(r"uses: *(.*)", path.read_text(encoding="utf-8"))
    assert used
    assert [each for each in used if not PINNED.fullmatch(each)] == []


PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def test_an_action_has_the_same_commit_everywhere() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").iterdir()]
    used = {each for text in texts for each in re.findall(r"uses: *(.*)", text)}
    assert len(used) == len({each.partition("@")[0] for each in used})


def test_newer_actions_and_packages_are_proposed() -> None:
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {each["package-ecosystem"] for each in updates} == {"github-actions", "pip"}
    (pip,) = [each for each in updates if each["package-ecosystem"] == "pip"]
    folders = {path.parent for path in (ROOT / "requirements").glob("*.txt")} | {ROOT / "layers/dependencies"}
    assert {ROOT / folder.strip("/") for folder in pip["directories"]} == folders


def test_the_packages_of_the_layer_are_audited_every_week_and_all_of_them() -> None:
    """pip-audit passes what it could not look up, unless it is strict."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/audit.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    # YAML 1.1 reads the key `on` as true.
    assert "schedule" in workflow[True]
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make audit"]
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\naudit: ")[2].partition("\n\n")[0]
    assert {"--strict", "--require-hashes", "$(LAYER).txt"} <= {*recipe.split()}


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
