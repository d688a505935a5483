"""The two Availability Zones: which ones serve every resource of the stack, and whether the chosen ones do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tools.preflight.demand import Demand
from tools.preflight.findings import Finding, Severity, join

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_rds import RDSClient

# By zone id, because names differ between accounts: "US East (N. Virginia) Region does not support RDS Proxy in the
# use1-az3 Availability Zone" (Amazon RDS User Guide, Quotas and limitations for RDS Proxy). No API lists these.
ZONES_WITHOUT_PROXY = frozenset({"use1-az3"})
PROXY, DATABASE = "RDS Proxy", "Aurora Serverless v2"


def check_zones(ec2: EC2Client, rds: RDSClient, demand: Demand) -> Iterator[Finding]:
    """Yield what the region's zones lack; the last finding names two zones that lack nothing, if there are two."""
    names = _list_zones(ec2)
    served = dict(_list_services(ec2, demand))
    yield from _check_services(demand, served)
    served |= _list_database_zones(rds, demand)
    served[PROXY] = {name for name, zone_id in names.items() if zone_id not in ZONES_WITHOUT_PROXY}
    suitable = sorted(set(names).intersection(*served.values()))
    chosen = demand.zones or _guess_zones(ec2, names)
    problems = list(_check_chosen(chosen, names, served, demand))
    yield from problems
    yield _recommend(demand, suitable, bool(problems))


def _list_zones(ec2: EC2Client) -> dict[str, str]:
    """Return the zone ids by name of the zones that the account can use; local zones are left out."""
    filters = [{"Name": "zone-type", "Values": ["availability-zone"]}, {"Name": "state", "Values": ["available"]}]
    response = ec2.describe_availability_zones(Filters=filters)  # type: ignore[arg-type]
    return {each["ZoneName"]: each["ZoneId"] for each in response["AvailabilityZones"]}


def _list_services(ec2: EC2Client, demand: Demand) -> Iterator[tuple[str, set[str]]]:
    required = [*demand.interface_services, *demand.gateway_services]
    pages = ec2.get_paginator("describe_vpc_endpoint_services").paginate(
        Filters=[{"Name": "service-name", "Values": required}]
    )
    for page in pages:
        for each in page["ServiceDetails"]:
            kinds = {kind["ServiceType"] for kind in each["ServiceType"]}
            needed = "Interface" if each["ServiceName"] in demand.interface_services else "Gateway"
            if needed in kinds:
                yield each["ServiceName"], set(each["AvailabilityZones"])


def _check_services(demand: Demand, served: Mapping[str, set[str]]) -> Iterator[Finding]:
    required = {*demand.interface_services, *demand.gateway_services}
    if missing := required - served.keys():
        text = f"the region has no endpoint for {join(missing)}. Deploy in another region."
        yield Finding(Severity.PROBLEM, "endpoints", text)
    else:
        yield Finding(Severity.OK, "endpoints", f"the region has all {len(required)} that the template makes.")


def _list_database_zones(rds: RDSClient, demand: Demand) -> dict[str, set[str]]:
    """Return the zones of the database by its name; nothing for a version that the region does not have."""
    pages = rds.get_paginator("describe_orderable_db_instance_options").paginate(
        Engine="aurora-mysql", EngineVersion=demand.database_version, DBInstanceClass="db.serverless"
    )
    options = [option for page in pages for option in page["OrderableDBInstanceOptions"]]
    zones = {zone["Name"] for option in options for zone in option["AvailabilityZones"]}
    return {DATABASE: zones} if zones else {}


def _guess_zones(ec2: EC2Client, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return what `!GetAZs` probably begins with: zones with a default subnet if there is one, in alphabetical order.

    "The order of the results isn't guaranteed" (CloudFormation Template Reference Guide, Fn::GetAZs).
    """
    subnets = ec2.describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"]
    return tuple(sorted({each["AvailabilityZone"] for each in subnets} or names)[:2])


def _check_chosen(
    chosen: tuple[str, ...], names: Mapping[str, str], served: Mapping[str, set[str]], demand: Demand
) -> Iterator[Finding]:
    whose = "chosen" if demand.zones else "what CloudFormation probably takes by default"
    for zone in chosen:
        if zone not in names:
            text = f"{zone} is not a zone of this region and account; these are: {join(names)}."
            yield Finding(Severity.PROBLEM, "zones", text)
        elif lacking := {service for service, zones in served.items() if zone not in zones}:
            needed = lacking - {PROXY} or demand.has_proxy
            text = f"{zone} ({names[zone]}, {whose}) does not have {join(lacking)}."
            yield Finding(Severity.PROBLEM if needed else Severity.NOTE, "zones", text)


def _recommend(demand: Demand, suitable: list[str], has_findings: bool) -> Finding:
    if len(suitable) < 2:
        text = f"only {join(suitable)} serves all that the template can make; deploy in another region."
        return Finding(Severity.PROBLEM, "zones", text)
    if demand.zones and not has_findings:
        return Finding(Severity.OK, "zones", f"{join(demand.zones)} serve all that the template can make.")
    first, second = suitable[:2]
    text = f"at the first deployment, set AvailabilityZoneA={first} AvailabilityZoneB={second}: they serve all."
    return Finding(Severity.NOTE, "zones", text)
