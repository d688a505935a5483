"""The environment variables and the template for `sam local invoke` against a running stack.

Guarantees that a function in a container gets the variables that the stack gives it, with this machine's address as
containers see it, and none of the caller's credentials. SAM passes on only variables that its template declares, so
the template written here is the repository's with all of them declared, for the folders that `make build` makes.
Does not guarantee that a container reaches the stack, which listens on 127.0.0.1 only: host.docker.internal leads
there with Docker Desktop, but not with Docker Engine on Linux, where no option of SAM's helps: it ignores
`--docker-network host`, and `--add-host host.docker.internal:host-gateway` names the address of the bridge.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from local.template.intrinsics import load_document

HOST = "host.docker.internal"
FOLDER, ENV_VARS, TEMPLATE = "sam", "env-vars.json", "template.yaml"

_LOCAL_HOST = re.compile(r"(?<=[/@])(?:127\.0\.0\.1|localhost)(?=[:/]|$)")

Variables = dict[str, dict[str, str]]


def build_env_vars(stack: LocalStack) -> Variables:
    """Return the variables of every function by logical id, in the format of `sam local invoke --env-vars`."""
    return {name: _rewrite_addresses(stack.environment(name)) for name in stack.template.functions}


def write(stack: LocalStack) -> Path:
    """Write variables and template to a folder of the stack's state directory and return it; see `remove`."""
    folder = stack.state_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    variables = build_env_vars(stack)
    # DATABASE_URL can contain a password.
    (folder / ENV_VARS).touch(mode=0o600)
    (folder / ENV_VARS).write_text(json.dumps(variables, indent=2) + "\n", encoding="utf-8")
    template = build_template(load_document(stack.template.path), variables, REPOSITORY / ".aws-sam" / "build")
    # JSON is valid YAML, and every intrinsic function has a long form in it.
    (folder / TEMPLATE).write_text(json.dumps(template, indent=2, default=str) + "\n", encoding="utf-8")
    return folder


def remove(state_dir: Path) -> None:
    """Delete the folder; its addresses are invalid once the stack has stopped."""
    shutil.rmtree(state_dir / FOLDER, ignore_errors=True)


def build_template(template: Mapping[str, Any], variables: Variables, build: Path) -> dict[str, Any]:
    """Return the template with every variable declared (empty) and with the built folders in place of the sources."""
    resources = {name: dict(resource) for name, resource in template["Resources"].items()}
    for name, resource in resources.items():
        properties = dict(resource.get("Properties") or {})
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            properties["ContentUri"] = str(build / name)
        elif name in variables:
            declared = (properties.get("Environment") or {}).get("Variables") or {}
            properties |= {
                "CodeUri": str(build / name),
                "Environment": {"Variables": dict.fromkeys(variables[name], "") | declared},
            }
        else:
            continue
        # The folders are built; with a build method SAM would build them again.
        resource |= {"Properties": properties, "Metadata": {"SkipBuild": True}}
    return {**template, "Resources": resources}


def _rewrite_addresses(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with HOST in place of this machine's address, and without NO_PROXY."""
    rewritten = {name: _LOCAL_HOST.sub(HOST, value) for name, value in variables.items() if name != "NO_PROXY"}
    # Otherwise SAM adds the session token of its caller.
    return rewritten | {"AWS_SESSION_TOKEN": ""}
