"""The database of a stack, for an operator's statements: by the RDS Data API, or by a connection of its own.

Guaranteed: a statement is committed when it returns, or has had no effect; values are parameters and never part of a
statement. Not guaranteed: that several statements see one state.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

DEFAULT_STATE = Path(".local")
Row = Mapping[str, Any]


class TenantToolError(Exception):
    """Something did not work; the message says what to do."""


class Database(Protocol):
    """A database that runs one statement at a time; `:name` in a statement is a value."""

    def read(self, statement: str, **values: object) -> list[Row]:
        """Return the rows of a SELECT, by the names of its columns, as text or whole numbers."""

    def write(self, statement: str, **values: object) -> int:
        """Run a statement, and return how many rows it matched or inserted."""


class ConnectedDatabase:
    """A database that a SQLAlchemy URL names."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url, isolation_level="READ COMMITTED", hide_parameters=True)

    def read(self, statement: str, **values: object) -> list[Row]:
        """Return the rows. Raises TenantToolError."""
        try:
            with self._engine.connect() as connection:
                return [row._asdict() for row in connection.execute(text(statement), values)]
        except SQLAlchemyError as error:
            raise _describe(error) from error

    def write(self, statement: str, **values: object) -> int:
        """Return how many rows were matched or inserted. Raises TenantToolError."""
        try:
            with self._engine.begin() as connection:
                return int(connection.execute(text(statement), values).rowcount)
        except SQLAlchemyError as error:
            raise _describe(error) from error


class DataApi:
    """The database of a deployed stack, by the RDS Data API, with the credentials of its administrator's secret."""

    def __init__(self, cluster_arn: str, secret_arn: str, database: str, client: Any = None) -> None:
        self._target = {"resourceArn": cluster_arn, "secretArn": secret_arn, "database": database}
        self._client = client or boto3.client("rds-data")

    def read(self, statement: str, **values: object) -> list[Row]:
        """Return the rows. Raises TenantToolError."""
        answer = self._execute(statement, values)
        names = [column["label"] for column in answer.get("columnMetadata", ())]
        return [dict(zip(names, map(_read_field, record), strict=True)) for record in answer.get("records", ())]

    def write(self, statement: str, **values: object) -> int:
        """Return how many rows were changed or inserted. Raises TenantToolError."""
        return int(self._execute(statement, values).get("numberOfRecordsUpdated", 0))

    def _execute(self, statement: str, values: Mapping[str, object]) -> Any:
        parameters = [{"name": name, "value": _write_field(value)} for name, value in values.items()]
        try:
            return self._client.execute_statement(
                **self._target, sql=statement, parameters=parameters, includeResultMetadata=True
            )
        except (BotoCoreError, ClientError) as error:
            raise TenantToolError(
                f"the RDS Data API refused a statement: {error}. It needs DatabaseDataApi, and you need "
                "rds-data:ExecuteStatement and the secret; see Query the database in docs/operations.md"
            ) from error


def open_database(stack: str | None, url: str | None, state: Path) -> Database:
    """Return the database of a deployed stack, else the one of a URL, else the private one of a local stack.

    Raises TenantToolError if there is none, or if the private server does not run.
    """
    if stack is not None:
        return _open_stack(stack)
    return ConnectedDatabase(url or _find_private(state))


def _open_stack(stack: str) -> DataApi:
    try:
        formation = boto3.client("cloudformation")
        found: Any = formation.describe_stacks(StackName=stack)["Stacks"][0]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}
        parameters = {each["ParameterKey"]: each["ParameterValue"] for each in found.get("Parameters", ())}
        resource = formation.describe_stack_resource(StackName=stack, LogicalResourceId="DatabaseCluster")
        cluster = resource["StackResourceDetail"]["PhysicalResourceId"]
        described = boto3.client("rds").describe_db_clusters(DBClusterIdentifier=cluster)["DBClusters"][0]
        return DataApi(described["DBClusterArn"], outputs["DatabaseSecretArn"], parameters["DatabaseName"])
    except (BotoCoreError, ClientError, LookupError) as error:
        raise TenantToolError(f"the database of the stack {stack} cannot be found: {error}") from error


def _find_private(state: Path) -> str:
    from local.services.mysql import PrivateServer
    from local.stack.local_stack import SCHEMA
    from local.stack.places import DATABASE

    server = PrivateServer(state / DATABASE)
    if not server.is_running():
        raise TenantToolError(
            f"no local stack runs with the state directory {state}. Start it (exhibit-ingest serve), or name a "
            "deployed stack (--stack) or a database (--database or DATABASE_URL)"
        )
    return server.url(SCHEMA)


def _describe(error: SQLAlchemyError) -> TenantToolError:
    return TenantToolError(f"the database refused a statement: {getattr(error, 'orig', None) or error}")


def _write_field(value: object) -> dict[str, object]:
    if value is None:
        return {"isNull": True}
    return {"longValue": value} if isinstance(value, int) else {"stringValue": str(value)}


def _read_field(field: Mapping[str, Any]) -> Any:
    return None if field.get("isNull") else next(iter(field.values()))
