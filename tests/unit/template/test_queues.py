"""Queues: what reads them, how long a message stays hidden, and where it goes when no function can."""

from __future__ import annotations

from typing import Any

from benchmarks.imports.invocation import BATCH_SIZE
from shell.lambda_handlers import LONGEST_WAIT_S, MAX_DELIVERIES, choose_wait
from tests.unit.template.conftest import Deployed, target

# To do again what these do is harmless, and takes long.
REPEATABLE = {"StartImportFunction", "CompleteImportFunction", "ProcessVolumeFunction"}
LAMBDA_TIMEOUT, SQS_VISIBILITY = 3, 30
# Their functions choose when a failed message is delivered again.
REDELIVERED = {
    "ImportRequestsQueue",
    "ImportChunksQueue",
    "ImportCompletionsQueue",
    "VolumeWorkQueue",
    "ImportReportsQueue",
    "ProductionRequestsQueue",
}


def test_every_queue_has_its_consumer(deployed: Deployed) -> None:
    assert {(consumer.queue, consumer.function) for consumer in deployed.consumers()} == {
        ("ImportRequestsQueue", "StartImportFunction"),
        ("ImportRequestsDeadLetterQueue", "HandleFailedImportFunction"),
        ("ImportChunksQueue", "ImportChunkFunction"),
        ("ImportChunksDeadLetterQueue", "HandleFailedChunkFunction"),
        ("ImportCompletionsQueue", "CompleteImportFunction"),
        ("VolumeWorkQueue", "ProcessVolumeFunction"),
        ("OutboxWakeQueue", "PublishOutboxFunction"),
        ("ProductionChecksQueue", "ResumeProductionsFunction"),
        ("CasePurgesQueue", "PurgeCasesFunction"),
        ("ImportReportsQueue", "WriteImportReportFunction"),
        ("ProductionRequestsQueue", "StartProductionFunction"),
    }


def last_stops(deployed: Deployed) -> set[str]:
    """The queues that no function reads: what is in them waits for a person."""
    return {*deployed.of_type("AWS::SQS::Queue")} - {consumer.queue for consumer in deployed.consumers()}


def test_every_queue_that_is_read_has_a_dead_letter_queue(deployed: Deployed) -> None:
    queues = deployed.of_type("AWS::SQS::Queue")
    for consumer in deployed.consumers():
        policy = queues[consumer.queue].get("RedrivePolicy")
        assert policy, f"{consumer.queue} has no RedrivePolicy"
        assert target(policy["deadLetterTargetArn"]) in queues.keys() - {consumer.queue}
        assert policy["maxReceiveCount"] >= 5, "one slow minute must not lose a message"


def test_where_messages_end_and_where_they_may_be_stuck_an_alarm_looks(deployed: Deployed) -> None:
    watched = {
        target(dimension["Value"])
        for alarm in deployed.of_type("AWS::CloudWatch::Alarm").values()
        for dimension in alarm.get("Dimensions", [])
        if dimension["Name"] == "QueueName" and alarm["Threshold"] == 0
    }
    redriven = {"ImportRequestsDeadLetterQueue", "ImportChunksDeadLetterQueue"}
    assert watched == last_stops(deployed) | redriven


def test_what_sns_may_not_deliver_is_kept(deployed: Deployed) -> None:
    stops = last_stops(deployed)
    for name, subscription in deployed.of_type("AWS::SNS::Subscription").items():
        if subscription["Protocol"] == "sqs":
            assert target(subscription["RedrivePolicy"]["deadLetterTargetArn"]) in stops, name


def test_dead_letters_are_kept_as_long_as_sqs_keeps_anything(deployed: Deployed) -> None:
    queues = deployed.of_type("AWS::SQS::Queue")
    kept = {name: queues[name].get("MessageRetentionPeriod") for name in last_stops(deployed)}
    assert set(kept.values()) == {1_209_600}, kept


def test_a_message_stays_hidden_for_six_times_its_consumers_timeout(deployed: Deployed) -> None:
    for consumer in deployed.consumers():
        factor = 1 if consumer.function in REPEATABLE else 6
        timeout = deployed.functions[consumer.function].get("Timeout", LAMBDA_TIMEOUT)
        hidden = deployed.of_type("AWS::SQS::Queue")[consumer.queue].get("VisibilityTimeout", SQS_VISIBILITY)
        assert hidden >= factor * timeout, f"{consumer.queue}: {hidden} s for {timeout} s"


def test_every_consumer_reports_the_records_that_failed(deployed: Deployed) -> None:
    for consumer in deployed.consumers():
        assert consumer.mapping.get("FunctionResponseTypes") == ["ReportBatchItemFailures"], consumer.function


def test_every_consumer_has_a_limit(deployed: Deployed) -> None:
    """The limits protect the database."""
    mappings = {consumer.queue: consumer.mapping for consumer in deployed.consumers()}
    limits = {queue: each.get("ScalingConfig", {}).get("MaximumConcurrency") for queue, each in mappings.items()}
    assert limits.pop("ImportChunksQueue") in (8, 32), "that of Size"
    assert all(isinstance(limit, int) and 2 <= limit <= 10 for limit in limits.values()), limits
    assert mappings["ImportChunksQueue"]["BatchSize"] == BATCH_SIZE, "as in benchmarks"


