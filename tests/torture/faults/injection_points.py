"""The points of a worker at which something can happen to it: at each, the controller decides.

The application does not know of them: they are where it calls something else, and so the only places at which others
can see how far it is. `begin` an invocation, `claim` and `write` by a statement (`mint` is the first row of a name, a
device, a sequence or a profile, `place` that of a volume; in a production `number` and `note` are of these, `overlay`
is that of what an overlay, or its undo, changes in exhibits, `record` that of their history, `page` that of which pages
exhibits have, `link` that of a row's files, `fill` that of what was expanded, `take` that of who corrects a rejected
row, `alter` that of an import's options; to `weigh` is to read a history for an undo, and to have `entered` to have
read the status of a case), `commit`, `publish` to a queue or topic, `store` to and `fetch` from S3 (`examine` a file
that is checked and run, `reread` corrected rows), `acknowledge` with the answer; each before and after.
`counted`, `numbered`, `found`, `ran`, `overlaid`, `undone`, `accepted`, `recorded`, `owned` and `answered` are commits
too, of transactions that counted a chunk down, gave out numbers, stored what a check found, had a checked file
imported, changed exhibits by an overlay or its undo, ended a part of an undo, accepted corrected rows, added events,
claimed a key or kept its answer; and of volumes `listed`, `expanded`, `ready`, `linked`, `paged` and `released`, that
stored a page of the listing, ended a part of the expansion or all of it, linked rows to files, gave exhibits their
pages, had images begin after their rows, and `erased`, that counted what a purge has deleted: only before or behind
these is it seen whether what they did is done again.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from enum import Enum
from typing import Any

from botocore.client import BaseClient
from botocore.exceptions import ClientError, ConnectionClosedError
from pymysql.constants import CR
from pymysql.err import OperationalError
from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect

CONTROLLER = "TORTURE_CONTROLLER"
_CLAIM = re.compile(
    r"FOR UPDATE|INSERT INTO idempotency_keys|SET published = 3|SET status = 'splitting'", re.IGNORECASE
)
_WRITE = re.compile(r"\s*(?:INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
_OVERLAY = re.compile(r"INSERT INTO exhibits\b.*\bversion = version \+ 1", re.DOTALL)
_NAMED = "cases|custodians|tags|devices|bates_sequences|import_profiles"
_PAGE = re.compile(r"\s*UPDATE JSON_TABLE\(.*\bSET exhibit\.page_set_id", re.DOTALL)
_LINK = re.compile(r"INSERT INTO exhibit_files\b")
_OF_WRITES = {
    "mint": re.compile(rf"\s*INSERT\s+(?:IGNORE\s+)?INTO\s+(?:{_NAMED})\b"),
    "place": re.compile(r"INSERT INTO insert_destinations\b"),
    "number": re.compile(r"INSERT INTO production_documents\b"),
    "note": re.compile(r"UPDATE production_steps\b"),
    "overlay": _OVERLAY,
    "entered": re.compile(r"SELECT name, status, held_at IS NOT NULL AS is_held FROM cases(?!.*FOR UPDATE)"),
    "weigh": re.compile(r"SELECT .*\bFROM exhibit_changes\b.*\bORDER BY exhibit_changes\.exhibit_id", re.DOTALL),
    "record": re.compile(r"INSERT INTO exhibit_changes\b"),
    "page": _PAGE,
    "link": _LINK,
    "take": re.compile(r"INSERT INTO import_corrections\b"),
    "alter": re.compile(r"UPDATE imports SET options\b"),
    "fill": re.compile(r"\s*INSERT INTO volume_files \(id,"),
}
_TRANSACTIONS = {
    "counted": re.compile(r"UPDATE imports SET chunks_left"),
    "numbered": re.compile(r"INSERT INTO production_documents\b"),
    "found": re.compile(r"INSERT INTO import_check_(?:facts|findings)\b"),
    "ran": re.compile(r"UPDATE imports SET .*\bphase = 'import', wanted = IF"),
    "overlaid": _OVERLAY,
    "undone": re.compile(r"UPDATE import_undo_parts SET status = "),
    "listed": re.compile(r"UPDATE volumes SET list_position\b"),
    "expanded": re.compile(r"UPDATE volume_units SET status = %"),
    "ready": re.compile(r"UPDATE volumes SET status = 'ready'"),
    "linked": _LINK,
    "paged": _PAGE,
    "accepted": re.compile(r"UPDATE JSON_TABLE\(.*\bSET claim\.status = 'accepted'", re.DOTALL),
    "erased": re.compile(r"INSERT INTO case_purge_counts\b"),
    "released": re.compile(r"UPDATE imports SET status = CASE WHEN layout IS NULL THEN 'splitting'"),
    "recorded": re.compile(r"INSERT INTO outbox_events\b"),
    "owned": re.compile(r"\s*INSERT INTO idempotency_keys\b"),
    "answered": re.compile(r"UPDATE idempotency_keys SET status = 'completed'"),
}
_CALLS = {
    "PublishBatch": "publish",
    "Publish": "publish",
    "SendMessage": "publish",
    "SendMessageBatch": "publish",
    "PutObject": "store",
    "CopyObject": "store",
    "CreateMultipartUpload": "store",
    "UploadPart": "store",
    "CompleteMultipartUpload": "store",
    "DeleteObjects": "store",
    "GetObject": "fetch",
    "HeadObject": "fetch",
    "ListObjectVersions": "fetch",
}
_BATCHES = {"PublishBatch": ("PublishBatchRequestEntries", "Failed"), "SendMessageBatch": ("Entries", "Failed")}
_FOREVER_S = 600.0
# The case of the file that every seed has checked and run.
CHECKED_CASE = "Checked 0"
# Those at which any fault may strike, each from two sides, but for `begin`; the calls are to AWS.
LABELS = ("begin", "claim", "write", "commit", "publish", "store", "fetch", "acknowledge")
CALLS = ("publish", "store", "fetch")


class Action(Enum):
    """What happens to a worker at a point; the last four at calls to AWS, LOSE also before a COMMIT."""

    DIE = "SIGKILL"
    STOP = "SIGSTOP, and SIGCONT later"
    HANG = "it takes until its time-out"
    FAIL = "AWS answers with an error, and did nothing"
    THROTTLE = "AWS refuses because of too many requests"
    LOSE = "it was done, and the answer is lost"
    PART = "AWS takes a part of the batch"


class Points:
    """The way to the controller; one question at a time."""

    def __init__(self, address: str, function: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._answers = self._socket.makefile("r")
        self._lock = threading.Lock()
        self._function = function

    def reach(self, label: str, *, is_after: bool) -> Action | None:
        """Tell where the worker is; it may not come back. Gives what is left to the caller to do."""
        question = {"function": self._function, "label": label, "is_after": is_after, "pid": os.getpid()}
        with self._lock:
            self._socket.sendall(json.dumps(question).encode() + b"\n")
            answer = json.loads(self._answers.readline() or "null")
        action = Action[answer] if answer else None
        if action is Action.DIE:
            os.kill(os.getpid(), signal.SIGKILL)
        if action is Action.STOP:
            os.kill(os.getpid(), signal.SIGSTOP)
        if action is Action.HANG:
            time.sleep(_FOREVER_S)
        return action


def install(points: Points) -> None:
    """Put the points where they belong, in this process and for good."""
    _around_statements(points)
    _around_transactions(points)
    _around_calls(points)
    _around_invocations(points)


def label_of(statement: str) -> str | None:
    """What a statement is: one of the writes that have names of their own, a claim, another write, or none of these."""
    for label, pattern in _OF_WRITES.items():
        if pattern.match(statement):
            return label
    if _CLAIM.search(statement):
        return "claim"
    return "write" if _WRITE.match(statement) else None


def _around_statements(points: Points) -> None:
    def reach(statement: str, *, is_after: bool) -> None:
        label = label_of(statement)
        if label:
            points.reach(label, is_after=is_after)

    event.listen(Engine, "before_cursor_execute", lambda _c, _cursor, text, *_: reach(text, is_after=False))
    event.listen(Engine, "after_cursor_execute", lambda _c, _cursor, text, *_: reach(text, is_after=True))


def _around_transactions(points: Points) -> None:
    commit: Callable[[DefaultDialect, Any], None] = DefaultDialect.do_commit
    roll_back: Callable[[DefaultDialect, Any], None] = DefaultDialect.do_rollback
    seen: dict[int, set[str]] = defaultdict(set)

    def noted(cursor: Any, text: str) -> None:
        seen[id(cursor.connection)] |= {label for label, pattern in _TRANSACTIONS.items() if pattern.match(text)}

    def do_commit(self: DefaultDialect, connection: Any) -> None:
        labels = ["commit", *sorted(seen.pop(id(connection.dbapi_connection), ()))]
        actions = [points.reach(label, is_after=False) for label in labels]
        commit(self, connection)
        if Action.LOSE in actions:
            connection.dbapi_connection._force_close()
            raise OperationalError(CR.CR_SERVER_LOST, "Lost connection to MySQL server during query")
        for label in labels:
            points.reach(label, is_after=True)

    def do_rollback(self: DefaultDialect, connection: Any) -> None:
        seen.pop(id(connection.dbapi_connection), None)
        roll_back(self, connection)

    event.listen(Engine, "before_cursor_execute", lambda _c, cursor, text, *_: noted(cursor, text))
    DefaultDialect.do_commit, DefaultDialect.do_rollback = do_commit, do_rollback  # type: ignore[method-assign]


def _around_calls(points: Points) -> None:
    client: Any = BaseClient
    call = client._make_api_call

    def called(self: Any, operation: str, given: dict[str, Any]) -> Any:
        label = _CALLS.get(operation)
        if label is None:
            return call(self, operation, given)
        action = points.reach(label, is_after=False)
        if label == "fetch" and given.get("Key", "").startswith("corrections/"):
            action = points.reach("reread", is_after=False) or action
        answer = faulty(action, operation, given, lambda parameters: call(self, operation, parameters))
        points.reach(label, is_after=True)
        if label == "fetch" and f"/{CHECKED_CASE}/" in given.get("Key", ""):
            points.reach("examine", is_after=True)
        return answer

    client._make_api_call = called


def faulty(action: Action | None, operation: str, given: dict[str, Any], call: Callable[[dict[str, Any]], Any]) -> Any:
    """The call, with the action; what the client's own retries could have corrected is past them."""
    if action is Action.FAIL:
        raise _error("InternalError", 500, operation)
    if action is Action.THROTTLE:
        raise _error("ThrottlingException", 400, operation)
    if action is Action.PART:
        # Of a message that goes alone nothing is taken.
        if operation not in _BATCHES:
            raise _error("InternalError", 500, operation)
        return _in_part(operation, given, call)
    answer = call(given)
    if action is Action.LOSE:
        raise ConnectionClosedError(endpoint_url="the answer is lost")
    return answer


