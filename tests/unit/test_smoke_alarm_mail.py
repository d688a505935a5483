"""`make smoke` asks SNS whether the e-mail subscriptions to the alarms were confirmed."""

from __future__ import annotations

from collections.abc import Callable

import boto3
import pytest
from botocore.stub import Stubber

from tools.smoke.__main__ import run_steps
from tools.smoke.alarm_mail import check_alarm_mail
from tools.smoke.client import SmokeError
from tools.smoke.target import Target
from tools.smoke.trial import Trial

TOPICS = {"PageTopicArn": "arn:aws:sns:us-east-1:1:page", "TicketTopicArn": "arn:aws:sns:us-east-1:1:ticket"}
CONFIRMED = "arn:aws:sns:us-east-1:1:page:5f2b"
Subscribed = Callable[[str, str], Trial]


@pytest.fixture
def subscribed(monkeypatch: pytest.MonkeyPatch) -> Subscribed:
    """A stack with a subscription of a queue and one of an e-mail address to each topic, with these ARNs."""

    def build(*mails: str) -> Trial:
        sns = boto3.client("sns", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")  # noqa: S106
        stubber = Stubber(sns)
        for topic, arn in zip(TOPICS.values(), mails, strict=True):
            found = [
                {"SubscriptionArn": f"{topic}:1", "Owner": "1", "Protocol": "sqs", "Endpoint": "q", "TopicArn": topic},
                {"SubscriptionArn": arn, "Owner": "1", "Protocol": "email", "Endpoint": "a@b.c", "TopicArn": topic},
            ]
            stubber.add_response("list_subscriptions_by_topic", {"Subscriptions": found}, {"TopicArn": topic})
        stubber.activate()
        monkeypatch.setattr(boto3, "client", lambda _service: sns)
        return Trial(Target(TOPICS, lambda _tenant, _role: ""), "smoke-1")

    return build


def test_confirmed_subscriptions_pass(subscribed: Subscribed) -> None:
    assert check_alarm_mail(subscribed(CONFIRMED, CONFIRMED)) is None


@pytest.mark.parametrize("mails", [("PendingConfirmation", CONFIRMED), (CONFIRMED, "PendingConfirmation")])
def test_a_subscription_that_waits_for_its_confirmation_fails_and_says_what_to_do(
    subscribed: Subscribed, mails: tuple[str, str]
) -> None:
    with pytest.raises(SmokeError, match="1 of 2 e-mail subscriptions") as failed:
        check_alarm_mail(subscribed(*mails))
    assert "open the mails AWS Notification - Subscription Confirmation" in str(failed.value)
    assert "a@b.c" not in str(failed.value), "the output of a pipeline is not the place for an address"


def test_a_stack_without_a_topic_is_skipped_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_steps(Trial(Target({}, lambda _tenant, _role: ""), "smoke-1"), [("alarm e-mail", check_alarm_mail)]) == 0
    assert capsys.readouterr().out.startswith("skipped alarm e-mail: no e-mail address is subscribed")
