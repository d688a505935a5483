"""Deploy an environment of samconfig.toml; `make deploy`."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tools.deploy.protection import Loss, build_policy, find_losses
from tools.deploy.stack import Stack, State
from tools.stack_names import explain_stack_name

_ROOT = Path(__file__).parents[2]
_CONFIG = _ROOT / "samconfig.toml"
_DESCRIPTION = """\
Runs `sam deploy` for an environment, and keeps what holds data: it refuses a deployment that would replace or remove
the database, the bucket, the key, the user pool or the backup vault, unless --replace names them, and sets the stack
policy (deploy/stack-policy.json), by which CloudFormation refuses it too. Other options are those of `sam deploy`."""
_EPILOG = """\
exit status: 0 deployed, or nothing to deploy; 1 refused, or the deployment failed; 2 wrong usage"""

_ADVICE = (
    "Nothing was changed. Undo the change of the parameter or the template, or, if you mean it (docs/operations.md, "
    "Restore), repeat the command with "
)
_FAILED_AT_FIRST = "the first deployment failed: delete the stack (sam delete), then deploy again."
# SAM waits for 60 minutes, and CloudFormation goes on after that; what replaces a database can take longer. In minutes.
_LONG_WAIT = ("--max-wait-duration", "240")

Sam: TypeAlias = Callable[[Sequence[str]], int]


def run_sam(options: Sequence[str]) -> int:
    """Run `sam deploy` with these options on this terminal, and return its exit status."""
    command = [str(_ROOT / ".venv-sam/bin/python"), "-m", "samcli", "deploy", *options]
    return subprocess.run(command, check=False, cwd=_ROOT).returncode


def deploy(stack: Stack, options: Sequence[str], replace: Sequence[str], sam: Sam) -> int:
    """Deploy with the options of `sam deploy`, and return the exit status.

    The stack policy is set before and after: before, so that it holds for this deployment; after, because a new stack
    can have none before, and because `replace` lifts it for the time of the deployment.
    """
    state = stack.read_state()
    if state is State.NEVER_CREATED:
        print(f"Not deployed: {_FAILED_AT_FIRST}", file=sys.stderr)
        return 1
    if state is State.MISSING:
        return _protect_after(stack, lambda: sam(options))
    stack.set_policy(build_policy())
    status, losses = _plan(stack, options, sam)
    if status:
        return status
    if refusal := _refuse(losses, replace):
        print(refusal, file=sys.stderr)
        return 1
    if not losses:
        return _protect_after(stack, lambda: sam(options))
    lifted = {loss.kind for loss in losses}
    return _protect_after(stack, lambda: sam([*_LONG_WAIT, *options]), lifted)


def _protect_after(stack: Stack, run: Callable[[], int], lifted: Collection[str] = ()) -> int:
    """Run a deployment, with the policy lifted for these types, and set the policy also if it is interrupted."""
    previous = {each: signal.signal(each, _exit) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        if lifted:
            stack.set_policy(build_policy(lifted))
        return run()
    finally:
        _protect(stack)
        for each, handler in previous.items():
            signal.signal(each, handler)


def _protect(stack: Stack) -> None:
    # A deployment that never began leaves no stack.
    match stack.read_state():
        case State.CREATED:
            stack.set_policy(build_policy())
        case State.NEVER_CREATED:
            print(_FAILED_AT_FIRST[0].upper() + _FAILED_AT_FIRST[1:], file=sys.stderr)


def _exit(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def _plan(stack: Stack, options: Sequence[str], sam: Sam) -> tuple[int, list[Loss]]:
    """Return the status of a change set that is not executed, and what it would replace or remove."""
    before = stack.list_change_sets()
    if status := sam([*options, "--no-execute-changeset", "--no-fail-on-empty-changeset"]):
        return status, []
    planned = stack.list_change_sets() - before
    losses = [loss for each in planned for loss in find_losses(stack.list_changes(each))]
    for each in planned:
        stack.delete_change_set(each)
    return 0, losses


def _refuse(losses: Sequence[Loss], replace: Sequence[str]) -> str:
    if unlisted := [loss for loss in losses if loss.name not in replace]:
        names = " ".join(sorted(loss.name for loss in losses))
        listed = "\n".join(f"  {loss}" for loss in unlisted)
        return f"Not deployed, because the stack would lose what holds data:\n{listed}\n{_ADVICE}REPLACE='{names}'."
    if needless := [name for name in replace if name not in {loss.name for loss in losses}]:
        return (
            f"Not deployed. This deployment does not replace or remove {', '.join(needless)}: leave it out of REPLACE."
        )
    return ""


def main(arguments: Sequence[str], sam: Sam = run_sam) -> int:
    """Deploy what the arguments say and return the exit status; see --help."""
    parser = _build_parser()
    given, options = parser.parse_known_args(arguments)
    section = _read_section(given.environment)
    name = given.stack_name or section.get("stack_name")
    if not name:
        parser.error(
            f"samconfig.toml has no stack_name for {given.environment}; add [{given.environment}.deploy.parameters]."
        )
    if refusal := explain_stack_name(name):
        parser.error(refusal)
    if elsewhere := [each for each in options if each.startswith(("--config-file", "--config-env"))]:
        parser.error(f"{elsewhere[0]} is not supported: this reads samconfig.toml, and the environment that is named.")
    try:
        session = boto3.Session(
            region_name=given.region or section.get("region"), profile_name=given.profile or section.get("profile")
        )
        client = session.client("cloudformation")
        # SAM deploys the stack that is looked at here, however it reads its settings.
        given.stack_name, given.region = name, client.meta.region_name
        return deploy(Stack(client, name), [*_pass_on(given), *options], given.replace.split(), sam)
    except (BotoCoreError, ClientError) as error:
        print(f"Not deployed, or not protected: {error}", file=sys.stderr)
        return 1


def _read_section(environment: str) -> dict[str, str]:
    """Return the parameters of `sam deploy`, which SAM reads in [<environment>.global.parameters] too."""
    config = tomllib.loads(_CONFIG.read_text(encoding="utf-8")).get(environment, {})
    common, own = (config.get(name, {}).get("parameters", {}) for name in ("global", "deploy"))
    section: dict[str, str] = common | own
    return section


def _pass_on(given: argparse.Namespace) -> list[str]:
    """Return the options of `sam deploy` that were read here."""
    values = {"--config-env": given.environment, "--stack-name": given.stack_name}
    values |= {"--region": given.region, "--profile": given.profile}
    return [part for option, value in values.items() if value for part in (option, value)]


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.deploy",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("environment", help="section of samconfig.toml, such as staging")
    parser.add_argument("--replace", default="", metavar="NAMES", help="logical ids that may be replaced or removed")
    for option in ("--stack-name", "--region", "--profile"):
        parser.add_argument(option, help="as in samconfig.toml if it is not given")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
