"""The template is read completely, or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from local.errors import TemplateError
from local.services.mysql import SETTINGS
from local.stack.options import DEFAULT_TEMPLATE
from local.template.intrinsics import load_document
from local.template.model import ApiRoute, EventSource, sort_dead_letter_queues_last
from local.template.reader import Template

ENDPOINT = "http://127.0.0.1:1"

SMALL = """
Resources:
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Handler: worker.handler
      CodeUri: code/
      Events:
        Ask: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: GET, Path: "/jobs/{id}"}}
        Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, BatchSize: 3}}
  Api:
    Type: AWS::Serverless::HttpApi
  Jobs:
    Type: AWS::SQS::Queue
  News:
    Type: AWS::SNS::Topic
  Listening:
    Type: AWS::SNS::Subscription
    Properties: {TopicArn: !Ref News, Protocol: sqs, Endpoint: !GetAtt Jobs.Arn}
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        (tmp_path / "code").mkdir()
        path = tmp_path / "template.yaml"
        path.write_text(text)
        return path

    return write


DURABLE = """
Resources:
  Saga:
    Type: AWS::Serverless::Function
    Properties:
      Handler: saga.handler
      CodeUri: code/
      AutoPublishAlias: live
      AutoPublishAliasAllProperties: true
      DurableConfig: {ExecutionTimeout: 3600, RetentionPeriodInDays: 7}
      Environment: {Variables: {SAGA: !Ref Saga.Alias}}
  Shared:
    Type: AWS::Serverless::LayerVersion
    Properties: {ContentUri: code/, PublishLambdaVersion: true}
"""


@pytest.fixture(scope="module")
def ours() -> Template:
    return Template.load(DEFAULT_TEMPLATE)


def test_defaults_of_lambda_and_sqs_hold_where_the_template_is_silent(write: Write) -> None:
    template = Template.load(write(SMALL))
    assert template.event_sources == (EventSource("Worker", "Jobs", 3, None, False),)
    assert template.functions["Worker"].timeout == 3
    assert template.queues["Jobs"].visibility == 30
    assert template.routes == (ApiRoute("Worker", "GET", "/jobs/{id}"),)


@pytest.mark.parametrize(
    ("known", "unknown", "named"),
    [
        ("BatchSize: 3", "BatchSize: 3, FilterCriteria: {}", "FilterCriteria"),
        ("BatchSize: 3", "BatchSize: 3, MaximumBatchingWindowInSeconds: 5", "MaximumBatchingWindow"),
        ("BatchSize: 3", "BatchSize: ten", "BatchSize"),
        ("BatchSize: 3", "BatchSize: 100", "BatchSize"),
        ("Type: SQS", "Type: Kinesis", "Kinesis"),
        ("Queue: !GetAtt Jobs.Arn", "Queue: !GetAtt Gone.Arn", "Gone"),
        ("Queue: !GetAtt Jobs.Arn", "Queue: jobs", "reference"),
        ("AWS::SQS::Queue", "AWS::SQS::Queue\n    Properties: {FifoQueue: true}", "FifoQueue"),
        ("Protocol: sqs", "Protocol: https", "https"),
        ("TopicArn: !Ref News", "TopicArn: !Ref Olds", "Olds"),
        ("AWS::SNS::Topic", "AWS::SNS::Topic\n    Properties: {Subscription: []}", "Subscription"),
        ("AWS::SNS::Topic", "AWS::Events::Rule", "AWS::Events::Rule"),
        ("CodeUri: code/", "CodeUri: nowhere/", "nowhere"),
        ("Handler: worker.handler", "ImageUri: image", "ImageUri"),
        ("Type: HttpApi", "Type: Api", "type Api"),
        (
            "Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, BatchSize: 3}}",
            "Noon: {Type: Schedule, Properties: {Schedule: cron(0 12 * * ? *)}}",
            "cron",
        ),
    ],
)
def test_what_is_not_imitated_is_refused_by_name(write: Write, known: str, unknown: str, named: str) -> None:
    assert known in SMALL
    with pytest.raises(TemplateError, match=named):
        Template.load(write(SMALL.replace(known, unknown)))


