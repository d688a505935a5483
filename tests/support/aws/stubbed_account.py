"""An AWS account as `make preflight` sees it, answered for by botocore's Stubber.

The stubs check requests and responses against AWS's own service models, and that the calls come in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import boto3
from botocore.config import Config
from botocore.stub import Stubber

from local.template.intrinsics import load_document
from tools.preflight.__main__ import Account
from tools.preflight.demand import read_demand

TEMPLATE = Path(__file__).parents[3] / "template.yaml"
REGION = "us-east-1"
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": REGION}
VERSION = load_document(TEMPLATE)["Parameters"]["DatabaseVersion"]["Default"]
# As in an account of us-east-1: the names of zones differ between accounts, their ids do not.
ZONES = {f"us-east-1{name}": f"use1-az{number}" for name, number in zip("abcdef", (2, 3, 4, 6, 1, 5), strict=True)}
PROXYLESS = "us-east-1b"
SERVED = sorted(set(ZONES) - {PROXYLESS})
WITHOUT_FIRST = sorted(ZONES)[1:]
DEMAND = read_demand(TEMPLATE, REGION, {})
SERVICES = {name.rpartition(".")[2] for name in (*DEMAND.interface_services, *DEMAND.gateway_services)}
# With the default of ChunkConcurrency (8): at six fewer, two chunks at once fit.
REQUESTED = DEMAND.concurrency
SNAPSHOT = "arn:aws:rds:us-east-1:123456789012:cluster-snapshot:as-of-nine"


class World(NamedTuple):
    """What AWS says; by default everything is there."""

    endpoints: dict[str, list[str]] = {}  # noqa: RUF012 - zones of single services; the others are in every zone
    missing: frozenset[str] = frozenset()
    database_zones: tuple[str, ...] = tuple(ZONES)
    default_subnets: tuple[str, ...] = ()
    versions: tuple[str, ...] = ("5.7.mysql_aurora.2.12.5", "8.0.mysql_aurora.3.04.6", VERSION)
    snapshot: str | None = None
    quota: int = 1000
    unreserved: int | None = None
    refused: str | None = None
    # The error of a call to a function that does not exist: code and message.
    durable: tuple[str, str] = ("ResourceNotFoundException", "Function not found")
    has_data_api: bool = True
    # What AWS Backup is switched on for; None where it is not called.
    backed_up: frozenset[str] | None = None


def services(world: World) -> Iterator[dict[str, Any]]:
    for name in SERVICES - world.missing:
        kinds = ["Interface", "Gateway"] if name == "s3" else ["Interface"]
        for kind in kinds:
            zones = world.endpoints.get(name, list(ZONES))
            yield {
                "ServiceName": f"com.amazonaws.{REGION}.{name}",
                "ServiceType": [{"ServiceType": kind}],
                "AvailabilityZones": zones,
            }


def answers(world: World) -> dict[str, list[tuple[str, Any]]]:
    """The calls of each client in their order, and what they return."""
    zones = [{"ZoneName": name, "ZoneId": zone_id} for name, zone_id in ZONES.items()]
    options = [{"AvailabilityZones": [{"Name": name} for name in world.database_zones]}] if world.database_zones else []
    versions = [{"EngineVersion": version} for version in world.versions]
    ec2 = [
        ("describe_availability_zones", {"AvailabilityZones": zones}),
        ("describe_vpc_endpoint_services", {"ServiceDetails": [*services(world)]}),
        ("describe_subnets", {"Subnets": [{"AvailabilityZone": name} for name in world.default_subnets]}),
    ]
    rds: list[tuple[str, dict[str, Any]]] = [
        ("describe_orderable_db_instance_options", {"OrderableDBInstanceOptions": options}),
        ("describe_db_engine_versions", {"DBEngineVersions": versions}),
    ]
    if world.snapshot:
        rds.append(("describe_db_cluster_snapshots", {"DBClusterSnapshots": [{"EngineVersion": world.snapshot}]}))
    unreserved = world.quota if world.unreserved is None else world.unreserved
    limit = {"ConcurrentExecutions": world.quota, "UnreservedConcurrentExecutions": unreserved}
    functions: list[tuple[str, Any]] = [
        ("get_account_settings", {"AccountLimit": limit}),
        ("list_durable_executions_by_function", world.durable),
    ]
    data: list[tuple[str, Any]] = [("execute_statement", ("ForbiddenException", "of no account"))] * world.has_data_api
    chosen = {kind: kind in (world.backed_up or ()) for kind in ("Aurora", "S3", "EFS")}
    request = [("describe_region_settings", {"ResourceTypeOptInPreference": chosen})]
    backup = [] if world.backed_up is None else request
    return {"ec2": ec2, "rds": rds, "lambda": functions, "rds-data": data, "backup": backup}


@cache
def client(name: str) -> Any:
    return boto3.client(name, **KEYS)  # type: ignore[call-overload]


def unreachable(name: str) -> Any:
    """A client of a service that the region does not have: at a port where no server listens."""
    once = Config(retries={"total_max_attempts": 1}, proxies={})
    return boto3.client(name, endpoint_url="http://127.0.0.1:1", config=once, **KEYS)  # type: ignore[call-overload]


@contextmanager
def account(world: World) -> Iterator[Callable[[str | None], Account]]:
    """A `connect` whose clients are answered by stubs."""
    with ExitStack() as stack:
        for name, responses in answers(world).items():
            stub = stack.enter_context(Stubber(client(name)))
            for operation, response in responses:
                if operation == world.refused:
                    stub.add_client_error(operation, "AccessDenied", f"may not perform {operation}")
                elif isinstance(response, tuple):
                    stub.add_client_error(operation, *response)
                else:
                    stub.add_response(operation, response)
        data = client("rds-data") if world.has_data_api else unreachable("rds-data")
        yield lambda _region: Account(REGION, client("ec2"), client("rds"), client("lambda"), data, client("backup"))
