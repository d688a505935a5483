"""Tagging jobs requested as a client does, and driven as the queue would."""

from __future__ import annotations

from typing import Any

from core.contracts.tagging_jobs import NewTaggingJob, TaggingJob
from shell.db.session import session
from shell.tagging_jobs.commands import create_job
from shell.tagging_jobs.queries import get_job
from tests.support.application.driver import World
from tests.support.undo.runs import CALLER

HEADER = "Control Number,Title,Tags\r\n"


def load_file(*rows: str) -> bytes:
    """A file with these rows, such as `A-1,one,hot`."""
    return (HEADER + "".join(f"{row}\r\n" for row in rows)).encode()


def numbered(first: int, last: int) -> bytes:
    """A file with the documents A-01 to A-10, say, without tags."""
    return load_file(*(f"A-{number:02},one," for number in range(first, last + 1)))


def request_job(query: dict[str, Any], *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> int:
    """Request a job on the case of the tests; return its id."""
    body = NewTaggingJob.model_validate({"case": "Case", "query": query, "add": list(add), "remove": list(remove)})
    with session() as transaction:
        return create_job(transaction, CALLER, body).id


def finish_job(world: World, job_id: int, *, times: int = 1) -> TaggingJob:
    """Deliver each message of jobs so many times until there are none; return the job."""
    while messages := world.chunk_messages():
        for message in messages * times:
            assert world.import_chunk(message), message
    return get_job(CALLER, job_id)


def tagged_with(world: World, tag: str) -> list[str]:
    """The control numbers of the documents that have the tag."""
    statement = (
        "SELECT control_number FROM exhibits JOIN taggings ON exhibit_id = exhibits.id JOIN tags ON tags.id = tag_id "
        "WHERE tags.name = :tag ORDER BY 1"
    )
    return [row[0] for row in world.query(statement, tag=tag)]


def changes_of(world: World, job_id: int) -> list[tuple[str, int]]:
    """The control number and version of each change that the job made."""
    statement = (
        "SELECT control_number, c.version FROM exhibit_changes AS c JOIN exhibits ON exhibits.id = exhibit_id "
        "WHERE tagging_job_id = :job ORDER BY 1, 2"
    )
    return [(row[0], row[1]) for row in world.query(statement, job=job_id)]
