"""Try a deployed stack as its users do; `make smoke STACK=name`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from tools.smoke.client import SmokeError
from tools.smoke.outside import OUTSIDE_STEPS
from tools.smoke.steps import STEPS
from tools.smoke.target import Target, open_target
from tools.smoke.trial import Trial

DONE, FAILED = 0, 1
_DESCRIPTION = """\
Tries a deployed stack through its outputs alone, as a tenant of this run's own (smoke-<time>):

  log in              no answer without a token; a user of the stack's pool, deleted at the end
  import a file       by upload URL; two rows imported, one rejected with its line and reason
  correct and reload  the rejected row, with the options of the first file
  find documents      every row with every value
  tag                 once, whatever is repeated
  custody             recorded, an overlap refused, a record removed
  produce             Bates numbers, and the bytes of the copied file
  keep others out     another tenant finds nothing, a viewer changes nothing
  alarm e-mail        the subscriptions of AlarmEmail are confirmed; skipped where there is none

Takes a few minutes. What was imported and produced stays, because evidence is not deleted; it belongs to the tenant of
the run, which no other client uses."""
_EPILOG = """\
examples:
  make smoke STACK=exhibit-ingest-staging
  make smoke STACK=exhibit-ingest SMOKE_ARGS='--token-command "my-tokens --tenant {tenant} --role {role}"'
      for a stack with its own issuer of tokens (JwtIssuer)
  make smoke STACK=exhibit-ingest-prod SMOKE_ARGS=--outside
      for production after a deployment: no answer without a token, the console is served, no alarm that pages is on,
      and the subscriptions of AlarmEmail are confirmed

The credentials are those of the AWS CLI (AWS_PROFILE, AWS_REGION). They need cloudformation:DescribeStacks, the
cognito-idp:Admin* requests of docs/operations.md with AdminDeleteUser, s3:PutObject and s3:GetObject in the bucket and
s3:ListBucket on it, kms:GenerateDataKey and kms:Decrypt with the stack's key, and sns:ListSubscriptionsByTopic; with
--outside cloudformation:DescribeStacks, cloudwatch:DescribeAlarms and sns:ListSubscriptionsByTopic.

exit status: 0 every step succeeded; 1 a step did not; 2 wrong usage"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps; print a line for each, and for the first that fails what to look at."""
    options = _parser().parse_args(arguments)
    try:
        with open_target(options.stack, options.outputs, options.token_command) as target:
            trial = Trial(target, f"smoke-{int(time.time())}")
            return run_steps(trial, OUTSIDE_STEPS) if options.outside else _try(trial)
    except SmokeError as error:
        return _report("the stack", error, None)


def _try(trial: Trial) -> int:
    if (status := run_steps(trial, STEPS)) == DONE:
        print(f"The stack works. Imported documents stay, as tenant {trial.tenant}.")
    return status


def run_steps(trial: Trial, steps: Sequence[tuple[str, Callable[[Trial], str | None]]]) -> int:
    """Run the steps up to the first that fails; return the exit status."""
    for name, step in steps:
        began = time.monotonic()
        try:
            skipped = step(trial)
        except (SmokeError, BotoCoreError, ClientError, LookupError) as error:
            return _report(name, error, trial.target)
        print(
            f"skipped {name}: {skipped}" if skipped else f"ok      {name} ({time.monotonic() - began:.1f} s)",
            flush=True,
        )
    return DONE


def _report(step: str, error: Exception, target: Target | None) -> int:
    what = str(error) if isinstance(error, SmokeError) else f"{type(error).__name__}: {error}"
    print(f"failed  {step}: {what}")
    logs = target.outputs.get("LogGroup") if target else None
    if logs:
        print(f'        Read the errors in the log group {logs} (level = "ERROR"), then docs/operations.md.')
    return FAILED


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "make smoke", "make smoke STACK=name", _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("stack", help="the name of the stack")
    made.add_argument(
        "--outputs", type=Path, metavar="FILE", help="read the outputs from the JSON of describe-stacks instead"
    )
    made.add_argument(
        "--token-command", metavar="COMMAND", help="print the token of a user; {tenant} and {role} are filled in"
    )
    made.add_argument("--outside", action="store_true", help="only what needs no user and imports nothing")
    return made


if __name__ == "__main__":
    sys.exit(main())
