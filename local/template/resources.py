"""One resource's properties -> one value of `local.wiring`; raises TemplateError on what is not imitated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from local.errors import TemplateError
from local.intrinsics import target_of
from local.wiring import (
    Bucket,
    Durable,
    EventSource,
    Function,
    Notification,
    Queue,
    Redrive,
    Schedule,
    Subscription,
    Topic,
)

Properties = Mapping[str, Any]

# What Lambda and SQS take where the template is silent.
_FUNCTION_TIMEOUT = 3
_MEMORY_MB = 128
_BATCH_SIZE = 10
_VISIBILITY = 30
_RETENTION_DAYS = 14

_UNIT_SECONDS = {"minute": 60, "hour": 3600, "day": 86400}
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")


def function(name: str, properties: Properties, defaults: Properties) -> Function:
    """A function, with the template's Globals underneath."""
    for unknown in ("ImageUri", "InlineCode", "PackageType"):
        if unknown in properties or unknown in defaults:
            raise TemplateError(f"{name}: the local stack does not imitate {unknown}")
    handler = properties.get("Handler", defaults.get("Handler"))
    if not isinstance(handler, str):
        raise TemplateError(f"{name} has no Handler")
    return Function(
        name=name,
        handler=handler,
        timeout=float(properties.get("Timeout", defaults.get("Timeout", _FUNCTION_TIMEOUT))),
        memory_mb=int(properties.get("MemorySize", defaults.get("MemorySize", _MEMORY_MB))),
        environment=_variables(defaults) | _variables(properties),
        alias=_alias(name, properties.get("AutoPublishAlias", defaults.get("AutoPublishAlias"))),
        durable=_durable(name, properties.get("DurableConfig", defaults.get("DurableConfig"))),
    )


def _alias(name: str, alias: object) -> str | None:
    if alias is not None and not isinstance(alias, str):
        raise TemplateError(f"{name}: AutoPublishAlias must rest on parameters alone, not on {alias!r}")
    return alias


def _durable(name: str, config: Properties | None) -> Durable | None:
    if config is None:
        return None
    label = f"{name}.DurableConfig"
    _only(label, config, ("ExecutionTimeout", "RetentionPeriodInDays", "KMSKeyArn"))
    if "ExecutionTimeout" not in config:
        raise TemplateError(f"{label} has no ExecutionTimeout")
    retention = config.get("RetentionPeriodInDays", _RETENTION_DAYS)
    return Durable(
        execution_timeout=_whole_number(label, "ExecutionTimeout", config["ExecutionTimeout"]),
        retention_days=_whole_number(label, "RetentionPeriodInDays", retention),
    )


def _variables(properties: Properties) -> dict[str, Any]:
    return dict((properties.get("Environment") or {}).get("Variables") or {})


def queue(name: str, properties: Properties) -> Queue:
    """A standard queue."""
    _only(
        name,
        properties,
        ("QueueName", "VisibilityTimeout", "DelaySeconds", "RedrivePolicy"),
        ("MessageRetentionPeriod", "SqsManagedSseEnabled", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "Tags"),
        ("RedriveAllowPolicy", "MaximumMessageSize", "ReceiveMessageWaitTimeSeconds"),
    )
    policy = properties.get("RedrivePolicy")
    redrive = policy and Redrive(target_of(policy["deadLetterTargetArn"]), int(policy["maxReceiveCount"]))
    return Queue(
        logical_id=name,
        name=_name(name, properties, "QueueName"),
        visibility=float(properties.get("VisibilityTimeout", _VISIBILITY)),
        delay=float(properties.get("DelaySeconds", 0)),
        redrive=redrive or None,
    )


def topic(name: str, properties: Properties) -> Topic:
    """A standard topic; its subscriptions are resources of their own."""
    _only(name, properties, ("TopicName",), ("DisplayName", "KmsMasterKeyId", "SignatureVersion", "Tags"))
    return Topic(name, _name(name, properties, "TopicName"))


def subscription(name: str, properties: Properties) -> Subscription:
    """A queue's subscription to a topic."""
    known = ("TopicArn", "Protocol", "Endpoint", "RawMessageDelivery", "FilterPolicy", "FilterPolicyScope")
    # Nothing here keeps a topic from delivering.
    _only(name, properties, known, ("RedrivePolicy",))
    if properties.get("Protocol") != "sqs":
        raise TemplateError(f"{name}: the local stack delivers to queues only, not to {properties.get('Protocol')}")
    return Subscription(
        topic=target_of(properties["TopicArn"]),
        queue=target_of(properties["Endpoint"]),
        raw=properties.get("RawMessageDelivery") is True,
        filter_policy=properties.get("FilterPolicy"),
        filter_scope=properties.get("FilterPolicyScope"),
    )


