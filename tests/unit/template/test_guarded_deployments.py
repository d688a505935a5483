"""`make deploy` keeps what holds data: it is replaced or removed only if a deployment names it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests.unit.template.conftest import ROOT, Deployed, deployed_with
from tools.deploy.__main__ import deploy, main
from tools.deploy.protection import build_policy, find_losses, list_protected
from tools.deploy.stack import Stack, State

NAME = "exhibit-ingest-prod"
OPTIONS = ["--config-env", "prod"]
PLAN = [*OPTIONS, "--no-execute-changeset", "--no-fail-on-empty-changeset"]
DATABASE, BUCKET = "AWS::RDS::DBCluster", "AWS::S3::Bucket"


def change(name: str, kind: str, action: str, replacement: str | None = None, *causes: str) -> dict[str, Any]:
    """A change as DescribeChangeSet returns it."""
    details = [{"Target": {"Attribute": "Properties", "Name": each, "RequiresRecreation": "Always"}} for each in causes]
    details += [{"Target": {"Attribute": "Properties", "Name": "EngineVersion", "RequiresRecreation": "Never"}}]
    found = {"Action": action, "LogicalResourceId": name, "ResourceType": kind, "Details": details}
    return {"Type": "Resource", "ResourceChange": found | ({"Replacement": replacement} if replacement else {})}


NEW_DATABASE = change("DatabaseCluster", DATABASE, "Modify", "True", "SnapshotIdentifier")
LOST_POOL = change("UserPool", "AWS::Cognito::UserPool", "Remove")
HARMLESS = [
    change("DatabaseCluster", DATABASE, "Modify", "False"),
    change("EvidenceBucket", BUCKET, "Modify", "Conditional"),
    change("BackupVault", "AWS::Backup::BackupVault", "Add"),
    change("FunctionConfiguration", "AWS::IAM::ManagedPolicy", "Modify", "True", "Description"),
    change("ApiFunctionErrorsAlarm", "AWS::CloudWatch::Alarm", "Remove"),
]


class FakeStack:
    """A stack of CloudFormation whose next change set has these changes; `sam` deploys it."""

    def __init__(self, *changes: dict[str, Any], state: State = State.CREATED, status: int = 0) -> None:
        self.changes, self.status, self.state = changes, status, state
        self.policy: set[str] = set()
        self.change_sets = {"an old one"}
        self.calls: list[list[str]] = []
        # The types that were protected at each deployment.
        self.protected: list[set[str]] = []

    def read_state(self) -> State:
        return self.state

    def list_change_sets(self) -> set[str]:
        return set(self.change_sets)

    def list_changes(self, change_set: str) -> Sequence[Any]:
        assert change_set == "new"
        return self.changes

    def delete_change_set(self, change_set: str) -> None:
        self.change_sets.remove(change_set)

    def set_policy(self, policy: str) -> None:
        assert self.state is State.CREATED, "another stack has no policy"
        self.policy = denied(policy)

    def sam(self, options: Sequence[str]) -> int:
        self.calls.append([*options])
        if "--no-execute-changeset" in options:
            self.change_sets |= {"new"} if self.changes else set()
        else:
            self.protected.append(self.policy)
            self.state = State.NEVER_CREATED if self.status and self.state is State.MISSING else State.CREATED
        return self.status

    def deploy(self, *replace: str) -> int:
        return deploy(self, OPTIONS, replace, self.sam)  # type: ignore[arg-type]


def denied(policy: str) -> set[str]:
    """The types whose replacement and removal a stack policy denies; everything else is allowed."""
    allowed, *others = json.loads(policy)["Statement"]
    assert (allowed["Effect"], allowed["Action"], allowed["Resource"]) == ("Allow", "Update:*", "*")
    kinds: set[str] = set()
    for each in others:
        assert (each["Effect"], each["Resource"]) == ("Deny", "*")
        assert each["Action"] == ["Update:Replace", "Update:Delete"]
        kinds |= set(each["Condition"]["StringEquals"]["ResourceType"])
    return kinds


ALL = denied(build_policy())


def test_the_policy_protects_what_outlives_the_stack_and_nothing_else(transformed: dict[str, Any]) -> None:
    """These keep data when the stack is deleted; layers and versions of functions hold none."""
    code = {"AWS::Lambda::LayerVersion", "AWS::Lambda::Version"}
    resources = deployed_with(transformed, {"BackupVaultDays": "30"}).resources.values()
    kept = {each["Type"] for each in resources if each.get("DeletionPolicy", "Delete") != "Delete"}
    assert kept - code == ALL == list_protected()


def test_a_type_that_is_lifted_stands_for_one_resource(everything: Deployed) -> None:
    assert [kind for kind in ALL if len(everything.of_type(kind)) > 1] == []


def test_a_deployment_that_replaces_the_database_unasked_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    stack = FakeStack(NEW_DATABASE, *HARMLESS)
    assert stack.deploy() == 1
    assert stack.calls == [PLAN], "nothing was executed"
    assert stack.change_sets == {"an old one"}, "it is not executed later"
    assert stack.policy == ALL
    said = capsys.readouterr().err
    assert "DatabaseCluster (AWS::RDS::DBCluster) would be replaced by an empty one, because SnapshotIdentifier" in said
    assert "EngineVersion" not in said
    assert "REPLACE='DatabaseCluster'" in said


def test_a_resource_named_for_replacement_is_replaced_and_it_alone_is_unprotected_meanwhile() -> None:
    stack = FakeStack(NEW_DATABASE)
    assert stack.deploy("DatabaseCluster") == 0
    # CloudFormation goes on when SAM no longer waits; what the user says comes last, and counts.
    assert stack.calls == [PLAN, ["--max-wait-duration", "240", *OPTIONS]]
    assert stack.protected == [ALL - {DATABASE}]
    assert stack.policy == ALL


def test_one_named_for_replacement_does_not_permit_another(capsys: pytest.CaptureFixture[str]) -> None:
    stack = FakeStack(NEW_DATABASE, LOST_POOL)
    assert stack.deploy("DatabaseCluster") == 1
    assert (stack.calls, stack.policy) == ([PLAN], ALL)
    said = capsys.readouterr().err
    assert "UserPool (AWS::Cognito::UserPool) would be removed from the stack" in said
    assert "REPLACE='DatabaseCluster UserPool'" in said


def test_a_name_that_nothing_happens_to_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    stack = FakeStack(*HARMLESS)
    assert stack.deploy("DatabaseClutser") == 1
    assert stack.calls == [PLAN]
    assert "does not replace or remove DatabaseClutser" in capsys.readouterr().err


@pytest.mark.parametrize("changes", [HARMLESS, []])
def test_everything_else_is_deployed_under_the_whole_policy(changes: list[dict[str, Any]]) -> None:
    stack = FakeStack(*changes)
    assert stack.deploy() == 0
    assert (stack.calls, stack.protected, stack.policy) == ([PLAN, OPTIONS], [ALL], ALL)


def test_a_first_deployment_has_no_policy_before_and_the_whole_one_after() -> None:
    stack = FakeStack(state=State.MISSING)
    assert stack.deploy() == 0
    assert (stack.calls, stack.protected, stack.policy) == ([OPTIONS], [set()], ALL)


def test_a_stack_whose_first_deployment_failed_has_to_be_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    stack = FakeStack(state=State.MISSING, status=3)
    assert stack.deploy() == 3, "the exit status of SAM"
    assert "delete the stack (sam delete), then deploy again" in capsys.readouterr().err
    assert stack.deploy() == 1
    assert (stack.calls, stack.policy) == ([OPTIONS], set())
    assert "delete the stack (sam delete), then deploy again" in capsys.readouterr().err


def test_a_plan_that_fails_ends_it() -> None:
    stack = FakeStack(NEW_DATABASE, status=3)
    assert (stack.deploy("DatabaseCluster"), stack.calls, stack.policy) == (3, [PLAN], ALL)


@pytest.fixture
def unhandled() -> Iterator[None]:
    """Signals that would end the tests are ignored; an interrupt is not, as it is where tests run in the background."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    previous = {each: signal.signal(each, signal.SIG_IGN) for each in numbers}
    previous[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert [signal.getsignal(each) for each in numbers] == [signal.SIG_IGN] * 2, "handlers are put back"
    for each, handler in previous.items():
        signal.signal(each, handler)


@pytest.mark.usefixtures("unhandled")
@pytest.mark.parametrize(
    ("number", "ends_with"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)],
)
def test_a_deployment_that_is_interrupted_is_protected_again(
    number: signal.Signals, ends_with: type[BaseException]
) -> None:
    stack = FakeStack(NEW_DATABASE)

    def interrupted(options: Sequence[str]) -> int:
        if "--no-execute-changeset" not in options:
            assert stack.policy == ALL - {DATABASE}
            signal.raise_signal(number)
        return stack.sam(options)

    with pytest.raises(ends_with):
        deploy(stack, OPTIONS, ["DatabaseCluster"], interrupted)  # type: ignore[arg-type]
    assert stack.policy == ALL