def _in_part(operation: str, given: dict[str, Any], call: Callable[[dict[str, Any]], Any]) -> Any:
    """Every other entry is taken; of the others AWS says that it is to blame."""
    name, failed = _BATCHES[operation]
    taken, left = given[name][1::2], given[name][::2]
    answer = call({**given, name: taken}) if taken else {"Successful": []}
    refused = [{"Id": entry["Id"], "Code": "InternalError", "SenderFault": False} for entry in left]
    return {**answer, failed: [*answer.get(failed, []), *refused]}


def _error(code: str, status: int, operation: str) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, operation)


def _around_invocations(points: Points) -> None:
    # Here, for it is a C extension that only a worker has use for.
    from awslambdaric.lambda_runtime_client import LambdaRuntimeClient

    fetch, answer = LambdaRuntimeClient.wait_next_invocation, LambdaRuntimeClient.post_invocation_result

    def wait_next_invocation(self: Any) -> Any:
        fetched = fetch(self)
        points.reach("begin", is_after=False)
        return fetched

    def post_invocation_result(self: Any, *given: Any, **named: Any) -> Any:
        points.reach("acknowledge", is_after=False)
        answered = answer(self, *given, **named)
        points.reach("acknowledge", is_after=True)
        return answered

    LambdaRuntimeClient.wait_next_invocation = wait_next_invocation
    LambdaRuntimeClient.post_invocation_result = post_invocation_result
