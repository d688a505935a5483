"""Parse the properties of one resource into one value of `local.template.model`.

A property that the local stack does not support raises TemplateError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from local.errors import TemplateError
from local.template.intrinsics import get_referenced_id
from local.template.model import (
    Bucket,
    CorsRule,
    DurableConfig,
    EventSource,
    Expiry,
    Function,
    Notification,
    Queue,
    RedrivePolicy,
    Schedule,
    Subscription,
    Topic,
)

Properties = Mapping[str, Any]

# The defaults of Lambda and SQS.
_FUNCTION_TIMEOUT = 3
_MEMORY_MB = 128
_BATCH_SIZE = 10
_VISIBILITY = 30
_RETENTION_DAYS = 14

_UNIT_SECONDS = {"minute": 60, "hour": 3600, "day": 86400}
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")


def parse_function(name: str, properties: Properties, defaults: Properties) -> Function:
    """Return a function; `defaults` is the Function section of the template's Globals."""
    for unknown in ("ImageUri", "InlineCode", "PackageType"):
        if unknown in properties or unknown in defaults:
            raise TemplateError(f"{name}: the local stack does not support {unknown}")
    handler = properties.get("Handler", defaults.get("Handler"))
    if not isinstance(handler, str):
        raise TemplateError(f"{name} has no Handler")
    return Function(
        name=name,
        handler=handler,
        timeout=float(properties.get("Timeout", defaults.get("Timeout", _FUNCTION_TIMEOUT))),
        memory_mb=int(properties.get("MemorySize", defaults.get("MemorySize", _MEMORY_MB))),
        environment=_read_variables(defaults) | _read_variables(properties),
        alias=_parse_alias(name, properties.get("AutoPublishAlias", defaults.get("AutoPublishAlias"))),
        durable=_parse_durable(name, properties.get("DurableConfig", defaults.get("DurableConfig"))),
    )


def _parse_alias(name: str, alias: object) -> str | None:
    if alias is not None and not isinstance(alias, str):
        raise TemplateError(f"{name}: AutoPublishAlias must depend on parameters only, not on {alias!r}")
    return alias


def _parse_durable(name: str, config: Properties | None) -> DurableConfig | None:
    if config is None:
        return None
    label = f"{name}.DurableConfig"
    _reject_unknown(label, config, ("ExecutionTimeout", "RetentionPeriodInDays", "KMSKeyArn"))
    if "ExecutionTimeout" not in config:
        raise TemplateError(f"{label} has no ExecutionTimeout")
    retention = config.get("RetentionPeriodInDays", _RETENTION_DAYS)
    return DurableConfig(
        execution_timeout=_parse_int(label, "ExecutionTimeout", config["ExecutionTimeout"]),
        retention_days=_parse_int(label, "RetentionPeriodInDays", retention),
    )


def _read_variables(properties: Properties) -> dict[str, Any]:
    return dict((properties.get("Environment") or {}).get("Variables") or {})


def parse_queue(name: str, properties: Properties) -> Queue:
    """Return a standard queue."""
    _reject_unknown(
        name,
        properties,
        ("QueueName", "VisibilityTimeout", "DelaySeconds", "RedrivePolicy"),
        ("MessageRetentionPeriod", "SqsManagedSseEnabled", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "Tags"),
        ("RedriveAllowPolicy", "MaximumMessageSize", "ReceiveMessageWaitTimeSeconds"),
    )
    policy = properties.get("RedrivePolicy")
    redrive = policy and RedrivePolicy(get_referenced_id(policy["deadLetterTargetArn"]), int(policy["maxReceiveCount"]))
    return Queue(
        logical_id=name,
        name=_read_name(name, properties, "QueueName"),
        visibility=float(properties.get("VisibilityTimeout", _VISIBILITY)),
        delay=float(properties.get("DelaySeconds", 0)),
        redrive=redrive or None,
        has_reminders={"Key": "delayed-messages", "Value": "reminders"} in properties.get("Tags", ()),
    )


def parse_topic(name: str, properties: Properties) -> Topic:
    """Return a standard topic; its subscriptions are separate resources."""
    _reject_unknown(name, properties, ("TopicName",), ("DisplayName", "KmsMasterKeyId", "SignatureVersion", "Tags"))
    return Topic(name, _read_name(name, properties, "TopicName"))


def parse_subscription(name: str, properties: Properties) -> Subscription:
    """Return a queue's subscription to a topic."""
    known = ("TopicArn", "Protocol", "Endpoint", "RawMessageDelivery", "FilterPolicy", "FilterPolicyScope")
    # A local delivery from a topic to a queue cannot fail, so the redrive policy has no effect.
    _reject_unknown(name, properties, known, ("RedrivePolicy",))
    if properties.get("Protocol") != "sqs":
        raise TemplateError(f"{name}: the local stack delivers to queues only, not to {properties.get('Protocol')}")
    return Subscription(
        topic=get_referenced_id(properties["TopicArn"]),
        queue=get_referenced_id(properties["Endpoint"]),
        raw=properties.get("RawMessageDelivery") is True,
        filter_policy=properties.get("FilterPolicy"),
        filter_scope=properties.get("FilterPolicyScope"),
    )