def test_a_replacement_that_is_not_certain_is_left_to_the_policy() -> None:
    """What refers to a changed resource is `Conditional`: the database to its key, whose policy can change."""
    assert list(find_losses([change("DatabaseCluster", DATABASE, "Modify", "Conditional", "KmsKeyId")])) == []


KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
Use = Callable[..., Any]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ({"StackStatus": "UPDATE_COMPLETE"}, State.CREATED),
        ({"StackStatus": "UPDATE_ROLLBACK_COMPLETE"}, State.CREATED),
        ({"StackStatus": "ROLLBACK_COMPLETE"}, State.NEVER_CREATED),
        ({"StackStatus": "ROLLBACK_FAILED"}, State.NEVER_CREATED),
        ({"StackStatus": "CREATE_FAILED"}, State.NEVER_CREATED),
        ({"StackStatus": "REVIEW_IN_PROGRESS"}, State.MISSING),
        (("ValidationError", f"Stack with id {NAME} does not exist"), State.MISSING),
    ],
)
def test_a_stack_is_there_if_its_first_deployment_succeeded(answer: Any, state: State) -> None:
    client = boto3.client("cloudformation", **KEYS)  # type: ignore[call-overload]
    with Stubber(client) as stub:
        if isinstance(answer, tuple):
            stub.add_client_error("describe_stacks", *answer)
        else:
            found = {"StackName": NAME, "CreationTime": "2026-11-26T00:00:00Z", **answer}
            stub.add_response("describe_stacks", {"Stacks": [found]}, {"StackName": NAME})
        assert Stack(client, NAME).read_state() is state


