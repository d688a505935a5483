"""Check an AWS account and region before the first deployment; `make preflight`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local.errors import TemplateError
from tools.preflight.database import check_database
from tools.preflight.demand import Demand, read_demand
from tools.preflight.features import check_backup, check_data_api, check_durable_functions, check_snap_start
from tools.preflight.findings import Finding, Severity, exit_code
from tools.preflight.quota import check_quota
from tools.preflight.zones import check_zones
from tools.stack_names import explain_stack_name

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_rds import RDSClient

_DESCRIPTION = """\
Asks AWS, before a deployment, for what a failed one would tell you after fifteen minutes. It changes nothing.

  endpoints    whether the region has the endpoints that the template makes
  zones        two Availability Zones that have these endpoints, Aurora and RDS Proxy; the zones of a stack cannot be
               changed later
  database     whether the region offers DatabaseVersion, and a newer patch; whether DatabaseSnapshot restores under it
  concurrency  whether Lambda may run as many executions as queues and schedules start; a new account may have 10
  features     whether the region has Lambda's durable functions; the RDS Data API and SnapStart for Python, if they
               are used; whether AWS Backup is switched on for database and bucket, with BackupVaultDays
  stack name   whether it fits into the names of the bucket and the proxy, with --stack"""

_EPILOG = """\
examples:
  make preflight
  make preflight PREFLIGHT_ARGS="--region eu-central-1 DatabaseProxy=true ChunkConcurrency=32"
  make preflight PREFLIGHT_ARGS="AvailabilityZoneA=us-east-1a AvailabilityZoneB=us-east-1b"

Name=Value are the parameters that you will deploy with. The credentials are those of the AWS CLI (AWS_PROFILE). They
need ec2:DescribeAvailabilityZones, ec2:DescribeVpcEndpointServices, ec2:DescribeSubnets,
rds:DescribeDBEngineVersions, rds:DescribeOrderableDBInstanceOptions, rds:DescribeDBClusterSnapshots,
lambda:GetAccountSettings, lambda:ListDurableExecutionsByFunction and backup:DescribeRegionSettings; ExecuteStatement of
the RDS Data API is called for a database that does not exist, and needs no permission.

exit status: 0 no problem in what was checked (read the notes, and what was not checked); 1 a problem; 2 wrong usage, or
something could not be checked"""

NOT_CHECKED = """\
Not checked: what you and the policies of your organization may do, quotas other than Lambda's concurrency (networks,
clusters), whether names are taken, and regions of RDS Proxy and SnapStart beyond what the documentation of AWS says."""

_CONFIG = Config(retries={"mode": "standard", "max_attempts": 3}, connect_timeout=5, read_timeout=20)
_TEMPLATE = Path(__file__).parents[2] / "template.yaml"


@dataclass(frozen=True)
class Account:
    """The clients of one account and region."""

    region: str
    ec2: EC2Client
    rds: RDSClient
    functions: LambdaClient
    data: Any
    backup: Any


Connect: TypeAlias = Callable[[str | None], Account]


def connect(region: str | None) -> Account:
    """Return the clients of the AWS CLI's account, in the region or the CLI's; raise BotoCoreError without a region."""
    session = boto3.Session(region_name=region)
    ec2 = session.client("ec2", config=_CONFIG)
    rds, functions = session.client("rds", config=_CONFIG), session.client("lambda", config=_CONFIG)
    data, backup = session.client("rds-data", config=_CONFIG), session.client("backup", config=_CONFIG)
    return Account(ec2.meta.region_name, ec2, rds, functions, data, backup)


def main(arguments: Sequence[str], connect: Connect = connect) -> int:
    """Print what was found, a line each, and return the exit status."""
    parser = _build_parser()
    given = parser.parse_args(arguments)
    try:
        account = connect(given.region)
        demand = read_demand(given.template, account.region, dict(given.parameters))
    except BotoCoreError as error:
        parser.error(f"{error} Set the region with --region, AWS_REGION or `aws configure`.")
    except TemplateError as error:
        parser.error(str(error))
    print(f"Checking {account.region} for {given.template.name}.")
    findings = [*check_name(given.stack), *check(account, demand)]
    print(*findings, sep="\n")
    print(NOT_CHECKED)
    return exit_code(findings)


def check(account: Account, demand: Demand) -> Iterator[Finding]:
    """Yield the findings of every check; one that AWS does not answer does not prevent the others."""
    yield from _attempt("zones", lambda: check_zones(account.ec2, account.rds, demand))
    yield from _attempt("database", lambda: check_database(account.rds, demand))
    yield from _attempt("concurrency", lambda: check_quota(account.functions, demand))
    yield from _attempt("durable functions", lambda: check_durable_functions(account.functions))
    yield from check_snap_start(account.region, demand)
    yield from _attempt("Data API", lambda: check_data_api(account.data, account.region, demand))
    yield from _attempt("backups", lambda: check_backup(account.backup, demand))


def check_name(stack: str | None) -> Iterator[Finding]:
    """Yield whether a stack can have this name, if one is given."""
    if stack:
        refusal = explain_stack_name(stack)
        yield Finding(Severity.PROBLEM if refusal else Severity.OK, "stack name", refusal or f"{stack} fits.")


def _attempt(subject: str, run: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from run()
    except (BotoCoreError, ClientError) as error:
        yield Finding(Severity.UNKNOWN, subject, f"not checked: {error}")


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.preflight",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--region", help="region of the deployment; by default that of the AWS CLI")
    parser.add_argument("--stack", help="name of the stack, to check that it fits")
    parser.add_argument("--template", type=Path, default=_TEMPLATE, help="by default template.yaml")
    parser.add_argument("parameters", nargs="*", type=_parse_parameter, metavar="Name=Value")
    return parser


def _parse_parameter(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form Name=Value, such as DatabaseProxy=true")
    return name, value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
