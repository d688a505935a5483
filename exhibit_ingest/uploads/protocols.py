"""What uploads need of their surroundings: an API, and a place to show progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

Document = dict[str, Any]
Status = Literal["moving", "waiting", "offline", "done"]


class Api(Protocol):
    """The API of one stack, for the user who is signed in."""

    def request(self, method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        """Send a request, with `key` as its Idempotency-Key, and return the document of the response.

        Raises an exception that is a `Refusal` for any other status than 2xx, and one that is `Unreachable` without an
        answer. Any other exception ends the upload and reaches the caller.
        """


@runtime_checkable
class Refusal(Protocol):
    """An exception of the API: the status of the answer and the name of the problem, such as `already-exists`.

    Its text is for people and says what to do.
    """

    status: int
    code: str


@runtime_checkable
class Unreachable(Protocol):
    """An exception for a request without an answer; `is_final` if a repetition would fail as it did."""

    is_final: bool


@dataclass(frozen=True)
class Progress:
    """How far an upload is. `rate` is in bytes a second, of the last seconds; None where it is not known.

    `message` is a sentence while something is waited for, such as the network, and empty otherwise. `retries` counts
    requests that were sent again after a fault, `already_there` the files and parts that the bucket had before.
    """

    status: Status
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    rate: float | None
    seconds_left: int | None
    retries: int
    already_there: int
    message: str = ""


OnProgress = Callable[[Progress], None]


def show_nothing(_: Progress) -> None:
    """Ignore the progress."""