def allowed(policy: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"]


def test_only_its_own_source_may_send_to_a_queue_from_outside(deployed: Deployed) -> None:
    for name, policy in deployed.of_type("AWS::SQS::QueuePolicy").items():
        for statement in allowed(policy):
            assert statement["Action"] == "sqs:SendMessage", name
            assert "aws:SourceArn" in statement["Condition"]["ArnEquals"], name


def test_what_always_fails_is_given_up_within_ten_minutes(deployed: Deployed) -> None:
    """The waits of all deliveries, twice, and of the redrive; else it would be ten visibility timeouts, an hour."""
    queues = deployed.of_type("AWS::SQS::Queue")
    for name in ("ImportRequestsQueue", "ImportChunksQueue", "ImportCompletionsQueue", "VolumeWorkQueue"):
        deliveries = queues[name]["RedrivePolicy"]["maxReceiveCount"]
        waits = [choose_wait(RuntimeError(), delivery) or 0 for delivery in range(1, deliveries + 1)]
        redrive = int(deployed.variables("HandleFailedChunkFunction")["REDRIVE_DELAY_SECONDS"])
        assert 2 * sum(waits) + redrive == 490 < 600
        assert 2 * deliveries * queues[name]["VisibilityTimeout"] >= 3600


def test_who_postpones_messages_may_change_their_visibility(deployed: Deployed) -> None:
    for consumer in deployed.consumers():
        if consumer.queue in REDELIVERED:
            allowed = str(deployed.role_of(consumer.function))
            assert "['sqs:ChangeMessageVisibility', 'sqs:SendMessage']" in allowed, consumer.function
            assert consumer.queue in allowed


def test_a_function_whose_failures_end_with_a_person_redelivers_them(deployed: Deployed) -> None:
    """Five deliveries are half an hour, and an outage can be longer."""
    queues, stops = deployed.of_type("AWS::SQS::Queue"), last_stops(deployed)
    few = {
        consumer.queue
        for consumer in deployed.consumers()
        if queues[consumer.queue]["RedrivePolicy"]["maxReceiveCount"] < 1_000
        and target(queues[consumer.queue]["RedrivePolicy"]["deadLetterTargetArn"]) in stops
    }
    assert few == {"ImportReportsQueue", "ProductionRequestsQueue"} <= REDELIVERED
    assert deployed.variables("WriteImportReportFunction")["IMPORT_REPORTS_QUEUE_URL"] == {"Ref": "ImportReportsQueue"}
    urls = deployed.variables("StartProductionFunction")
    assert urls["PRODUCTION_REQUESTS_QUEUE_URL"] == {"Ref": "ProductionRequestsQueue"}


def test_the_last_delivery_is_known_and_its_copies_keep_the_alarm_of_an_outage_on(deployed: Deployed) -> None:
    queues = deployed.of_type("AWS::SQS::Queue")
    assert {queues[name]["RedrivePolicy"]["maxReceiveCount"] for name in REDELIVERED} == {MAX_DELIVERIES}
    between = (MAX_DELIVERIES - 1) * queues["ImportChunksQueue"]["VisibilityTimeout"] + LONGEST_WAIT_S
    assert between < deployed.of_type("AWS::CloudWatch::Alarm")["OutageAlarm"]["Period"]


def test_every_queue_and_topic_refuses_what_is_not_encrypted_on_the_way(deployed: Deployed) -> None:
    covered = []
    for kind, member in (("AWS::SQS::QueuePolicy", "Queues"), ("AWS::SNS::TopicPolicy", "Topics")):
        for policy in deployed.of_type(kind).values():
            (denied,) = (each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Deny")
            assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
            assert (denied["Principal"], denied["Action"]) == ("*", "sqs:*" if member == "Queues" else "sns:Publish")
            members = [target(each) for each in policy[member]]
            assert denied["Resource"] == "*" if len(members) > 1 else target(denied["Resource"]) == members[0]
            covered += members
    assert sorted(covered) == sorted({*deployed.of_type("AWS::SQS::Queue"), *deployed.of_type("AWS::SNS::Topic")})


def test_what_publishes_alarms_may_still_do_so(deployed: Deployed) -> None:
    """A policy of a topic replaces the default one, which lets every service of the account publish."""
    policies = deployed.of_type("AWS::SNS::TopicPolicy")
    (ticket,) = allowed(policies["TicketTopicPolicy"])
    assert ticket["Principal"] == {"Service": ["cloudwatch.amazonaws.com", "events.rds.amazonaws.com"]}
    page, rule = allowed(policies["PageTopicPolicy"])
    assert page["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    # "You can't use Condition blocks in Amazon SNS topic policies for EventBridge" (Amazon EventBridge User Guide).
    assert rule["Principal"] == {"Service": "events.amazonaws.com"}
    assert "Condition" not in rule


def test_endpoints_lead_to_this_account_only(deployed: Deployed) -> None:
    account = {"Ref": "AWS::AccountId"}
    # A pattern would reach buckets of anybody. "When using custom resources, AWS Region names don't contain dashes"
    # (AWS CloudFormation User Guide, "Access CloudFormation using an interface endpoint").
    region = {"RegionWithoutHyphens": {"Fn::Join": ["", {"Fn::Split": ["-", {"Ref": "AWS::Region"}]}]}}
    bucket = "arn:${AWS::Partition}:s3:::cloudformation-custom-resource-response-${RegionWithoutHyphens}/*"
    responses = {"Fn::Sub": [bucket, region]}
    response = {"Effect": "Allow", "Principal": "*", "Action": "s3:PutObject", "Resource": responses}
    for name, endpoint in deployed.of_type("AWS::EC2::VPCEndpoint").items():
        first, *others = endpoint["PolicyDocument"]["Statement"]
        assert first["Condition"] == {"StringEquals": {"aws:PrincipalAccount": account, "aws:ResourceAccount": account}}
        assert others == ([response] if name == "S3Endpoint" else []), name
