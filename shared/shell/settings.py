"""The settings of a deployment; the only module that reads the environment.

Guaranteed: an error names the missing or malformed variable, and is raised at first use, not at import.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.errors import SettingsError


@dataclass(frozen=True)
class Settings:
    """The settings that the template (or a test) gives this deployment; durations in seconds, sizes in bytes."""

    database_url: str | None
    db_host: str | None
    db_lock_host: str | None
    db_name: str | None
    db_secret_arn: str | None
    db_user_secret_arn: str | None
    db_purge_secret_arn: str | None
    db_charset: str
    deadlock_retry_attempts: int
    deadlock_retry_delay: float
    bucket: str
    import_requests_queue_url: str
    import_chunks_queue_url: str
    import_completions_queue_url: str
    import_reports_queue_url: str
    outbox_wake_queue_url: str
    production_checks_queue_url: str
    production_requests_queue_url: str
    volume_work_queue_url: str
    case_purges_queue_url: str
    max_productions: int
    events_topic_arn: str
    event_bus_name: str
    produce_function_arn: str
    default_user_id: str
    chunk_rows: int
    max_file_bytes: int
    split_checkpoint_chunks: int
    redrive_delay_seconds: int
    redis_url: str | None
    redis_secret_arn: str | None
    tenant_claim: str
    roles_claim: str
    roles_prefix: str
    default_role: str
    cases_claim: str
    cases_required: bool
    user_name_claim: str
    tenants_by_first_use: bool
    cell_number: int
    idempotency_ttl_hours: int
    upload_url_seconds: int
    purge_last_look_seconds: int
    backup_days: int | None
    backup_vault_days: int | None
    log_retention_days: int | None
    custody_locking: str
    function_name: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Return the settings in `environment`; raise SettingsError for a missing or malformed variable."""
        return cls(
            database_url=environment.get("DATABASE_URL"),
            db_host=environment.get("DB_HOST"),
            db_lock_host=environment.get("DB_LOCK_HOST"),
            db_name=environment.get("DB_NAME"),
            db_secret_arn=environment.get("DB_SECRET_ARN"),
            db_user_secret_arn=environment.get("DB_USER_SECRET_ARN"),
            db_purge_secret_arn=environment.get("DB_PURGE_SECRET_ARN"),
            db_charset=_read_choice(environment, "DB_CHARSET", "utf8mb3", "utf8mb4"),
            deadlock_retry_attempts=_read_integer(environment, "DB_DEADLOCK_RETRY_ATTEMPTS", "5"),
            deadlock_retry_delay=_read_number(environment, "DB_DEADLOCK_RETRY_DELAY", "0.2"),
            bucket=_read_required(environment, "BUCKET"),
            import_requests_queue_url=_read_required(environment, "IMPORT_REQUESTS_QUEUE_URL"),
            import_chunks_queue_url=_read_required(environment, "IMPORT_CHUNKS_QUEUE_URL"),
            import_completions_queue_url=_read_required(environment, "IMPORT_COMPLETIONS_QUEUE_URL"),
            import_reports_queue_url=environment.get("IMPORT_REPORTS_QUEUE_URL", ""),
            outbox_wake_queue_url=_read_required(environment, "OUTBOX_WAKE_QUEUE_URL"),
            production_checks_queue_url=_read_required(environment, "PRODUCTION_CHECKS_QUEUE_URL"),
            production_requests_queue_url=environment.get("PRODUCTION_REQUESTS_QUEUE_URL", ""),
            volume_work_queue_url=environment.get("VOLUME_WORK_QUEUE_URL", ""),
            case_purges_queue_url=environment.get("CASE_PURGES_QUEUE_URL", ""),
            max_productions=_read_integer(environment, "MAX_PRODUCTIONS", "10"),
            events_topic_arn=_read_required(environment, "EVENTS_TOPIC_ARN"),
            event_bus_name=environment.get("EVENT_BUS_NAME", ""),
            produce_function_arn=environment.get("PRODUCE_FUNCTION_ARN", ""),
            default_user_id=environment.get("DEFAULT_USER_ID", "load-file-import"),
            chunk_rows=_read_integer(environment, "CHUNK_ROWS", "2000"),
            max_file_bytes=_read_integer(environment, "MAX_FILE_BYTES", "100000000000"),
            split_checkpoint_chunks=_read_integer(environment, "SPLIT_CHECKPOINT_CHUNKS", "1000"),
            redrive_delay_seconds=_read_integer(environment, "REDRIVE_DELAY_SECONDS", "180"),
            redis_url=environment.get("REDIS_URL") or None,
            redis_secret_arn=environment.get("REDIS_SECRET_ARN") or None,
            tenant_claim=environment.get("TENANT_CLAIM", "custom:tenant_id"),
            roles_claim=environment.get("ROLES_CLAIM", "cognito:groups"),
            roles_prefix=environment.get("ROLES_PREFIX", ""),
            default_role=_read_choice(environment, "DEFAULT_ROLE", "viewer", "none", "editor", "admin"),
            cases_claim=environment.get("CASES_CLAIM", "custom:cases"),
            cases_required=_read_choice(environment, "CASES_REQUIRED", "false", "true") == "true",
            user_name_claim=environment.get("USER_NAME_CLAIM", "email"),
            tenants_by_first_use=_read_choice(environment, "TENANTS_BY_FIRST_USE", "true", "false") == "true",
            cell_number=_read_integer(environment, "CELL_NUMBER", "0"),
            idempotency_ttl_hours=_read_integer(environment, "IDEMPOTENCY_TTL_HOURS", "24"),
            upload_url_seconds=_read_integer(environment, "UPLOAD_URL_SECONDS", "3600"),
            purge_last_look_seconds=_read_integer(environment, "PURGE_LAST_LOOK_SECONDS", "604800"),
            backup_days=_read_days(environment, "BACKUP_DAYS"),
            backup_vault_days=_read_days(environment, "BACKUP_VAULT_DAYS"),
            log_retention_days=_read_days(environment, "LOG_RETENTION_DAYS"),
            custody_locking=_read_choice(environment, "CUSTODY_LOCKING", "pessimistic", "optimistic"),
            # Lambda sets it.
            function_name=environment.get("AWS_LAMBDA_FUNCTION_NAME", ""),
        )


