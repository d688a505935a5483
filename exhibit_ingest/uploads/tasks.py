"""What a queue runs, and what a task may do meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from exhibit_ingest.uploads.faults import Answer, UploadFault


class Context(Protocol):
    """The surroundings of one run of a task. Everything may raise what ends the run."""

    def clock(self) -> float:
        """Return seconds that only grow."""

    def put(self, url: str, blocks: Iterable[bytes], size: int, headers: dict[str, str]) -> Answer:
        """PUT bytes to a presigned URL."""

    def post(self, url: str, document: bytes, headers: dict[str, str]) -> Answer:
        """POST a document to a presigned URL."""

    def add(self, tasks: Sequence[Task]) -> None:
        """Run these next."""

    def count_there(self, things: int = 1) -> None:
        """Count files or parts that the bucket had before."""


@dataclass(eq=False)
class Task:
    """Something to do, idempotent: it may be run again after any fault. `files` and `bytes` count when it is done."""

    path: str
    run: Callable[[Context], None]
    files: int = 0
    bytes: int = 0


class Plan(NamedTuple):
    """What all tasks together send; the first of them adds the others."""

    files: int
    bytes: int
    first: Task


class UploadFailedError(UploadFault):
    """Files that were not sent; `failures` has the first fault of each, by path."""

    def __init__(self, failures: dict[str, UploadFault]) -> None:
        self.failures = failures
        first = next(iter(failures.values()))
        count = f"{len(failures):,} files were not sent; the first: " if len(failures) > 1 else ""
        super().__init__(first.kind, first.code, f"{count}{first.message}", first.advice)


def do_nothing(_: Context) -> None:
    """The run of a task that only counts."""
