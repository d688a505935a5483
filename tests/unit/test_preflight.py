"""`make preflight`: what a region or an account lacks is found before a deployment fails for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from botocore.exceptions import NoRegionError

from local.errors import TemplateError
from tests.support.aws.stubbed_account import (
    DEMAND,
    PROXYLESS,
    REGION,
    REQUESTED,
    SERVED,
    SERVICES,
    SNAPSHOT,
    TEMPLATE,
    VERSION,
    WITHOUT_FIRST,
    ZONES,
    World,
    account,
    answers,
)
from tools.preflight.__main__ import NOT_CHECKED, Account, main
from tools.preflight.demand import Demand, read_demand
from tools.preflight.features import check_snap_start
from tools.preflight.findings import Severity

OPERATIONS = (TEMPLATE.parent / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.fixture
def preflight(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str]]]:
    """Runs the tool in a world and returns its exit status and its lines."""

    def run(world: World, *arguments: str) -> tuple[int, list[str]]:
        with account(world) as connect:
            status = main(arguments, connect)
        first, *lines = capsys.readouterr().out.removesuffix(f"{NOT_CHECKED}\n").splitlines()
        assert first.startswith("Checking ")
        return status, lines

    return run


Preflight = Callable[..., tuple[int, list[str]]]


def lines_of(lines: Iterable[str], severity: str, subject: str) -> list[str]:
    return [line for line in lines if line.startswith(f"{severity:8}{subject}: ")]


def test_a_region_that_has_everything_passes(preflight: Preflight) -> None:
    status, lines = preflight(World(), "AvailabilityZoneA=us-east-1a", "AvailabilityZoneB=us-east-1c")
    assert status == 0
    assert [line.split(":")[0].split() for line in lines] == [
        *(["ok", subject] for subject in ("endpoints", "zones", "database", "concurrency")),
        ["ok", "durable", "functions"],
        ["ok", "Data", "API"],
    ]


def test_two_zones_that_serve_everything_are_named_where_none_are_chosen(preflight: Preflight) -> None:
    status, lines = preflight(
        World(endpoints={"lambda": ["us-east-1c", *SERVED[-2:]]}, default_subnets=("us-east-1c",))
    )
    (line,) = lines_of(lines, "note", "zones")
    assert status == 0
    assert "AvailabilityZoneA=us-east-1c AvailabilityZoneB=us-east-1e" in line


@pytest.mark.parametrize(
    ("world", "lacking"),
    [
        (World(endpoints={"lambda": WITHOUT_FIRST}), "com.amazonaws.us-east-1.lambda"),
        (World(endpoints={"s3": WITHOUT_FIRST}), "com.amazonaws.us-east-1.s3"),
        (World(database_zones=tuple(WITHOUT_FIRST)), "Aurora Serverless v2"),
    ],
)
@pytest.mark.parametrize("chosen", [(), ("AvailabilityZoneA=us-east-1a", "AvailabilityZoneB=us-east-1c")])
def test_a_zone_that_lacks_something_is_a_problem_chosen_or_by_default(
    preflight: Preflight, world: World, lacking: str, chosen: tuple[str, ...]
) -> None:
    status, lines = preflight(world, *chosen)
    assert status == 1
    (problem,) = lines_of(lines, "problem", "zones")
    assert f"us-east-1a ({ZONES['us-east-1a']}," in problem
    assert lacking in problem
    assert "AvailabilityZoneA=us-east-1c AvailabilityZoneB=us-east-1d" in lines_of(lines, "note", "zones")[-1]


def test_the_zone_without_rds_proxy_is_a_problem_with_a_proxy_and_a_note_without(preflight: Preflight) -> None:
    status, lines = preflight(World(), "DatabaseProxy=true")
    (problem,) = lines_of(lines, "problem", "zones")
    assert (status, f"{PROXYLESS} (use1-az3," in problem, "RDS Proxy" in problem) == (1, True, True)
    status, lines = preflight(World())
    assert (status, lines_of(lines, "problem", "zones")) == (0, [])
    assert "does not have RDS Proxy" in lines_of(lines, "note", "zones")[0]


def test_the_default_is_taken_from_zones_with_a_default_subnet(preflight: Preflight) -> None:
    status, lines = preflight(World(default_subnets=("us-east-1a", "us-east-1d", "us-east-1c")), "DatabaseProxy=true")
    assert (status, lines_of(lines, "problem", "zones")) == (0, [])


@pytest.mark.parametrize(
    ("world", "arguments", "subject", "expected"),
    [
        (World(missing=frozenset({"sns"})), (), "endpoints", "no endpoint for com.amazonaws.us-east-1.sns"),
        (World(endpoints={"sqs": ["us-east-1a"]}), (), "zones", "only us-east-1a serves all"),
        (
            World(),
            ("AvailabilityZoneA=us-east-1a", "AvailabilityZoneB=us-east-1g"),
            "zones",
            "us-east-1g is not a zone",
        ),
        (World(), ("DatabaseVersion=8.0.mysql_aurora.3.10.99",), "database", f"one of: {VERSION}."),
        (
            World(),
            ("DatabaseVersion=8.0.mysql_aurora.3.08.0",),
            "database",
            f"one of: 8.0.mysql_aurora.3.04.6, {VERSION}.",
        ),
        (World(snapshot=f"{VERSION}1"), (f"DatabaseSnapshot={SNAPSHOT}",), "snapshot", f"DatabaseVersion={VERSION}1."),
        (World(quota=10), (), "concurrency", f"can start {REQUESTED} executions at once, and the account has 10"),
        (World(quota=1000, unreserved=20), (), "concurrency", "the account has 20 (quota 1000"),
        *(
            (World(durable=answer), (), "durable functions", "which productions need")
            for answer in (
                ("404", "Not Found"),
                ("UnknownOperationException", ""),
                ("AccessDeniedException", "Unable to determine service/operation name to be authorized"),
            )
        ),
        (World(has_data_api=False), (), "Data API", "Set DatabaseDataApi=false"),
        (World(backed_up=frozenset({"S3"})), ("BackupVaultDays=30",), "backups", "not switched on for Aurora in"),
        (World(backed_up=frozenset()), ("BackupVaultDays=30",), "backups", "preference Aurora=true,S3=true"),
        (World(), ("--stack", "a-name-of-twenty-seven-char"), "stack name", "has 27 characters"),
    ],
)
def test_what_would_make_the_deployment_or_an_import_fail_is_a_problem(
    preflight: Preflight, world: World, arguments: tuple[str, ...], subject: str, expected: str
) -> None:
    status, lines = preflight(world, *arguments)
    assert status == 1
    assert any(expected in line for line in lines_of(lines, "problem", subject)), lines


@pytest.mark.parametrize(
    ("world", "arguments", "severity", "subject", "expected"),
    [
        (World(versions=(VERSION, f"{VERSION}0")), (), "note", "database", f"DatabaseVersion={VERSION}0"),
        (World(snapshot=VERSION), (f"DatabaseSnapshot={SNAPSHOT}",), "ok", "snapshot", f"it is of {VERSION}"),
        (World(quota=REQUESTED + 3), (), "note", "concurrency", "3 are left for requests"),
        (World(quota=REQUESTED + 10), (), "ok", "concurrency", f"{REQUESTED} executions"),
        (World(), (), "ok", "durable functions", "has them"),
        (World(), ("SnapStart=PublishedVersions",), "ok", "SnapStart", "does not exclude us-east-1"),
        (World(backed_up=frozenset({"Aurora", "S3"})), ("BackupVaultDays=30",), "ok", "backups", "Aurora and S3"),
        (World(), ("--stack", "exhibit-ingest"), "ok", "stack name", "exhibit-ingest fits"),
    ],
)
def test_what_prevents_nothing_passes(
    preflight: Preflight, world: World, arguments: tuple[str, ...], severity: str, subject: str, expected: str
) -> None:
    status, lines = preflight(world, *arguments)
    assert status == 0
    assert any(expected in line for line in lines_of(lines, severity, subject)), lines


@pytest.mark.parametrize(("quota", "fits"), [(10, None), (REQUESTED - 7, None), (REQUESTED - 6, 2), (REQUESTED - 1, 7)])
def test_a_small_quota_says_what_to_do_now_and_later(preflight: Preflight, quota: int, fits: int | None) -> None:
    _, lines = preflight(World(quota=quota))
    (problem,) = lines_of(lines, "problem", "concurrency")
    assert "--quota-code L-B99A9384 --desired-value 1000" in problem
    assert (f"Until then, ChunkConcurrency={fits} fits." in problem) == bool(fits)
    if fits:
        status, _ = preflight(World(quota=quota), f"ChunkConcurrency={fits}")
        assert status == 0


def test_a_reservation_that_lambda_refuses_is_a_problem(preflight: Preflight, tmp_path: Path) -> None:
    reserving = tmp_path / "template.yaml"
    text = TEMPLATE.read_text("utf-8").replace(
        "      Handler: produce.lambda_handler\n",
        "      Handler: produce.lambda_handler\n      ReservedConcurrentExecutions: 5\n",
    )
    reserving.write_text(text, encoding="utf-8")
    status, lines = preflight(World(quota=104), "--template", str(reserving))
    assert (status, "reserves 5 executions of 104" in lines_of(lines, "problem", "concurrency")[0]) == (1, True)
    status, lines = preflight(World(quota=105), "--template", str(reserving))
    assert (status, f"{REQUESTED + 5} executions" in lines_of(lines, "ok", "concurrency")[0]) == (0, True)


@pytest.mark.parametrize(
    "operation",
    [
        *("describe_subnets", "describe_db_engine_versions", "get_account_settings"),
        "list_durable_executions_by_function",
    ],
)
def test_a_check_that_aws_refuses_is_named_and_the_others_are_made(preflight: Preflight, operation: str) -> None:
    status, lines = preflight(World(refused=operation))
    unknown = [line for line in lines if line.startswith("unknown")]
    assert status == 2
    assert len(unknown) == 1
    assert f"may not perform {operation}" in unknown[0]
    assert len(lines) > 2


def test_a_problem_outweighs_what_could_not_be_checked(preflight: Preflight) -> None:
    status, _ = preflight(World(refused="describe_db_engine_versions", quota=10))
    assert status == 1


@pytest.mark.parametrize("region", ["ap-southeast-6", "ap-east-2", "us-gov-west-1", "cn-north-1"])
def test_a_region_without_snap_start_for_python_is_a_problem_where_it_is_used(region: str) -> None:
    (finding,) = check_snap_start(region, demand(SnapStart="PublishedVersions"))
    assert (finding.severity, "SnapStart=None" in finding.text) == (Severity.PROBLEM, True)
    assert list(check_snap_start(region, demand())) == []


def test_unused_services_are_not_called(preflight: Preflight) -> None:
    status, lines = preflight(World(has_data_api=False), "DatabaseDataApi=false")
    assert (status, [line for line in lines if "Data API" in line or "backups" in line]) == (0, [])


def test_it_says_what_it_does_not_look_at_and_promises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with account(World()) as connect:
        assert main([], connect) == 0
    expected = capsys.readouterr().out
    assert expected.endswith(f"{NOT_CHECKED}\n")
    assert "quotas other than" in NOT_CHECKED
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "nothing prevents" not in capsys.readouterr().out + OPERATIONS


def no_region(_region: str | None) -> Account:
    raise NoRegionError


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["DatabaseProxy"], "not of the form Name=Value"),
        (["NoSuch=1"], "the template has no parameter NoSuch"),
        (["--template", "missing.yaml"], "cannot read the template missing.yaml"),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    with account(World()) as connect, pytest.raises(SystemExit) as ended:
        main(arguments, connect)
    assert (ended.value.code, expected in capsys.readouterr().err) == (2, True)


def test_without_a_region_it_says_how_to_set_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([], no_region)
    assert (ended.value.code, "--region" in capsys.readouterr().err) == (2, True)


def test_the_help_names_every_check_permission_and_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    calls = [operation for responses in answers(World(snapshot=VERSION)).values() for operation, _ in responses]
    assert [call for call in calls if call.replace("_", "") not in text.lower()] == []
    assert all(f"{status} " in text.partition("exit status:")[2] for status in (0, 1, 2))


def demand(**parameters: str) -> Demand:
    return read_demand(TEMPLATE, REGION, parameters)


def test_the_demand_is_read_from_the_template() -> None:
    assert {"sqs", "sns", "lambda", "secretsmanager", "s3"} <= SERVICES
    assert DEMAND.gateway_services == (f"com.amazonaws.{REGION}.s3",)
    assert demand(ChunkConcurrency="32").concurrency - REQUESTED == 24
    assert DEMAND.queue_concurrency + DEMAND.schedules + DEMAND.reserved_concurrency == REQUESTED
    assert (DEMAND.has_proxy, demand(DatabaseProxy="true").has_proxy) == (False, True)


def test_the_number_in_the_documentation_is_the_demand() -> None:
    assert f"can start {REQUESTED} with `ChunkConcurrency` 8" in " ".join(OPERATIONS.split())


def test_a_queue_without_a_limit_is_not_counted_as_nothing(tmp_path: Path) -> None:
    unlimited = tmp_path / "template.yaml"
    unlimited.write_text(
        TEMPLATE.read_text("utf-8").replace("            ScalingConfig: {MaximumConcurrency: 4}\n", "", 1),
        encoding="utf-8",
    )
    with pytest.raises(TemplateError, match=r"ImportRequestsQueue.* has no MaximumConcurrency"):
        read_demand(unlimited, REGION, {})