def bucket(name: str, properties: Properties) -> Bucket:
    """A bucket that tells queues, and queues only, what was put into it."""
    notifications = properties.get("NotificationConfiguration") or {}
    _only(f"{name}.NotificationConfiguration", notifications, ("QueueConfigurations",))
    return Bucket(
        logical_id=name,
        name=_name(name, properties, "BucketName", default=name.lower()),
        versioned=(properties.get("VersioningConfiguration") or {}).get("Status") == "Enabled",
        notifications=tuple(_notification(name, each) for each in notifications.get("QueueConfigurations") or ()),
    )


def _notification(name: str, properties: Properties) -> Notification:
    _only(f"{name}.QueueConfigurations", properties, ("Event", "Queue", "Filter"))
    rules = ((properties.get("Filter") or {}).get("S3Key") or {}).get("Rules") or ()
    filters = {str(rule["Name"]).lower(): str(rule["Value"]) for rule in rules}
    _only(f"{name}.Filter", filters, ("prefix", "suffix"))
    return Notification(
        event=properties["Event"],
        queue=target_of(properties["Queue"]),
        prefix=filters.get("prefix", ""),
        suffix=filters.get("suffix", ""),
    )


def event(function_name: str, name: str, declared: Properties) -> EventSource | Schedule | None:
    """What invokes a function; None where the template switches it off."""
    kind, properties = declared.get("Type"), declared.get("Properties") or {}
    label = f"{function_name}.{name}"
    if properties.get("Enabled") is False or properties.get("State") == "DISABLED":
        return None
    if kind == "SQS":
        return _event_source(function_name, label, properties)
    if kind == "Schedule":
        return _schedule(function_name, label, properties)
    raise TemplateError(f"{label}: the local stack does not imitate events of type {kind}")


def _event_source(function_name: str, label: str, properties: Properties) -> EventSource:
    _only(label, properties, ("Queue", "BatchSize", "FunctionResponseTypes", "ScalingConfig", "Enabled"))
    scaling = properties.get("ScalingConfig") or {}
    _only(f"{label}.ScalingConfig", scaling, ("MaximumConcurrency",))
    limit = scaling.get("MaximumConcurrency")
    size = _whole_number(label, "BatchSize", properties.get("BatchSize", _BATCH_SIZE))
    if not 1 <= size <= _BATCH_SIZE:
        raise TemplateError(f"{label}: BatchSize {size}; the local stack takes 1 to {_BATCH_SIZE}")
    return EventSource(
        function=function_name,
        queue=target_of(properties["Queue"]),
        batch_size=size,
        max_concurrency=None if limit is None else _whole_number(label, "MaximumConcurrency", limit),
        reports_failures="ReportBatchItemFailures" in (properties.get("FunctionResponseTypes") or ()),
    )


def _schedule(function_name: str, label: str, properties: Properties) -> Schedule:
    known = ("Schedule", "Description", "Name", "Input", "Enabled", "State")
    _only(label, properties, known)
    rate = _RATE.fullmatch(str(properties.get("Schedule")))
    if not rate:
        raise TemplateError(f"{label}: the local stack understands rate(...) only, not {properties.get('Schedule')}")
    payload = properties.get("Input")
    if payload is not None:
        json.loads(payload)
    return Schedule(function_name, label, float(rate[1]) * _UNIT_SECONDS[rate[2]], payload)


def _only(label: str, properties: Properties, *known: Iterable[str]) -> None:
    allowed = {name for group in known for name in group}
    for name in properties:
        if name not in allowed:
            raise TemplateError(f"{label}: the local stack does not imitate {name}")


def _name(logical_id: str, properties: Properties, key: str, default: str | None = None) -> str:
    value = properties.get(key, default or logical_id)
    if not isinstance(value, str):
        raise TemplateError(f"{logical_id}: {key} must rest on parameters alone, not on {value!r}")
    return value


def _whole_number(label: str, key: str, value: object) -> int:
    try:
        return int(str(value))
    except ValueError as exc:
        raise TemplateError(f"{label}: {key} is no whole number: {value!r}") from exc
