"""The queues, topics, subscriptions and buckets of a template, described as JSON and created in moto's process.

Creating them there, without HTTP, takes milliseconds instead of half a second. Names and values are those of the AWS
APIs. All durations go through the time scale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from local.template.account import ACCOUNT_ID, REGION
from local.template.model import Bucket, CorsRule, Notification, Queue, Subscription, sort_dead_letter_queues_last

if TYPE_CHECKING:
    from local.template.reader import Template
    from local.time_scale import TimeScale


def describe_resources(template: Template, time_scale: TimeScale) -> dict[str, Any]:
    """Return the template's resources as a JSON value; each queue comes after its dead-letter queue."""
    timeouts = {source.queue: template.functions[source.function].timeout for source in template.event_sources}

    def describe_queue(queue: Queue) -> dict[str, Any]:
        visibility = time_scale.scale_visibility(queue.visibility, timeouts.get(queue.logical_id, 0.0))
        attributes = {"VisibilityTimeout": str(visibility), "DelaySeconds": str(int(queue.delay))}
        if queue.redrive:
            policy = {
                "deadLetterTargetArn": template.queue_arn(queue.redrive.dead_letter_queue),
                "maxReceiveCount": queue.redrive.max_receive_count,
            }
            attributes["RedrivePolicy"] = json.dumps(policy)
        return {"name": queue.name, "attributes": attributes}

    order = sort_dead_letter_queues_last(template.queues.values())[::-1]
    return {
        "queues": [describe_queue(template.queues[queue]) for queue in order],
        "topics": [topic.name for topic in template.topics.values()],
        "subscriptions": [_describe_subscription(template, each) for each in template.subscriptions],
        "buckets": [_describe_bucket(template, each) for each in template.buckets.values()],
    }


def create_resources(resources: Mapping[str, Any]) -> None:
    """Create the resources in moto's backends, in this process."""
    # Only the server's process imports moto.
    from moto.backends import get_backend
    from moto.s3.models import NotificationConfiguration

    sqs, sns = get_backend("sqs")[ACCOUNT_ID][REGION], get_backend("sns")[ACCOUNT_ID][REGION]
    s3 = get_backend("s3")[ACCOUNT_ID]["aws"]
    for queue in resources["queues"]:
        sqs.create_queue(queue["name"], **queue["attributes"])
    for topic in resources["topics"]:
        sns.create_topic(topic)
    for subscription in resources["subscriptions"]:
        arn = sns.subscribe(subscription["topic"], subscription["queue"], "sqs").arn
        for name, value in subscription["attributes"].items():
            sns.set_subscription_attributes(arn, name, value)
    for bucket in resources["buckets"]:
        s3.create_bucket(bucket["name"], REGION)
        if bucket["versioned"]:
            s3.put_bucket_versioning(bucket["name"], "Enabled")
        s3.put_bucket_cors(bucket["name"], bucket["cors"])
        # Set directly: S3's API would send a test event, which AWS sends once per deployment, for every start.
        if bucket["notifications"]:
            configuration = NotificationConfiguration(queue=bucket["notifications"])
            s3.get_bucket(bucket["name"]).notification_configuration = configuration


def _describe_subscription(template: Template, subscription: Subscription) -> dict[str, Any]:
    attributes = {"RawMessageDelivery": "true" if subscription.raw else "false"}
    # moto validates a filter policy by its scope, so the scope comes first.
    if subscription.filter_scope is not None:
        attributes["FilterPolicyScope"] = subscription.filter_scope
    if subscription.filter_policy is not None:
        attributes["FilterPolicy"] = json.dumps(subscription.filter_policy)
    return {
        "topic": template.topic_arn(subscription.topic),
        "queue": template.queue_arn(subscription.queue),
        "attributes": attributes,
    }


def _describe_bucket(template: Template, bucket: Bucket) -> dict[str, Any]:
    notifications = [_describe_notification(template, each) for each in bucket.notifications]
    cors = [_describe_cors_rule(rule) for rule in bucket.cors]
    return {
        "name": bucket.name,
        "versioned": bucket.versioned,
        "notifications": notifications,
        "cors": cors,
        "expiries": [asdict(expiry) for expiry in bucket.expiries],
    }


def _describe_cors_rule(rule: CorsRule) -> dict[str, Any]:
    """Return the rule as moto reads it from the XML of S3's API."""
    return {
        "AllowedOrigin": list(rule.origins),
        "AllowedMethod": list(rule.methods),
        "AllowedHeader": list(rule.headers),
        "ExposeHeader": list(rule.exposed),
        **({} if rule.max_age is None else {"MaxAgeSeconds": str(rule.max_age)}),
    }


def _describe_notification(template: Template, notification: Notification) -> dict[str, Any]:
    """Return the configuration as moto reads it from the XML of S3's API."""
    rules = [("prefix", notification.prefix), ("suffix", notification.suffix)]
    filters = [{"Name": name, "Value": value} for name, value in rules if value]
    return {
        "Queue": template.queue_arn(notification.queue),
        "Event": [notification.event],
        **({"Filter": {"S3Key": {"FilterRule": filters}}} if filters else {}),
    }
