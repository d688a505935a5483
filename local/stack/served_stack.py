"""The stack of a running `exhibit-ingest serve`, used by another command on this machine.

Guaranteed: nothing of it is started or stopped from here. An exception in the block is raised as LocalError, with what
to do, if `serve` has ended meanwhile. Its address contains no password: the caller has its own DATABASE_URL, or reads
that of the private database from the state directory.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from local.errors import LocalError
from local.gateway.tokens import Tokens
from local.lambda_runtime.invocation import InvocationFailedError
from local.services.aws import AwsClients
from local.services.mysql_connection import parse_url
from local.services.mysql_login import DatabaseAccess
from local.services.state_lock import publish_address, read_address
from local.stack.local_stack import LocalStack
from local.template.reader import Template

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ENDED_IMPORT = (
    "ended during the import. Rows imported so far are kept, and the next `serve` or `import` goes on with the rest."
    " If its file was not sent yet, import it again"
)


@dataclass(frozen=True)
class ServeAddress:
    """Where a running `serve` is reached; `database` has no password, `api` is empty without an API."""

    pid: int
    database: str
    is_private: bool
    endpoint: str
    bucket: str
    logs: str
    api: str = ""


def publish_stack(stack: LocalStack, pid: int) -> AbstractContextManager[None]:
    """Publish the address of a stack in its state directory, for the block, unless its template has no bucket."""
    if not stack.template.buckets:
        return nullcontext()
    address = ServeAddress(
        pid=pid,
        database=_strip_url(stack.database_url),
        is_private=stack.options.database_url is None,
        endpoint=stack.aws.endpoint,
        bucket=stack.bucket,
        logs=str(stack.log_directory),
        api=stack.api_url if stack.serves_api else "",
    )
    return publish_address(stack.state_dir, asdict(address))


def _strip_url(url: str) -> str:
    """Return the URL of a database without its password and without any option that could hold one."""
    from sqlalchemy.engine import make_url

    given = make_url(url)
    kept = {name: value for name, value in given.query.items() if name in ("charset", "unix_socket")}
    return given._replace(password=None).set(query=kept).render_as_string(hide_password=False)


class ServedStack:
    """The part of a stack that imports use; `database_url` is the caller's DATABASE_URL, None without one.

    `ended_advice` says that `serve` ended meanwhile, and what to do.
    """

    def __init__(
        self,
        state_dir: Path,
        template: Template,
        address: ServeAddress,
        database_url: str | None,
        ended_advice: str = ENDED_IMPORT,
    ) -> None:
        self._ended_advice = ended_advice
        _check_database(address, database_url)
        self.state_dir = state_dir
        self.address = address
        self.database_url = database_url or _add_password(address.database, state_dir)
        self.bucket = address.bucket
        self.log_directory = Path(address.logs)
        self._template = template
        self._aws = AwsClients(address.endpoint)
        self._failures_log = self.log_directory / "failures.log"
        self._seen_bytes = self._failures_log.stat().st_size if self._failures_log.exists() else 0

    @classmethod
    def find(
        cls, state_dir: Path, template: Path, database_url: str | None, ended_advice: str = ENDED_IMPORT
    ) -> Self | None:
        """Return the stack that uses a state directory; None unless `serve` does and has started.

        Raises LocalError if it uses another database than the caller.
        """
        address = _read_address(state_dir)
        return cls(state_dir, Template.load(template), address, database_url, ended_advice) if address else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self.check_alive(error)

    def close(self) -> None:
        """Do nothing: the stack belongs to another command."""

    @property
    def s3(self) -> S3Client:
        """Return a client for the local S3."""
        return self._aws.s3

    @property
    def api_url(self) -> str:
        """Return the API's base URL, without a trailing slash."""
        return self.address.api

    @property
    def tokens(self) -> Tokens:
        """Return the issuer of the tokens that the API accepts."""
        return Tokens.load(self.state_dir, self._template)

    def failures(self) -> list[InvocationFailedError]:
        """Return the failed invocations since this object was created, of all imports and requests."""
        if not self._failures_log.exists():
            return []
        with self._failures_log.open("rb") as log:
            log.seek(self._seen_bytes)
            lines = log.read().decode("utf-8", errors="replace").splitlines()
        return [failure for line in lines if (failure := InvocationFailedError.parse(line))]

    def check_alive(self, cause: Exception | None = None) -> None:
        """Raise LocalError, with what to do, if `serve` has ended."""
        if _read_address(self.state_dir) != self.address:
            raise LocalError(f"`serve` (process {self.address.pid}) {self._ended_advice}") from cause


def _add_password(url: str, state_dir: Path) -> str:
    """Return the URL of the private database with its password."""
    password = DatabaseAccess(state_dir / "database").password
    return url.replace("//root@", f"//root:{password}@", 1) if password else url


def _read_address(state_dir: Path) -> ServeAddress | None:
    """Return the published address, without entries that this version does not know.

    Raises LocalError if it lacks one that this version needs.
    """
    try:
        address = read_address(state_dir)
        known = {each.name: address[each.name] for each in fields(ServeAddress) if address and each.name in address}
        return ServeAddress(**known) if address else None  # type: ignore[arg-type]
    except (TypeError, ValueError) as exc:
        raise LocalError(
            "the running `serve` is another version, which this command cannot use. Stop it with Ctrl-C,"
            " then start it again, or run this command without it"
        ) from exc


def _check_database(address: ServeAddress, database_url: str | None) -> None:
    """Raise LocalError if the two databases differ: the rows would not be where the caller expects them."""

    def locate(url: str) -> tuple[object, ...]:
        arguments = parse_url(url)
        place = arguments.get("unix_socket") or (arguments.get("host"), arguments.get("port", 3306))
        return place, arguments["database"]

    served = "the private database" if address.is_private else address.database
    if database_url is None and not address.is_private:
        raise LocalError(
            f"`serve` (process {address.pid}) uses {served}, and DATABASE_URL is not set here. Set it to"
            " the same database, or end `serve` (Ctrl-C) first"
        )
    if database_url is not None and locate(database_url) != locate(address.database):
        raise LocalError(
            f"`serve` (process {address.pid}) uses {served}, not the database that DATABASE_URL names."
            " Set DATABASE_URL as `serve` has it, or end `serve` (Ctrl-C) first"
        )
