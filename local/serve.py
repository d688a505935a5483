"""`serve` and `token`: the API on this machine for as long as one works with it, and tokens for it."""

from __future__ import annotations

import sys
from typing import NoReturn

from local.commands import DONE, Place
from local.stack import LocalStack
from local.template import Template
from local.tokens import Tokens

_LOOK_SECONDS = 1.0


def serve(place: Place, port: int, workers: int) -> NoReturn:
    """Serve the API until a signal ends it; raises LocalError where the port is taken, or when the stack breaks."""
    print("starting the database, Redis, S3, SQS, SNS, the functions and the API ...", file=sys.stderr)
    with place.stack(workers=workers, api_port=port) as stack:
        print(_told(stack), flush=True)
        _watch(stack)


def _told(stack: LocalStack) -> str:
    return f"""\
API:       {stack.api_url}
a token:   .venv/bin/exhibit-ingest token --tenant acme --user me
database:  {stack.database_url}
logs:      {stack.log_directory}
S3, SQS and SNS are in memory: uploads and messages are gone when this ends, imported rows are not.
Ctrl-C ends it."""


def _watch(stack: LocalStack) -> NoReturn:
    """Tell every invocation that failed."""
    told = 0
    while True:
        stack.pause(_LOOK_SECONDS)
        stack.pump.activity.check()
        for failure in stack.failures(told):
            told += 1
            print(failure, file=sys.stderr)


def print_token(place: Place, tenant: str, user: str) -> int:
    """Print a token that the API of this state directory takes for an hour, whether it is running or not."""
    print(Tokens.of(place.state_dir, Template.load(place.template)).issue(tenant, user))
    return DONE
