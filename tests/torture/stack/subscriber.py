"""A subscriber of the topic, who looks into the database at once whether what it hears of is committed."""

from __future__ import annotations

import json
import threading
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tests.support.database.committed_state import Queried

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

_QUEUE = "torture-subscriber"


class Subscriber:
    """Hears everything for as long as its block: `heard` in order, `early` what was not committed when it came."""

    def __init__(self, sns: SNSClient, sqs: SQSClient, topic: str, committed: Queried) -> None:
        self._sqs, self._committed = sqs, committed
        self._url = sqs.create_queue(QueueName=_QUEUE)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self.heard: list[dict[str, Any]] = []
        self.early: list[dict[str, Any]] = []
        self.broken: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join()

    def times_heard(self) -> Counter[int]:
        """How often each event of the outbox was heard, by its id."""
        return Counter(each["eventId"] for each in list(self.heard) if "eventId" in each)

    def _listen(self) -> None:
        try:
            while not self._ends.is_set():
                self._receive()
        except Exception as error:
            self.broken = error

    def _receive(self) -> None:
        got = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        messages = got.get("Messages", [])
        events = [json.loads(each["Body"]) for each in messages]
        self.heard += events
        self.early += [each for each in events if not self._is_committed(each)]
        for message in messages:
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])

    def _is_committed(self, event: dict[str, Any]) -> bool:
        if "eventId" not in event:
            # Announced by a production's last step, which follows its confirmation.
            found = self._committed.query(
                "SELECT 1 FROM productions WHERE id = :id AND status = 'confirmed'", id=event["productionId"]
            )
            return bool(found)
        rows = self._committed.query(
            "SELECT event_type, payload FROM outbox_events WHERE id = :id", id=event["eventId"]
        )
        own = {key: value for key, value in event.items() if key not in ("eventId", "sequence", "eventType")}
        return [(row.event_type, json.loads(row.payload)) for row in rows] == [(event["eventType"], own)]
