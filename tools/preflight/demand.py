"""What a deployment of the template asks of the account, read from the template with the parameters of the deployment.

Guaranteed: every endpoint, event source, schedule and reservation of the template is counted, without a list of them
here. What has no upper limit raises TemplateError.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.errors import TemplateError
from local.template.conditions import apply_conditions
from local.template.intrinsics import get_referenced_id, load_document, resolve
from local.template.reader import PSEUDO_PARAMETERS


@dataclass(frozen=True)
class Demand:
    """What the deployment needs; concurrency in executions that can run at the same time."""

    interface_services: tuple[str, ...]
    gateway_services: tuple[str, ...]
    # The parameters AvailabilityZoneA and AvailabilityZoneB; empty where CloudFormation chooses.
    zones: tuple[str, ...]
    has_proxy: bool
    has_snap_start: bool
    has_data_api: bool
    has_vault: bool
    database_version: str
    database_snapshot: str
    queue_concurrency: int
    chunk_concurrency: int
    schedules: int
    reserved_concurrency: int

    @property
    def concurrency(self) -> int:
        """Executions that queues and schedules can start and that reservations keep."""
        return self.queue_concurrency + self.schedules + self.reserved_concurrency


def read_demand(template: Path, region: str, parameters: Mapping[str, str]) -> Demand:
    """Return what the template needs with these parameters; the others have their defaults.

    Raises TemplateError for a parameter that the template does not have, and for a queue without MaximumConcurrency.
    """
    document = load_document(template)
    values = _fill_in(document, region, parameters)
    resources = apply_conditions(document, values)["Resources"]
    endpoints = list(_list_endpoints(resources, values))
    functions = [each["Properties"] for each in resources.values() if each["Type"] == "AWS::Serverless::Function"]
    unreserved = [each for each in functions if "ReservedConcurrentExecutions" not in each]
    return Demand(
        interface_services=tuple(sorted(name for name, kind in endpoints if kind == "Interface")),
        gateway_services=tuple(sorted(name for name, kind in endpoints if kind == "Gateway")),
        zones=tuple(filter(None, (values["AvailabilityZoneA"], values["AvailabilityZoneB"]))),
        has_proxy=any(each["Type"] == "AWS::RDS::DBProxy" for each in resources.values()),
        has_snap_start=values["SnapStart"] != "None",
        has_data_api=values["DatabaseDataApi"] == "true",
        has_vault=any(each["Type"] == "AWS::Backup::BackupVault" for each in resources.values()),
        database_version=values["DatabaseVersion"],
        database_snapshot=values["DatabaseSnapshot"],
        queue_concurrency=sum(_read_maximum(each, values) for each in _list_events(unreserved, "SQS")),
        chunk_concurrency=next(
            _read_maximum(each, values)
            for each in _list_events(functions, "SQS")
            if get_referenced_id(each["Queue"]) == "ImportChunksQueue"
        ),
        schedules=len(list(_list_events(unreserved, "Schedule"))),
        reserved_concurrency=sum(
            int(_resolve(each.get("ReservedConcurrentExecutions", 0), values)) for each in functions
        ),
    )


def _fill_in(document: Mapping[str, Any], region: str, parameters: Mapping[str, str]) -> dict[str, str]:
    declared = document["Parameters"]
    if unknown := sorted(parameters.keys() - declared.keys()):
        raise TemplateError(f"the template has no parameter {', '.join(unknown)}; it has {', '.join(sorted(declared))}")
    defaults = {name: str(each.get("Default", "")) for name, each in declared.items()}
    return {**PSEUDO_PARAMETERS, **defaults, **parameters, "AWS::Region": region}


def _list_endpoints(resources: Mapping[str, Any], values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for each in resources.values():
        if each["Type"] == "AWS::EC2::VPCEndpoint":
            properties = each["Properties"]
            yield _resolve(properties["ServiceName"], values), properties.get("VpcEndpointType", "Gateway")


def _list_events(functions: list[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    events = (event for function in functions for event in function.get("Events", {}).values())
    return (event["Properties"] for event in events if event["Type"] == kind)


def _read_maximum(event: Mapping[str, Any], values: Mapping[str, str]) -> int:
    try:
        return int(_resolve(event["ScalingConfig"]["MaximumConcurrency"], values))
    except KeyError as exc:
        raise TemplateError(f"the event source of {event.get('Queue')} has no MaximumConcurrency") from exc


def _resolve(value: Any, values: Mapping[str, str]) -> str:
    def look_up(name: str, attribute: str | None) -> str:
        if attribute is None and name in values:
            return values[name]
        raise TemplateError(f"{value!r} is not decided by parameters")

    return str(resolve(value, look_up))
