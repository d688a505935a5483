"""The database of a second stack, on the server of the first, into which tenants move.

Both stacks have one bucket: of a move, the tool copies rows, and S3 copies objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import make_url

from local.stack import LocalStack
from tests.support.servers.provisioned_servers import fresh_schema
from tests.support.tenants.two_schemas import Place, Rows, build_cell_url, copy_tables
from tests.torture.stack.database_server import USER, TorturedDatabase

_NAME, _CELL = "moved", 1


def create_second_schema(database: TorturedDatabase) -> None:
    """Create the tables, which the application's user may write."""
    url = make_url(database.direct)
    beside = fresh_schema(database.direct, f"{url.database}_{_NAME}")
    copy_tables(url, beside)
    database.query(f"GRANT ALL ON {beside.database}.* TO {USER}@'%'")


class Cells:
    """Both stacks of a tenant that moves: the source and the target."""

    def __init__(self, database: TorturedDatabase, stack: LocalStack) -> None:
        self._database, self._stack = database, stack

    def describe(self) -> tuple[dict[str, str], dict[str, str]]:
        """What the files say that the operator's tool reads; both databases are behind the faulty proxy."""
        url = make_url(self._database.url)
        storage = {"bucket": self._stack.bucket, "endpoint": self._stack.aws.endpoint}
        databases = (self._database.url, build_cell_url(url.set(database=f"{url.database}_{_NAME}"), _CELL))
        source, target = ({"database": each, **storage} for each in databases)
        return source, target

    def abort_uploads(self, tenant: str) -> None:
        """Abort the uploads in parts that the tenant has begun and left, for which an export would wait."""
        s3, bucket = self._stack.s3, self._stack.bucket
        for each in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
            if each["Key"].split("/")[1] == tenant:
                s3.abort_multipart_upload(Bucket=bucket, Key=each["Key"], UploadId=each["UploadId"])

    def read(self, tenant: str) -> tuple[Rows, Rows]:
        """All rows of the tenant at the source and at the target."""
        source, target = (each.read(tenant) for each in self._places())
        return source, target

    def get_statuses(self, tenant: str) -> list[str]:
        """Its statuses at the source and at the target, "" where it is not."""
        query = "SELECT status FROM tenants WHERE tenant_id = %s"
        found = [each.query(query, tenant) for each in self._places()]
        return [rows[0][0].decode() if rows else "" for rows in found]

    def _places(self) -> Iterator[Place]:
        # After a restart the server has another port.
        url = make_url(self._database.direct)
        yield Place(url, 0, self._stack.bucket, "")
        yield Place(url.set(database=f"{url.database}_{_NAME}"), _CELL, self._stack.bucket, "")