def test_all_pages_of_change_sets_and_changes_are_read() -> None:
    client = boto3.client("cloudformation", **KEYS)  # type: ignore[call-overload]
    sets = [{"ChangeSetId": each, "Status": "FAILED" if each == "c" else "CREATE_COMPLETE"} for each in "abc"]
    with Stubber(client) as stub:
        stub.add_response("list_change_sets", {"Summaries": sets[:1], "NextToken": "2"}, {"StackName": NAME})
        stub.add_response("list_change_sets", {"Summaries": sets[1:]}, {"StackName": NAME, "NextToken": "2"})
        stub.add_response("describe_change_set", {"Changes": HARMLESS, "NextToken": "2"}, {"ChangeSetName": "b"})
        second = {"ChangeSetName": "b", "NextToken": "2"}
        stub.add_response("describe_change_set", {"Changes": [NEW_DATABASE]}, second)
        stub.add_response("delete_change_set", {}, {"ChangeSetName": "b"})
        stub.add_response("set_stack_policy", {}, {"StackName": NAME, "StackPolicyBody": build_policy()})
        stack = Stack(client, NAME)
        assert stack.list_change_sets() == {"a", "b"}
        (loss,) = find_losses(stack.list_changes("b"))
        stack.delete_change_set("b")
        stack.set_policy(build_policy())
        stub.assert_no_pending_responses()
    assert loss.name == "DatabaseCluster"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["production"], "samconfig.toml has no stack_name for production"),
        (["prod", "--config-file", "other.toml"], "--config-file is not supported"),
        (["prod", "--config-env=dev"], "--config-env=dev is not supported"),
        (["prod", "--stack-name", "exhibit-ingest-of-the-whole-firm"], "it can have 25"),
    ],
)
def test_wrong_usage_ends_before_aws_is_called(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments, sam=lambda _options: pytest.fail("deployed"))
    assert (ended.value.code, said in capsys.readouterr().err) == (2, True)


def test_make_and_the_workflow_deploy_with_it() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndeploy: ")[2].partition("\n\n")[0]
    assert "-m tools.deploy" in recipe
    assert "samcli deploy" not in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "sam deploy" not in (ROOT / ".github/workflows/deploy.yml").read_text(encoding="utf-8")