def test_two_events_for_one_route_are_refused(write: Write) -> None:
    route = 'Ask: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: GET, Path: "/jobs/{id}"}}'
    with pytest.raises(TemplateError, match=r"GET /jobs/\{id\}"):
        Template.load(write(SMALL.replace(route, f"{route}\n        Again{route[3:]}")))


def test_a_variable_that_cannot_be_known_here_is_refused_by_name(write: Write) -> None:
    variables = "Environment: {Variables: {WHERE: !GetAtt Cache.Endpoint}}\n      CodeUri: code/"
    template = Template.load(write(SMALL.replace("CodeUri: code/", variables)))
    with pytest.raises(TemplateError, match=r"Worker: variable WHERE: .*Cache\.Endpoint"):
        template.environment("Worker", ENDPOINT)


def test_globals_lie_under_what_a_function_says_itself(write: Write) -> None:
    text = "Globals: {Function: {Timeout: 9, Environment: {Variables: {A: g, B: g}}}}" + SMALL.replace(
        "CodeUri: code/", "CodeUri: code/\n      Environment: {Variables: {B: f}}"
    )
    template = Template.load(write(text))
    assert template.functions["Worker"].timeout == 9
    assert template.environment("Worker", ENDPOINT) == {"A": "g", "B": "f"}


def test_the_private_server_has_the_settings_of_the_deployed_cluster() -> None:
    parameters = load_document(DEFAULT_TEMPLATE)["Resources"]["DatabaseParameters"]["Properties"]["Parameters"]
    deployed = {name.replace("_", "-"): str(value) for name, value in parameters.items()}
    common = deployed.keys() & SETTINGS.keys()
    assert common == {
        *("transaction-isolation", "sql-mode", "character-set-server", "innodb-lock-wait-timeout"),
        "auto-increment-increment",
    }
    assert {name: deployed[name] for name in common} == {name: SETTINGS[name] for name in common}


@pytest.mark.parametrize(
    ("known", "unknown", "named"),
    [
        ("RetentionPeriodInDays", "AllowInvokeLatest", "AllowInvokeLatest"),
        ("ExecutionTimeout: 3600, ", "", "ExecutionTimeout"),
        ("ExecutionTimeout: 3600", "ExecutionTimeout: long", "ExecutionTimeout"),
        ("AutoPublishAlias: live", "AutoPublishAlias: [live]", "AutoPublishAlias"),
        (
            "CodeUri",
            "Events: {Tick: {Type: Schedule, Properties: {Schedule: rate(1 minute)}}}\n      CodeUri",
            "events",
        ),
    ],
)
def test_a_durable_function_that_is_not_understood_is_named(write: Write, known: str, unknown: str, named: str) -> None:
    with pytest.raises(TemplateError, match=named):
        Template.load(write(DURABLE.replace(known, unknown, 1)))


def test_an_alias_that_is_not_published_is_not_resolved(write: Write) -> None:
    template = Template.load(write(DURABLE.replace("AutoPublishAlias: live", "Timeout: 5")))
    with pytest.raises(TemplateError, match=r"Saga\.Alias"):
        template.environment("Saga", ENDPOINT)


def test_queues_are_put_before_their_dead_letter_queues_however_they_come(ours: Template) -> None:
    queues = list(ours.queues.values())
    moves = [(queue.logical_id, queue.redrive.dead_letter_queue) for queue in queues if queue.redrive]
    assert moves
    for given in (queues, queues[::-1]):
        order = sort_dead_letter_queues_last(given)
        assert sorted(order) == sorted(queue.logical_id for queue in queues)
        assert all(order.index(queue) < order.index(dead) for queue, dead in moves)
