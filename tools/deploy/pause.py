"""Pause a stack, or resume it: deploy its template again with another value of `Paused`; `make pause`, `make resume`.

Nothing else of the stack changes: its template and its other parameters stay those of the last deployment. `make
deploy` keeps the value too, unless samconfig.toml has one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import ParameterTypeDef

PARAMETER = "Paused"


def set_paused(client: CloudFormationClient, name: str, paused: str) -> bool:
    """Set the parameter, wait until the stack has it, and return True; False if it had that value.

    Raises LookupError for a stack whose template has no such parameter, ClientError and WaiterError.
    """
    (stack,) = client.describe_stacks(StackName=name)["Stacks"]
    before = {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])}
    if PARAMETER not in before:
        raise LookupError(f"the stack {name} is of a version without {PARAMETER}; deploy this one first.")
    if before[PARAMETER] == paused:
        return False
    kept: list[ParameterTypeDef] = [
        {"ParameterKey": key, "UsePreviousValue": True} for key in before if key != PARAMETER
    ]
    client.update_stack(
        StackName=name,
        UsePreviousTemplate=True,
        Parameters=[*kept, {"ParameterKey": PARAMETER, "ParameterValue": paused}],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
    )
    client.get_waiter("stack_update_complete").wait(StackName=name, WaiterConfig={"Delay": 5})
    return True


def main(arguments: Sequence[str]) -> int:
    """Set the parameter and print what is so now; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.deploy.pause", description=__doc__, allow_abbrev=False)
    parser.add_argument("stack", help="the name of the stack")
    parser.add_argument("--resume", action="store_true", help="have the work go on")
    given = parser.parse_args(arguments)
    try:
        changed = set_paused(boto3.client("cloudformation"), given.stack, "false" if given.resume else "true")
    except (BotoCoreError, ClientError, WaiterError, LookupError) as error:
        print(f"Not changed, or not known: {error}", file=sys.stderr)
        return 1
    state = "works" if given.resume else "is paused: messages wait, for at most 14 days"
    print(f"The stack {given.stack} {state}.{'' if changed else ' Nothing had to be changed.'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
