"""The stack that is tried: its outputs, and tokens for users of two tenants.

Guaranteed: users that were created for the run are deleted when the block ends. Passwords and tokens are never printed.
"""

from __future__ import annotations

import json
import secrets
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from core.caller import EVERY_CASE
from tools.smoke.client import SmokeError

GetToken = Callable[[str, str], str]


@dataclass(frozen=True)
class Target:
    """The outputs of a stack by name, and a function that returns the token of a tenant's user with a role."""

    outputs: Mapping[str, str]
    get_token: GetToken

    def __getitem__(self, name: str) -> str:
        """Return an output; raise SmokeError if the stack has none of this name."""
        if name not in self.outputs:
            raise SmokeError(f"the stack has no output {name}; is it a stack of exhibit-ingest?")
        return self.outputs[name]


def read_outputs(stack: str, file: Path | None) -> dict[str, str]:
    """Return the outputs of a stack, or those in a file as `aws cloudformation describe-stacks` prints them."""
    try:
        if file is None:
            described: Any = boto3.client("cloudformation").describe_stacks(StackName=stack)
        else:
            described = json.loads(file.read_text(encoding="utf-8"))
        return {each["OutputKey"]: each["OutputValue"] for each in described["Stacks"][0].get("Outputs", [])}
    except (BotoCoreError, ClientError, OSError, ValueError, LookupError) as exc:
        raise SmokeError(f"the outputs of the stack cannot be read: {exc}") from exc


@contextmanager
def open_target(stack: str, outputs: Path | None, token_command: str | None) -> Iterator[Target]:
    """Yield the stack; without a command for tokens, users of its pool are created for the block."""
    found = read_outputs(stack, outputs)
    if token_command is not None:
        yield Target(found, _build_command(token_command))
        return
    users: list[str] = []
    target = Target(found, lambda tenant, role: _create_user(target, users, tenant, role))
    try:
        yield target
    finally:
        for user in users:
            boto3.client("cognito-idp").admin_delete_user(UserPoolId=found["UserPoolId"], Username=user)


def _build_command(command: str) -> GetToken:
    def get_token(tenant: str, role: str) -> str:
        words = [word.format(tenant=tenant, role=role) for word in shlex.split(command)]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise SmokeError(f"the command for tokens ended with {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout.strip()

    return get_token


def _create_user(target: Target, users: list[str], tenant: str, role: str) -> str:
    """Create a user in the stack's pool, and return its ID token."""
    if "UserPoolId" not in target.outputs:
        raise SmokeError("the stack has no user pool; name a command for tokens with --token-command")
    pool, client, password = target["UserPoolId"], boto3.client("cognito-idp"), f"{secrets.token_urlsafe(24)}-Aa1"
    user = f"{tenant}-{role}@example.com"
    # Every case, where the stack requires the claim.
    attributes = {"email": user, "email_verified": "true", "custom:tenant_id": tenant, "custom:cases": EVERY_CASE}
    try:
        client.admin_create_user(
            UserPoolId=pool,
            Username=user,
            MessageAction="SUPPRESS",
            UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
        )
        users.append(user)
        client.admin_set_user_password(UserPoolId=pool, Username=user, Password=password, Permanent=True)
        client.admin_add_user_to_group(UserPoolId=pool, Username=user, GroupName=role)
        answer = client.admin_initiate_auth(
            UserPoolId=pool,
            ClientId=target["UserPoolClientId"],
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": user, "PASSWORD": password},
        )
        return str(answer["AuthenticationResult"]["IdToken"])
    except (BotoCoreError, ClientError) as exc:
        raise SmokeError(f"a user of the pool could not be created: {exc}") from exc
