"""Every message names its tenant, in the body and as an attribute by which a subscription can filter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import boto3
import pytest

from core import events
from core.codes import WarningCode
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from shell import sns
from shell.aws import clients
from shell.db.session import session
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.sns import publish_sns_message
from tests.support.application.driver import World, taken_from

AVAILABLE = {"eventType": "production.available", "productionId": 1}


@contextmanager
def subscribed(name: str, policy: Mapping[str, Any] | None) -> Iterator[str]:
    """The queue of a subscription with that filter policy."""
    topic, sqs = settings().events_topic_arn, clients.sqs()
    url = sqs.create_queue(QueueName=f"{topic.rpartition(':')[2]}-{name}")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    attributes = {"RawMessageDelivery": "true"} | ({} if policy is None else {"FilterPolicy": json.dumps(policy)})
    made = boto3.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes=attributes)
    yield url
    boto3.client("sns").unsubscribe(SubscriptionArn=made["SubscriptionArn"])
    sqs.delete_queue(QueueUrl=url)


def heard_of(url: str) -> list[tuple[str, str]]:
    """Event type and tenant of each message in the queue, sorted."""
    return sorted((message["eventType"], message["tenantId"]) for message in taken_from(url))


CODE = next(iter(WarningCode))
OWN = [(kind, "tenant") for kind in ("WARNING", "import.completed", "import.started", "production.available")]
OTHERS = [(kind, "other") for kind in ("WARNING", "import.started", "production.available")]


def tell_of_two_tenants(world: World) -> None:
    """Publish an import with a changed value and a volume of `tenant`, and the same of `other`."""
    world.run(generate(Spec(rows=3, faults=(Fault(FaultKind.INVALID_DATE, 1),))).data)
    with session() as transaction:
        others = [events.import_started(7, "other", 1, 1), events.rows_changed(7, "other", 1, CODE, 1, 2)]
        append_events(transaction, others)
    for tenant in ("tenant", "other"):
        assert publish_sns_message({**AVAILABLE, "tenantId": tenant})
    assert world.publish() == 5


def test_a_subscription_that_filters_by_tenant_hears_of_that_tenant_alone(world: World) -> None:
    both = {"tenantId": ["tenant"], "eventType": ["WARNING", {"prefix": "production."}]}
    with (
        subscribed("own", {"tenantId": ["tenant"]}) as own,
        subscribed("warnings", both) as warnings,
        subscribed("others", {"tenantId": [{"anything-but": ["tenant"]}]}) as others,
        subscribed("all", None) as everything,
    ):
        tell_of_two_tenants(world)
        assert heard_of(own) == OWN
        assert heard_of(warnings) == [("WARNING", "tenant"), ("production.available", "tenant")]
        assert heard_of(others) == OTHERS
        assert heard_of(everything) == sorted([*OWN, *OTHERS]), "the control: without a filter, of both"


def test_with_the_tenant_in_the_body_alone_a_filter_hears_of_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: what the attribute is for."""
    entry = sns._entry

    def without(message: sns.Message) -> Any:
        made = entry(message)
        return {**made, "MessageAttributes": {"eventType": made["MessageAttributes"]["eventType"]}}

    monkeypatch.setattr(sns, "_entry", without)
    with subscribed("own", {"tenantId": ["tenant"]}) as own:
        tell_of_two_tenants(world)
        assert heard_of(own) == []


def test_a_message_without_a_tenant_is_published_and_found_by_its_missing_attribute(world: World) -> None:
    with subscribed("without-tenant", {"tenantId": [{"exists": False}]}) as without_tenant:
        with session() as transaction:
            append_events(transaction, [events.upload_refused("", "imports/a.dat", "why")])
        assert world.publish() == 1
        assert heard_of(without_tenant) == [("upload.refused", "")]
