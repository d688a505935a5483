"""Many environments of a function can start from one snapshot of it, taken after its module was imported.

Lambda SnapStart, "Handling uniqueness": what is made before the snapshot is the same in all of them. A process that is
forked has the same memory, but Python seeds `random` in a child, which Lambda does not: the state is put back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.unit.template.conftest import ROOT

pytestmark = pytest.mark.slow

API = [
    *("custodians_api", "custody_api", "exhibits_api", "import_checks_api", "imports_api", "productions_api"),
    *("activities_api", "cases_api", "exports_api", "import_results_api", "production_files_api", "profiles_api"),
    "uploads_api",
    "volumes_api",
]
DRAWN = ("random", "secrets", "uuid")
OPENED, CLIENT = "kept = __import__('socket').socket()", "__import__('shell.aws.clients').aws.clients.sqs()"
SEEDED = "kept = __import__('random').Random(7)"

PROGRAM = """
import gc, json, os, random, secrets, socket, ssl, sys, types, uuid
sys.path[:0] = [{root!r} + "/functions", {root!r} + "/shared"]
module = __import__({handler!r})
{more}
gc.collect()
things = gc.get_objects()
held = (socket.socket, ssl.SSLContext, random.Random)
allowed = (random._inst, uuid, *(each for each in things if isinstance(each, random.SystemRandom)))
found = [type(each).__name__ for each in things if isinstance(each, held) and not any(each is one for one in allowed)]
for name, each in sorted(sys.modules.items()):
    if name.split(".")[0] in ("shell", "core"):
        cached = [kept for kept in vars(each).values() if getattr(kept, "__module__", "") == name]
        found += [kept.__name__ for kept in cached if hasattr(kept, "cache_info") and kept.cache_info().currsize]
snapshot = random.getstate()
event = json.load(open({root!r} + "/events/{handler}.json"))
event["rawPath"] = event["requestContext"]["http"]["path"] = "/no-such-path"
context = types.SimpleNamespace(get_remaining_time_in_millis=lambda: 25000, aws_request_id="1")

def restore(serves):
    ours, theirs = os.pipe()
    if not os.fork():
        random.setstate(snapshot)
        status = module.lambda_handler(event, context)["statusCode"] if serves else 0
        drawn = [status, random.random(), secrets.token_hex(), str(uuid.uuid4())]
        os.write(theirs, json.dumps(drawn).encode())
        os._exit(0)
    os.close(theirs)
    os.wait()
    return json.loads(os.read(ours, 4096))

pairs = {{serves: [restore(serves), restore(serves)] for serves in (True, False)}}
print(json.dumps({{"found": found, "serving": pairs[True], "starting": pairs[False]}}))
"""


def snapshot(handler: str, more: str = "") -> dict[str, Any]:
    """What a handler holds once it is imported, and what two environments draw, each after a request or at once."""
    program = PROGRAM.format(root=str(ROOT), handler=handler, more=more)
    environment = {"AWS_DEFAULT_REGION": "us-east-1", "POWERTOOLS_SERVICE_NAME": "snapshot"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("handler", API)
def test_a_snapshot_holds_nothing_open_and_no_two_environments_draw_the_same(handler: str) -> None:
    answer = snapshot(handler)
    assert answer["found"] == []
    (status, *first), (_, *second) = answer["serving"]
    assert status == 404
    assert [name for name, one, other in zip(DRAWN, first, second, strict=True) if one == other] == []


def test_without_a_request_the_generator_is_that_of_the_snapshot() -> None:
    (_, *first), (_, *second) = snapshot(API[0])["starting"]
    assert [name for name, one, other in zip(DRAWN, first, second, strict=True) if one == other] == ["random"]


@pytest.mark.parametrize(("more", "found"), [(OPENED, "socket"), (CLIENT, "sqs"), (SEEDED, "Random")])
def test_what_is_opened_too_early_is_found(more: str, found: str) -> None:
    assert found in snapshot(API[0], more)["found"]
