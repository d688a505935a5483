"""Whether someone receives the alarms of the stack by e-mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import boto3

from tools.smoke.client import SmokeError

if TYPE_CHECKING:
    from tools.smoke.trial import Trial

TOPICS = ("PageTopicArn", "TicketTopicArn")
# SNS, Subscribe: the ARN of a subscription that was not confirmed yet.
PENDING = "PendingConfirmation"


def check_alarm_mail(trial: Trial) -> str | None:
    """Every e-mail subscription to the alarms is confirmed. Return why nothing was checked, if there is none.

    Raises SmokeError for one that is not: its address receives nothing, and SNS deletes it after some days.
    """
    subscriptions = [each for name in TOPICS for each in _list_mail(trial.target.outputs, name)]
    pending = sum(arn == PENDING for arn in subscriptions)
    if pending:
        raise SmokeError(
            f"{pending} of {len(subscriptions)} e-mail subscriptions to the alarms are not confirmed, and get nothing. "
            "At AlarmEmail, open the mails AWS Notification - Subscription Confirmation and follow their links. If "
            "they are gone, subscribe again: aws sns subscribe --protocol email --topic-arn <PageTopicArn, then "
            "TicketTopicArn> --notification-endpoint <address>"
        )
    return None if subscriptions else "no e-mail address is subscribed to the alarms (AlarmEmail)"


def _list_mail(outputs: Mapping[str, str], name: str) -> list[str]:
    """Return the ARNs of a topic's e-mail subscriptions; of none without the topic, which the local stack lacks."""
    if name not in outputs:
        return []
    pages = boto3.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=outputs[name])
    found = [each for page in pages for each in page["Subscriptions"]]
    return [each["SubscriptionArn"] for each in found if each["Protocol"] == "email"]
