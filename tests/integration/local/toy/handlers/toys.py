"""Handlers that misbehave on request; what they did is reported on the results queue."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import boto3


def prepare(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answers as a migration would."""
    return {"prepared": event["RequestType"]}


def echo(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Gives back what it got and where it runs; `fault` raises, dies or leaves a variable."""
    match event.get("fault"):
        case "raise":
            raise ValueError("as you wished")
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            os.environ["LEFT"] = "behind"
    return {
        "event": event,
        "pid": os.getpid(),
        "remaining": context.get_remaining_time_in_millis(),
        "arn": context.invoked_function_arn,
        "environment": dict(os.environ),
        "process": {
            "directory": os.getcwd(),
            "argument": sys.argv[1:],
            "code": __file__,
            "found": [name for name in ("fork_server", "forking", "sagas") if importlib.util.find_spec(name)],
            "zone": time.tzname,
            "input": os.readlink("/proc/self/fd/0") if sys.platform == "linux" else "",
            "output": os.path.basename(os.readlink("/proc/self/fd/1")) if sys.platform == "linux" else "",
            "ignored": [int(number) for number in signal.Signals if signal.getsignal(number) == signal.SIG_IGN],
            "caught": [int(number) for number in signal.Signals if callable(signal.getsignal(number))],
            "leads": os.getpid() == os.getsid(0) == os.getpgid(0),
        },
    }


def sleep(event: dict[str, Any], context: Any) -> None:
    """Takes longer than anybody waits; `spawn` starts a process that does too."""
    if event.get("spawn"):
        print("spawned", subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid)
    time.sleep(event["seconds"])


def work(event: dict[str, Any], context: Any) -> Any:
    """Tells each body; what happens then, the body says."""
    failures = []
    for record in event["Records"]:
        body = json.loads(record["body"])
        _tell({"function": "work", "body": body, "pid": os.getpid(), "record": record})
        receives = int(record["attributes"]["ApproximateReceiveCount"])
        if body.get("fail_times", 0) >= receives:
            failures.append({"itemIdentifier": record["messageId"]})
        if body.get("raise_times", 0) >= receives:
            raise ValueError("the whole batch goes back")
        if body.get("die_times", 0) >= receives:
            os.kill(os.getpid(), signal.SIGKILL)
    if any(json.loads(record["body"]).get("malformed") for record in event["Records"]):
        return {"batchItemFailures": [{"itemIdentifier": "no such message"}]}
    return {"batchItemFailures": failures} if failures else None


def announce(event: dict[str, Any], context: Any) -> None:
    """Tells what invoked it."""
    _tell({"function": "announce", "event": event})


def _tell(what: dict[str, Any]) -> None:
    boto3.client("sqs").send_message(QueueUrl=os.environ["RESULTS_QUEUE_URL"], MessageBody=json.dumps(what))
