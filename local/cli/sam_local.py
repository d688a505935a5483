"""What `sam local invoke` needs to run one function in Docker against a running stack: its variables, and a template.

Guarantees that a function in a container gets what it would get from the stack, with this machine named as containers
know it, and none of the credentials of whoever runs it. SAM passes on only those variables that its template names, so
the template written here is the repository's with all of them named, for the folders that `make build` makes.
It does not guarantee that a container reaches the stack, which listens on this machine alone: with Docker Desktop
host.docker.internal leads there; with Docker's engine on Linux it leads to an address at which nothing listens.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.intrinsics import load_document
from local.stack import REPOSITORY, LocalStack

HOST = "host.docker.internal"
FOLDER, ENV_VARS, TEMPLATE = "sam", "env-vars.json", "template.yaml"

_THIS_MACHINE = re.compile(r"(?<=[/@])(?:127\.0\.0\.1|localhost)(?=[:/]|$)")

Variables = dict[str, dict[str, str]]


def env_vars(stack: LocalStack) -> Variables:
    """The variables of every function, by its logical id, as `sam local invoke --env-vars` reads them."""
    return {name: _seen_from_docker(stack.environment(name)) for name in stack.template.functions}


def write(stack: LocalStack) -> Path:
    """Write variables and template into a folder of the stack's state directory, and give it; `remove` ends both."""
    folder = stack.state_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    variables = env_vars(stack)
    # The password of a database of one's own may be in it.
    (folder / ENV_VARS).touch(mode=0o600)
    (folder / ENV_VARS).write_text(json.dumps(variables, indent=2) + "\n", encoding="utf-8")
    template = naming_all(load_document(stack.template.path), variables, REPOSITORY / ".aws-sam" / "build")
    # JSON is YAML too, and every intrinsic function has a form in it.
    (folder / TEMPLATE).write_text(json.dumps(template, indent=2, default=str) + "\n", encoding="utf-8")
    return folder


def remove(state_dir: Path) -> None:
    """Remove what was written: its addresses are nobody's once the stack is down."""
    shutil.rmtree(state_dir / FOLDER, ignore_errors=True)


def naming_all(template: Mapping[str, Any], variables: Variables, build: Path) -> dict[str, Any]:
    """The template with every one of the variables, which are empty there, and with the built folders as its code."""
    resources = {name: dict(resource) for name, resource in template["Resources"].items()}
    for name, resource in resources.items():
        properties = dict(resource.get("Properties") or {})
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            properties["ContentUri"] = str(build / name)
        elif name in variables:
            named = (properties.get("Environment") or {}).get("Variables") or {}
            properties |= {"CodeUri": str(build / name), "Environment": {"Variables": _empty(variables[name]) | named}}
        else:
            continue
        # Built already: SAM would build where it finds a method.
        resource |= {"Properties": properties, "Metadata": {"SkipBuild": True}}
    return {**template, "Resources": resources}


def _empty(variables: Mapping[str, str]) -> dict[str, str]:
    return dict.fromkeys(variables, "")


def _seen_from_docker(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables with this machine called as a container calls it; there no proxy has to be passed by."""
    known = {name: _THIS_MACHINE.sub(HOST, value) for name, value in variables.items() if name != "NO_PROXY"}
    # SAM adds the one of whoever calls it.
    return known | {"AWS_SESSION_TOKEN": ""}