def parse_bucket(name: str, properties: Properties) -> Bucket:
    """Return a bucket; its notifications must go to queues."""
    notifications = properties.get("NotificationConfiguration") or {}
    _reject_unknown(f"{name}.NotificationConfiguration", notifications, ("QueueConfigurations",))
    cors = properties.get("CorsConfiguration") or {}
    _reject_unknown(f"{name}.CorsConfiguration", cors, ("CorsRules",))
    lifecycle = properties.get("LifecycleConfiguration") or {}
    return Bucket(
        logical_id=name,
        name=_read_name(name, properties, "BucketName", default=name.lower()),
        versioned=(properties.get("VersioningConfiguration") or {}).get("Status") == "Enabled",
        notifications=tuple(_parse_notification(name, each) for each in notifications.get("QueueConfigurations") or ()),
        cors=tuple(_parse_cors_rule(name, each) for each in cors.get("CorsRules") or ()),
        expiries=tuple(_parse_expiry(name, each) for each in lifecycle.get("Rules") or ()),
    )


def _parse_expiry(name: str, properties: Properties) -> Expiry:
    known = ("ExpirationInDays", "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload", "Prefix")
    _reject_unknown(f"{name}.LifecycleConfiguration", properties, known, ("Id", "Status"))
    if properties.get("Status") != "Enabled":
        return Expiry()
    return Expiry(
        prefix=properties.get("Prefix", ""),
        days=properties.get("ExpirationInDays"),
        noncurrent_days=(properties.get("NoncurrentVersionExpiration") or {}).get("NoncurrentDays"),
        upload_days=(properties.get("AbortIncompleteMultipartUpload") or {}).get("DaysAfterInitiation"),
    )


def _parse_cors_rule(name: str, properties: Properties) -> CorsRule:
    label = f"{name}.CorsRules"
    known = ("AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders", "MaxAge", "Id")
    _reject_unknown(label, properties, known)
    origins = properties["AllowedOrigins"]
    if not all(isinstance(origin, str) for origin in origins):
        raise TemplateError(f"{label}: AllowedOrigins must depend on parameters only, not on {origins!r}")
    max_age = properties.get("MaxAge")
    return CorsRule(
        origins=tuple(origins),
        methods=tuple(properties["AllowedMethods"]),
        headers=tuple(properties.get("AllowedHeaders") or ()),
        exposed=tuple(properties.get("ExposedHeaders") or ()),
        max_age=None if max_age is None else _parse_int(label, "MaxAge", max_age),
    )


def _parse_notification(name: str, properties: Properties) -> Notification:
    _reject_unknown(f"{name}.QueueConfigurations", properties, ("Event", "Queue", "Filter"))
    rules = ((properties.get("Filter") or {}).get("S3Key") or {}).get("Rules") or ()
    filters = {str(rule["Name"]).lower(): str(rule["Value"]) for rule in rules}
    _reject_unknown(f"{name}.Filter", filters, ("prefix", "suffix"))
    return Notification(
        event=properties["Event"],
        queue=get_referenced_id(properties["Queue"]),
        prefix=filters.get("prefix", ""),
        suffix=filters.get("suffix", ""),
    )


def parse_event(function_name: str, name: str, declared: Properties) -> EventSource | Schedule | None:
    """Return the event that invokes a function, or None if the template disables it."""
    kind, properties = declared.get("Type"), declared.get("Properties") or {}
    label = f"{function_name}.{name}"
    if properties.get("Enabled") is False or properties.get("State") == "DISABLED":
        return None
    if kind == "SQS":
        return _parse_event_source(function_name, label, properties)
    if kind == "Schedule":
        return _parse_schedule(function_name, label, properties)
    raise TemplateError(f"{label}: the local stack does not support events of type {kind}")


def _parse_event_source(function_name: str, label: str, properties: Properties) -> EventSource:
    _reject_unknown(label, properties, ("Queue", "BatchSize", "FunctionResponseTypes", "ScalingConfig", "Enabled"))
    scaling = properties.get("ScalingConfig") or {}
    _reject_unknown(f"{label}.ScalingConfig", scaling, ("MaximumConcurrency",))
    limit = scaling.get("MaximumConcurrency")
    size = _parse_int(label, "BatchSize", properties.get("BatchSize", _BATCH_SIZE))
    if not 1 <= size <= _BATCH_SIZE:
        raise TemplateError(f"{label}: BatchSize {size}; the local stack supports 1 to {_BATCH_SIZE}")
    return EventSource(
        function=function_name,
        queue=get_referenced_id(properties["Queue"]),
        batch_size=size,
        max_concurrency=None if limit is None else _parse_int(label, "MaximumConcurrency", limit),
        reports_failures="ReportBatchItemFailures" in (properties.get("FunctionResponseTypes") or ()),
    )


def _parse_schedule(function_name: str, label: str, properties: Properties) -> Schedule:
    known = ("Schedule", "Description", "Name", "Input", "Enabled", "State")
    _reject_unknown(label, properties, known)
    rate = _RATE.fullmatch(str(properties.get("Schedule")))
    if not rate:
        raise TemplateError(f"{label}: the local stack supports rate(...) only, not {properties.get('Schedule')}")
    payload = properties.get("Input")
    if payload is not None:
        json.loads(payload)
    return Schedule(function_name, label, float(rate[1]) * _UNIT_SECONDS[rate[2]], payload)


def _reject_unknown(label: str, properties: Properties, *known: Iterable[str]) -> None:
    allowed = {name for group in known for name in group}
    for name in properties:
        if name not in allowed:
            raise TemplateError(f"{label}: the local stack does not support {name}")


def _read_name(logical_id: str, properties: Properties, key: str, default: str | None = None) -> str:
    value = properties.get(key, default or logical_id)
    if not isinstance(value, str):
        raise TemplateError(f"{logical_id}: {key} must depend on parameters only, not on {value!r}")
    return value


def _parse_int(label: str, key: str, value: object) -> int:
    try:
        return int(str(value))
    except ValueError as exc:
        raise TemplateError(f"{label}: {key} must be a whole number, not {value!r}") from exc
