"""Features of AWS that some regions or accounts lack, and without which a deployment fails after it made a database.

A call to something that does not exist shows whether a region has its API; nothing is created, read or changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from boto3.session import Session
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError

from tools.preflight.demand import Demand
from tools.preflight.findings import Finding, Severity, join

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

# "SnapStart is available in all commercial Regions except" these (AWS Lambda Developer Guide, "Improving startup
# performance with Lambda SnapStart"). Not for Python in AWS GovCloud (US) and China, as the guides of both say.
WITHOUT_SNAP_START = frozenset({"ap-southeast-6", "ap-east-2"})
NOTHING = "exhibit-ingest-preflight"
# Lambda's answer, as AccessDeniedException, to a path that the region does not know.
_NO_SUCH_OPERATION = "Unable to determine service/operation name"
ELSEWHERE = "the deployment fails after some ten minutes. Deploy in another region."


def check_durable_functions(functions: LambdaClient) -> Iterator[Finding]:
    """Yield whether the region's Lambda has durable functions, which productions need."""
    try:
        functions.list_durable_executions_by_function(FunctionName=NOTHING)
    except ClientError as error:
        if _is_unknown_operation(error):
            text = f"the region has no durable functions of Lambda, which productions need: {ELSEWHERE}"
            yield Finding(Severity.PROBLEM, "durable functions", text)
            return
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    yield Finding(Severity.OK, "durable functions", "the region has them.")


def _is_unknown_operation(error: ClientError) -> bool:
    answer = error.response["Error"]
    return answer["Code"] in ("404", "UnknownOperationException") or _NO_SUCH_OPERATION in answer["Message"]


def check_snap_start(region: str, demand: Demand) -> Iterator[Finding]:
    """Yield whether the region has SnapStart for Python, if it is used; no API of AWS says this."""
    if not demand.has_snap_start:
        return
    if region in WITHOUT_SNAP_START or Session().get_partition_for_region(region) != "aws":
        text = f"{region} does not have SnapStart for Python. Set SnapStart=None."
        yield Finding(Severity.PROBLEM, "SnapStart", text)
    else:
        yield Finding(Severity.OK, "SnapStart", f"the documentation of AWS does not exclude {region}.")


def check_data_api(data: Any, region: str, demand: Demand) -> Iterator[Finding]:
    """Yield whether the region has the RDS Data API, if it is used: any answer shows that it has."""
    if not demand.has_data_api:
        return
    arn = f"arn:{Session().get_partition_for_region(region)}:rds:{region}:000000000000:cluster:{NOTHING}"
    try:
        data.execute_statement(resourceArn=arn, secretArn=arn, sql="SELECT 1")
    except (EndpointConnectionError, ConnectTimeoutError):
        text = "the RDS Data API of the region does not answer: it probably has none. Set DatabaseDataApi=false."
        yield Finding(Severity.PROBLEM, "Data API", text)
        return
    except ClientError:
        pass
    yield Finding(Severity.OK, "Data API", "the region has it.")


def check_backup(backup: Any, demand: Demand) -> Iterator[Finding]:
    """Yield whether AWS Backup may back up what BackupVaultDays asks for; without opt-in, its plan leaves it out."""
    if not demand.has_vault:
        return
    chosen = backup.describe_region_settings()["ResourceTypeOptInPreference"]
    if out := {kind for kind in ("Aurora", "S3") if not chosen.get(kind)}:
        text = (
            f"AWS Backup is not switched on for {join(out)} in this region, so BackupVaultDays keeps nothing of it. "
            "Switch it on: aws backup update-region-settings --resource-type-opt-in-preference "
            + ",".join(f"{kind}=true" for kind in sorted(out))
        )
        yield Finding(Severity.PROBLEM, "backups", text)
    else:
        yield Finding(Severity.OK, "backups", "AWS Backup is switched on for Aurora and S3.")
