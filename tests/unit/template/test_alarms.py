"""What alerts a person: metrics that the code really emits, a dashboard, and alarms that reach a person."""

from __future__ import annotations

import ast
import copy
import json
import re
from functools import cache
from typing import Any

import pytest

from tests.unit.template.conftest import EVERY_OPTION, ROOT, Deployed, deployed_with, listed, target

NAMESPACE, EMITTING = "ExhibitIngest", re.compile(r"\b(?:add_metric|emit_counts)\b")
PER_TENANT = re.compile(r"\bemit_tenant_counts\b")


@cache
def emitted(emitting: re.Pattern[str] = EMITTING) -> set[str]:
    """The names of the metrics in the code."""
    texts = [path.read_text("utf-8") for path in (ROOT / "shared").rglob("*.py")]
    nodes = (node for text in texts if emitting.search(text) for node in ast.walk(ast.parse(text)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and emitting.search(ast.unparse(node.func))]
    named = [ast.unparse(argument).strip("'") for call in calls for argument in call.args]
    named += [each.arg or "" for call in calls for each in call.keywords]
    return {name for name in named if re.fullmatch("([A-Z][a-z]+)+", name)}


# CloudWatch, "Create a CloudWatch alarm based on a metric math expression".
METRICS_PER_ALARM = 10
# Its quota belongs to the account.
OF_THE_ACCOUNT = {"ConcurrencyAlarm"}
# SQS, "Message retention period"; half of it is left when an alarm says that a message is old.
RETENTION_S, OLD_S = 14 * 86_400, 7 * 86_400
SEVERITIES = {"PageTopic": "page", "TicketTopic": "ticket"}
ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| (page|ticket) \| ", re.MULTILINE)


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    nested = [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    return nested or [alarm]


def watched(deployed: Deployed, metric: str) -> list[str]:
    """The functions that an alarm looks at, by this metric of Lambda; each as often as it is looked at."""
    return sorted(
        target(each["Dimensions"][0]["Value"])
        for alarm in deployed.of_type("AWS::CloudWatch::Alarm").values()
        for each in metrics_of(alarm)
        if (each["Namespace"], each["MetricName"]) == ("AWS/Lambda", metric)
    )


def of_the_api(deployed: Deployed) -> set[str]:
    """The functions whose failures the access log of the API has."""
    return {name for name in deployed.functions if name.endswith("ApiFunction")} | {"ConsoleFunction"}


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
def test_errors_and_throttles_of_every_function_are_in_one_alarm(deployed: Deployed, metric: str) -> None:
    # The access log has those of the API, and a purge that fails is one that has not completed.
    elsewhere = {*of_the_api(deployed), "PurgeExpiredFunction"} if metric == "Errors" else set()
    assert watched(deployed, metric) == sorted(deployed.functions.keys() - elsewhere)
    less = copy.deepcopy(dict(deployed.resources))
    del less["ImportErrorsAlarm"], less["ImportThrottlesAlarm"]
    assert watched(Deployed(less, deployed.outputs), metric) != watched(deployed, metric), "the negative control"


def test_failures_of_the_api_are_one_metric_however_many_functions_it_has(deployed: Deployed) -> None:
    """The alarm that rolls a canary back: of every function, also of one that does not even start."""
    (name, filtered), *others = deployed.of_type("AWS::Logs::MetricFilter").items()
    assert (name, others) == ("ApiFailures", [])
    assert target(filtered["LogGroupName"]) == "ApiAccessLog"
    (stage,) = deployed.of_type("AWS::ApiGatewayV2::Stage").values()
    assert target(stage["AccessLogSettings"]["DestinationArn"]) == "ApiAccessLog"
    logged = json.loads(stage["AccessLogSettings"]["Format"]["Fn::Sub"])
    assert (logged["status"], logged["service"]) == ("$context.status", "${AWS::StackName}")
    (made,) = filtered["MetricTransformations"]
    assert made["Dimensions"] == [{"Key": "service", "Value": "$.service"}]
    assert re.findall(r'\$\.status = "(\d+)"', filtered["FilterPattern"]) == ["500", "502", "504"], "503 is an outage"
    alarm = deployed.resources["ApiFunctionErrorsAlarm"]["Properties"]
    assert {each["MetricName"] for each in metrics_of(alarm)} == {"ApiFailures", "UnexpectedErrors"}
    assert not of_the_api(deployed) & {*re.findall(r"\w+ApiFunction", json.dumps(alarm))}


def test_an_expression_uses_all_metrics_of_its_alarm_and_no_others(deployed: Deployed) -> None:
    for name, alarm in deployed.of_type("AWS::CloudWatch::Alarm").items():
        queries = alarm.get("Metrics", [])
        used = {word for each in queries for word in re.findall(r"\b[a-z]\w*", each.get("Expression", ""))}
        assert used == {each["Id"] for each in queries if "MetricStat" in each}, name
        assert len(queries) <= METRICS_PER_ALARM, name
        assert [each["ReturnData"] for each in queries].count(True) == bool(queries), name
        assert len({each["MetricStat"]["Period"] for each in queries if "MetricStat" in each}) <= 1, name


def test_a_message_of_any_queue_is_reported_a_week_before_it_is_deleted(deployed: Deployed) -> None:
    """A backlog that moves too slowly loses messages; a long import makes them old by hours."""
    aged: list[str] = []
    for alarm in deployed.of_type("AWS::CloudWatch::Alarm").values():
        found = [each for each in metrics_of(alarm) if each["MetricName"] == "ApproximateAgeOfOldestMessage"]
        assert not found or alarm["Threshold"] == OLD_S
        aged += [target(each["Dimensions"][0]["Value"]) for each in found]
    queues = deployed.of_type("AWS::SQS::Queue")
    assert sorted(aged) == sorted(queues)
    assert {each["MessageRetentionPeriod"] for each in queues.values()} == {RETENTION_S}


def test_the_alarms_for_waiting_messages_see_whether_any_is_finished(deployed: Deployed) -> None:
    for name in ("ImportsWaitAlarm", "CompletionsWaitAlarm", "RequestsWaitAlarm"):
        alarm = deployed.resources[name]["Properties"]
        assert {each["MetricName"] for each in metrics_of(alarm)} == {
            *("ApproximateNumberOfMessagesVisible", "NumberOfMessagesDeleted"),
        }
        assert alarm["Metrics"][0]["Expression"] == "IF(waiting > 0 AND FILL(finished, 0) == 0, 1, 0)"
        assert alarm["Metrics"][1]["MetricStat"]["Period"] * alarm["EvaluationPeriods"] == 3600


def test_every_end_of_an_execution_but_success_raises_the_alarm(deployed: Deployed) -> None:
    metrics = metrics_of(deployed.resources["ProductionExecutionsAlarm"]["Properties"])
    ends = {"DurableExecutionFailed", "DurableExecutionTimedOut", "DurableExecutionStopped"}
    assert {each["MetricName"] for each in metrics} == ends
    assert {target(each["Dimensions"][0]["Value"]) for each in metrics} == {"ProduceFunction"}


def test_rejected_calls_are_a_rate_of_many_and_a_percentile_needs_many(deployed: Deployed) -> None:
    rejected = deployed.resources["ApiRejectionsAlarm"]["Properties"]
    assert rejected["Metrics"][0]["Expression"] == "IF(calls >= 50, 100 * refused / calls, 0)"
    slow = deployed.resources["ApiLatencyAlarm"]["Properties"]
    assert (slow["ExtendedStatistic"], slow["EvaluateLowSampleCountPercentile"]) == ("p99", "ignore")


def test_a_budget_is_where_one_is_set_and_aws_has_budgets(transformed: dict[str, Any]) -> None:
    def budgets(**parameters: str) -> int:
        return len(deployed_with(transformed, parameters).of_type("AWS::Budgets::Budget"))

    mail = {"AlarmEmail": "operator@example.com"}
    assert budgets(**mail, MonthlyBudget="300") == 1
    assert budgets(**mail) == budgets(MonthlyBudget="300") == 0
    assert budgets(**mail, MonthlyBudget="300", **{"AWS::Partition": "aws-us-gov"}) == 0


def test_a_deployment_asks_who_reads_the_alarms(transformed: dict[str, Any]) -> None:
    declared = transformed["Parameters"]["AlarmEmail"]
    assert "Default" not in declared
    allowed = {text for text in ("", "none", "a@b.example", "SET-ME") if re.fullmatch(declared["AllowedPattern"], text)}
    assert allowed == {"none", "a@b.example"}


def test_every_alarm_has_a_recipient_and_says_what_to_do(deployed: Deployed) -> None:
    for name, alarm in deployed.of_type("AWS::CloudWatch::Alarm").items():
        (topic,) = [target(action) for action in alarm["AlarmActions"]]
        assert [target(action) for action in alarm["OKActions"]] == [topic], name
        assert topic in SEVERITIES, name
        own = all("Dimensions" in metric for metric in metrics_of(alarm))
        assert own == (name not in OF_THE_ACCOUNT), f"{name} watches other stacks too"
        assert alarm["TreatMissingData"] in ("breaching", "notBreaching"), name
        assert len(alarm["AlarmDescription"]) > 30, name


def filtered(deployed: Deployed) -> set[str]:
    """The metrics that are made of logs."""
    filters = deployed.of_type("AWS::Logs::MetricFilter").values()
    return {each["MetricName"] for one in filters for each in one["MetricTransformations"]}


def test_an_alarm_of_ours_watches_what_the_code_emits_in_this_stack(deployed: Deployed) -> None:
    alarms = deployed.of_type("AWS::CloudWatch::Alarm").values()
    ours = [metric for alarm in alarms for metric in metrics_of(alarm) if metric["Namespace"] == NAMESPACE]
    assert ours
    for metric in ours:
        assert metric["MetricName"] in emitted() | filtered(deployed)
        assert metric["Dimensions"] == [{"Name": "service", "Value": {"Ref": "AWS::StackName"}}]


def test_the_dashboard_is_json_and_shows_what_is_emitted_and_what_is_there(deployed: Deployed) -> None:
    (dashboard,) = deployed.of_type("AWS::CloudWatch::Dashboard").values()
    written = dashboard["DashboardBody"]["Fn::Sub"]
    metrics = [
        metric for widget in json.loads(written)["widgets"] for metric in widget["properties"].get("metrics", [])
    ]
    shown = {metric[1] for metric in metrics if metric[0] == NAMESPACE}
    assert emitted(PER_TENANT) == {"RowsImported", "RowsRejected"}
    searched = [metric[0]["expression"] for metric in metrics if isinstance(metric[0], dict)]
    assert searched == ["SEARCH('{ExhibitIngest,service,tenant_id} service=\"${AWS::StackName}\"', 'Sum', 300)"]
    imported = {"RowsImported", "RowsRejected", "RowWarnings", "ChunksFailed"}
    assert imported | {"TransactionsRetried", "Deadlocks"} <= shown <= emitted()
    named = {name.partition(".")[0] for name in re.findall(r"\$\{([\w.]+)\}", written)}
    assert named - {"Paused"} <= deployed.resources.keys()


def test_an_operator_is_written_to_where_an_address_is_given(plain: Deployed, everything: Deployed) -> None:
    def mailed(deployed: Deployed) -> list[str]:
        subscriptions = deployed.of_type("AWS::SNS::Subscription").values()
        return sorted(target(each["TopicArn"]) for each in subscriptions if each["Protocol"] == "email")

    assert mailed(plain) == []
    assert mailed(everything) == sorted(SEVERITIES)


def test_every_alarm_is_explained_to_its_operator_with_its_severity(transformed: dict[str, Any]) -> None:
    guide = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    explained = {name: severity for names, severity in ROW.findall(guide) for name in re.findall(r"\w+", names)}
    made = deployed_with(transformed, {**EVERY_OPTION, "BackupVaultDays": "30"}).of_type("AWS::CloudWatch::Alarm")
    assert explained == {name: SEVERITIES[target(alarm["AlarmActions"][0])] for name, alarm in made.items()}


def test_what_reports_a_lost_key_does_not_need_it(deployed: Deployed) -> None:
    assert "KmsMasterKeyId" not in deployed.resources["PageTopic"].get("Properties", {})
    rule = deployed.resources["KeyLossRule"]["Properties"]
    assert target(rule["EventPattern"]["detail"]["resources"]["ARN"][0]) == "DataKey"
    assert {"DisableKey", "ScheduleKeyDeletion"} == {*rule["EventPattern"]["detail"]["eventName"]}
    assert [target(each["Arn"]) for each in rule["Targets"]] == ["PageTopic"]
    for name in ("PurgeMissingAlarm", "SettingsErrorsAlarm", "ApiFunctionErrorsAlarm"):
        assert target(deployed.resources[name]["Properties"]["AlarmActions"][0]) == "PageTopic", name


def test_a_rotation_that_fails_is_a_page_for_each_secret_that_is_rotated(deployed: Deployed) -> None:
    """The encrypted topic of tickets would need the key, to which EventBridge has no access."""
    rule = deployed.resources["RotationFailedRule"]["Properties"]
    pattern = rule["EventPattern"]
    assert pattern["source"] == ["aws.secretsmanager"]
    assert pattern["detail-type"] == ["AWS Service Event via CloudTrail"]
    assert pattern["detail"]["eventName"] == ["RotationFailed"]
    watched_for = pattern["detail"]["additionalEventData"]["SecretId"]
    clusters = deployed.of_type("AWS::RDS::DBCluster")
    managed = [name for name, each in clusters.items() if each.get("ManageMasterUserPassword")]
    assert watched_for == [{"Fn::GetAtt": [name, "MasterUserSecret.SecretArn"]} for name in managed]
    assert deployed.of_type("AWS::SecretsManager::RotationSchedule") == {}, "the rule has to name its secret too"
    assert [target(each["Arn"]) for each in rule["Targets"]] == ["PageTopic"]
    assert "`RotationFailedRule`" in (ROOT / "docs/operations.md").read_text(encoding="utf-8")


def test_backups_that_are_not_made_are_reported_where_there_is_a_vault(
    transformed: dict[str, Any], plain: Deployed
) -> None:
    assert "BackupsFailedAlarm" not in plain.resources
    alarm = deployed_with(transformed, {"BackupVaultDays": "30"}).resources["BackupsFailedAlarm"]["Properties"]
    counted = metrics_of(alarm)
    # A job that does not begin or end in time expires or is aborted; it does not fail.
    ends = ("Failed", "Aborted", "Expired")
    assert {each["MetricName"] for each in counted} == {f"NumberOfBackupJobs{end}" for end in ends}
    assert {(each["Namespace"], target(each["Dimensions"][0]["Value"])) for each in counted} == {
        ("AWS/Backup", "BackupVault")
    }
    summed = re.findall(r"FILL\((\w+), 0\)", alarm["Metrics"][0]["Expression"])
    assert sorted(summed) == sorted(each["Id"] for each in alarm["Metrics"][1:])


def test_the_storage_that_is_reported_is_the_parameters(deployed: Deployed) -> None:
    alarm = deployed.resources["DatabaseStorageAlarm"]["Properties"]
    assert alarm["Threshold"] == {"Ref": "DatabaseStorageGigabytes"}
    assert alarm["Metrics"][0]["Expression"] == "bytes / 1000000000"


def test_patches_failovers_and_restarts_of_the_database_are_reported_too(deployed: Deployed) -> None:
    by_source = {each["SourceType"]: each for each in deployed.of_type("AWS::RDS::EventSubscription").values()}
    assert {target(each["SnsTopicArn"]) for each in by_source.values()} == {"TicketTopic"}
    # Categories of "Amazon RDS event categories and event messages for Aurora"; another name fails the deployment.
    assert {"failover", "failure", "maintenance"} <= {*by_source["db-cluster"]["EventCategories"]}
    assert {"availability", "failure", "maintenance"} <= {*by_source["db-instance"]["EventCategories"]}
    assert [target(each) for each in by_source["db-cluster"]["SourceIds"]] == ["DatabaseCluster"]
    assert {target(each) for each in by_source["db-instance"]["SourceIds"]} == {
        *deployed.of_type("AWS::RDS::DBInstance")
    }


def test_who_publishes_to_an_encrypted_topic_may_use_its_key(deployed: Deployed) -> None:
    (key,) = deployed.of_type("AWS::KMS::Key").values()
    services = {
        service
        for statement in key["KeyPolicy"]["Statement"]
        for service in listed(statement["Principal"].get("Service", []))
        if isinstance(service, str) and {"kms:GenerateDataKey", "kms:Decrypt"} <= {*statement["Action"]}
    }
    assert {"cloudwatch.amazonaws.com", "events.rds.amazonaws.com"} <= services