@dataclass(frozen=True)
class ConsoleSettings:
    """What the console has to know of a deployment; an origin is `https://host`, empty where there is none.

    `storage` is the origin of presigned URLs. `sign_in` is `cognito`, `local`, `none`, or `issuer` where tokens are of
    `issuer`, which no page of the console can use yet. With `none`, a domain is for the command, which the user pool
    sends back to the machine of the user.
    """

    storage: str
    sign_in: str
    sign_in_domain: str
    client_id: str
    issuer: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> ConsoleSettings:
        """Return the settings in `environment`; raise SettingsError for a missing or malformed variable."""
        return cls(
            # An endpoint for the SDK is where presigned URLs go, too.
            storage=environment.get("AWS_ENDPOINT_URL") or _read_required(environment, "CONSOLE_STORAGE"),
            sign_in=_read_choice(environment, "CONSOLE_SIGN_IN", "none", "cognito", "local", "issuer"),
            sign_in_domain=environment.get("CONSOLE_SIGN_IN_DOMAIN", ""),
            client_id=environment.get("CONSOLE_CLIENT_ID", ""),
            issuer=environment.get("CONSOLE_ISSUER", ""),
        )


@lru_cache(maxsize=1)
def console_settings() -> ConsoleSettings:
    """Return what the console has to know of this deployment, read once."""
    return ConsoleSettings.from_environment(os.environ)


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the settings of this process, read once."""
    return Settings.from_environment(os.environ)


@lru_cache(maxsize=1)
def properties_format() -> str:
    """Return the stored form of exhibits.document_properties, `json` or `yaml`; read without the required settings."""
    return _read_choice(os.environ, "PROPERTIES_FORMAT", "json", "yaml")


def _read_required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name)
    if not value:
        raise SettingsError(f"environment variable {name} is not set; template.yaml sets it for every function")
    return value


def _read_number(environment: Mapping[str, str], name: str, default: str) -> float:
    text = environment.get(name, default)
    try:
        return float(text)
    except ValueError as exc:
        raise SettingsError(f"environment variable {name} is not a number: {text!r}") from exc


def _read_integer(environment: Mapping[str, str], name: str, default: str) -> int:
    return int(_read_number(environment, name, default))


def _read_days(environment: Mapping[str, str], name: str) -> int | None:
    """Return a number of days; None if the deployment does not say."""
    return _read_integer(environment, name, "0") if environment.get(name) else None


def _read_choice(environment: Mapping[str, str], name: str, default: str, *others: str) -> str:
    value = environment.get(name, default)
    if value not in (default, *others):
        choices = f"{', '.join([default, *others[:-1]])} or {others[-1]}"
        raise SettingsError(f"environment variable {name} is {value!r}; it must be {choices}")
    return value
