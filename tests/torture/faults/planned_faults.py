"""Where the workers of a seed are struck: any point by chance, and those where protections act in every seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.torture.faults.injection_points import CALLS, LABELS, Action

AT_WORK = (
    *("ImportChunkFunction",) * 4,
    *("PublishOutboxFunction",) * 3,
    *("StartImportFunction",) * 2,
    *("ProduceFunction",) * 2,
    *("WriteImportReportFunction", "StartProductionFunction", "ExhibitsApiFunction", "CustodyApiFunction"),
    *("ImportsApiFunction", "ProductionsApiFunction", "CustodiansApiFunction", "HandleFailedChunkFunction"),
    *("HandleFailedImportFunction", "ResumeProductionsFunction", "PurgeExpiredFunction", "CasesApiFunction"),
    *("ActivitiesApiFunction", "ImportResultsApiFunction", "ProductionFilesApiFunction", "UploadsApiFunction"),
    "ExportsApiFunction",
)
# Those with most requests under keys: an owner is late behind its claim, and the key may be another's by then.
KEYED = ("ImportsApiFunction", "ProductionsApiFunction", "ExhibitsApiFunction", "CustodyApiFunction")
CHECKING = ("ImportChecksApiFunction", "ProfilesApiFunction")
# They work on volumes: the first one lists, expands and deletes them.
PURGE_CASES = "PurgeCasesFunction"
PROCESS_VOLUME, VOLUMES_API = "ProcessVolumeFunction", "VolumesApiFunction"
# Who adds the first row of something that others may be adding at once; at which times it may be late, and how often it
# is. Of two at once one alone is: where both are, a deadlock ends what a unique key would have.
MINTING = {
    "ProduceFunction": ((1, 2), 1),
    "CustodyApiFunction": (range(1, 6), 2),
    "CustodiansApiFunction": (range(1, 7), 1),
    "ImportChunkFunction": (range(1, 9), 1),
}


# How often the rows of a correction cannot be read, of each copy of a message.
ATTEMPTS = 11


@dataclass(frozen=True)
class PointFault:
    """At the n-th time, from 1, that a worker of the function comes to the point.

    A worker that is stopped continues after so many seconds, or as soon as any worker has passed the point `until`.
    """

    function: str
    label: str
    is_after: bool
    nth: int
    action: Action
    seconds: float = 0.0
    until: str = ""


def draw_aimed(seed: int, *, is_cancelled: bool, has_copy: bool, copies: int) -> Iterator[PointFault]:
    """Draw the faults where chance alone seldom strikes; each kind by a draw of its own.

    `is_cancelled` says whether a file of the seed is, `has_copy` whether a message of a checked file may come twice;
    every message comes `copies` times at most.
    """
    yield from _aimed(random.Random(f"{seed} aimed"), is_cancelled=is_cancelled)
    yield from _at_completions(random.Random(f"{seed} completions"))
    yield from _at_checks(random.Random(f"{seed} checks"), has_copy=has_copy)
    yield from _at_overlays(random.Random(f"{seed} at overlays"))
    yield from _at_undos(random.Random(f"{seed} at undos"))
    yield from _at_volumes(random.Random(f"{seed} at volumes"))
    yield from _at_pages(random.Random(f"{seed} at pages"))
    yield from _at_cases(random.Random(f"{seed} at cases"))
    yield from _at_purges(random.Random(f"{seed} at purges"))
    yield from _at_steps(random.Random(f"{seed} at steps"), fails=ATTEMPTS * copies if seed % 3 == 0 else 0)


def _aimed(draw: random.Random, *, is_cancelled: bool) -> Iterator[PointFault]:
    """Where chance alone seldom strikes.

    Who saw that something is not there yet adds it late; a step or a chunk is done and not noted down; the answer of a
    request's COMMIT is lost; who numbers, owns a key or splits a file is outrun; an event is with a publisher that
    died, or that has not said which it takes, when the next one of its aggregate comes. Chunks that are under way when
    a user cancels their import go on soon enough to be seen. A worker dies after it registers chunks and before it
    sends their messages, and after it changes an exhibit and before it writes the history of that.
    """
    for function in KEYED:
        yield PointFault(function, "owned", True, draw.randint(1, 8), Action.STOP, 3.0)
    for nth in draw.sample(range(1, 25), 5 if is_cancelled else 0):
        yield PointFault("ImportChunkFunction", "claim", True, nth, Action.STOP, 0.7)
    yield PointFault("ProduceFunction", "number", False, draw.randint(1, 3), Action.STOP, 3.0)
    for _ in range(2):
        yield PointFault("ProduceFunction", "note", False, draw.randint(1, 40), Action.DIE)
        function = draw.choice([name for name in AT_WORK if "Api" in name])
        yield PointFault(function, "write", False, draw.randint(1, 12), Action.STOP, 3.0)
        yield PointFault("PublishOutboxFunction", "publish", False, draw.randint(1, 20), Action.DIE)
    for function, (times, late) in MINTING.items():
        for nth in draw.sample(times, late):
            yield PointFault(function, "mint", False, nth, Action.STOP, 1.5)
    for nth in draw.sample(range(1, 9), 2):
        yield PointFault("StartImportFunction", "fetch", True, nth, Action.STOP, 1.0)
    for nth in draw.sample(range(1, 40), 3):
        yield PointFault("PublishOutboxFunction", "claim", True, nth, Action.STOP, 1.5)
    yield PointFault("ImportChunkFunction", "commit", draw.random() < 0.5, draw.randint(1, 20), Action.DIE)
    yield PointFault("ProduceFunction", "numbered", True, draw.randint(1, 4), Action.DIE)
    yield PointFault("ProduceFunction", "recorded", True, draw.randint(1, 4), Action.DIE)
    for function in KEYED:
        yield PointFault(function, "answered", False, draw.randint(1, 8), Action.LOSE)
    # Either at its first time: a worker that is late is missing where two have to meet.
    yield PointFault("ProduceFunction", draw.choice(("place", "number")), False, 1, Action.STOP, 3.0)
    yield PointFault("StartImportFunction", "publish", False, draw.randint(1, 3), Action.DIE)
    yield PointFault("ExhibitsApiFunction", "record", False, draw.randint(1, 12), Action.DIE)


def _at_completions(draw: random.Random) -> Iterator[PointFault]:
    """Any fault at the completions of imports; and a chunk is counted down by a worker that dies, or has died before.

    Between two transactions a completion is late: a user may cancel its import meanwhile.
    """
    for _ in range(3):
        yield replace(draw_point(draw), function="CompleteImportFunction", nth=draw.randint(1, 12))
    for nth in draw.sample(range(1, 5), 2):
        yield PointFault("CompleteImportFunction", "commit", True, nth, Action.STOP, 1.0)
    for nth in draw.sample(range(1, 15), 3):
        yield PointFault("ImportChunkFunction", "counted", draw.random() < 0.7, nth, Action.DIE)


def _at_checks(draw: random.Random, *, has_copy: bool) -> Iterator[PointFault]:
    """Draw any faults at the functions of checks and profiles, and some where their protections act.

    A worker that checks a chunk, or ends a check, dies beside the commit of what it found. One that has read a chunk
    to check it continues once the file's import was requested; another one has to have a copy of its message. The owner
    of a key is late, and the answer of a request is lost.
    """
    for function in CHECKING:
        yield replace(draw_point(draw), function=function, nth=draw.randint(1, 6))
        yield PointFault(function, "owned", True, draw.randint(1, 4), Action.STOP, 3.0)
        yield PointFault(function, "answered", False, draw.randint(1, 4), Action.LOSE)
    yield PointFault("ProfilesApiFunction", "mint", False, 1, Action.STOP, 1.5)
    yield PointFault("ImportChunkFunction", "found", draw.random() < 0.5, draw.randint(1, 6), Action.DIE)
    yield PointFault("CompleteImportFunction", "found", True, draw.randint(1, 2), Action.DIE)
    if has_copy:
        yield PointFault("ImportChunkFunction", "examine", True, 1, Action.STOP, 9.0, until="ran")


def _at_overlays(draw: random.Random) -> Iterator[PointFault]:
    """Draw a worker that is late between its decision and the UPDATE, dies with it, or whose COMMIT's answer is lost.

    Others die between the values and their history, and beside the COMMIT of both.
    """
    times = iter(draw.sample(range(1, 9), 5))
    for _ in range(3):
        yield PointFault("ImportChunkFunction", "overlay", False, next(times), Action.STOP, 2.0)
    yield PointFault("ImportChunkFunction", "overlay", True, next(times), Action.DIE)
    yield PointFault("ImportChunkFunction", "record", draw.random() < 0.5, next(times), Action.DIE)
    late = iter(draw.sample(range(1, 8), 2))
    yield PointFault("ImportChunkFunction", "overlaid", draw.random() < 0.5, next(late), Action.DIE)
    yield PointFault("ImportChunkFunction", "overlaid", False, next(late), Action.LOSE)


def _at_undos(draw: random.Random) -> Iterator[PointFault]:
    """Draw workers that are late between what they read and what an undo does, or die or are late beside its COMMIT."""
    for nth in draw.sample(range(1, 8), 3):
        yield PointFault("ImportChunkFunction", "weigh", True, nth, Action.STOP, 2.0)
    times = iter(draw.sample(range(1, 7), 4))
    yield PointFault("ImportChunkFunction", "undone", False, next(times), Action.DIE)
    yield PointFault("ImportChunkFunction", "undone", True, next(times), Action.DIE)
    yield PointFault("ImportChunkFunction", "undone", False, next(times), Action.LOSE)
    yield PointFault("ImportChunkFunction", "undone", False, next(times), Action.STOP, 2.0)


def _at_volumes(draw: random.Random) -> Iterator[PointFault]:
    """Draw any faults at the functions of volumes, and some where their protections act.

    A worker dies after it stores some of the files of a part, or beside the COMMIT that ends a page of the listing, a
    part of the expansion or all of it. One that has expanded a part is late to record that; another one may have a copy
    of its message. The owner of a key is late, and the answer of a request is lost.
    """
    for _ in range(3):
        yield replace(draw_point(draw), function=PROCESS_VOLUME, nth=draw.randint(1, 10))
    yield replace(draw_point(draw), function=VOLUMES_API, nth=draw.randint(1, 6))
    yield PointFault(VOLUMES_API, "owned", True, draw.randint(1, 6), Action.STOP, 3.0)
    yield PointFault(VOLUMES_API, "answered", False, draw.randint(1, 6), Action.LOSE)
    stored = iter(draw.sample(range(2, 16), 3))
    yield PointFault(PROCESS_VOLUME, "store", True, next(stored), Action.DIE)
    yield PointFault(PROCESS_VOLUME, "store", True, next(stored), Action.STOP, 2.0)
    yield PointFault(PROCESS_VOLUME, "store", False, next(stored), draw.choice((Action.LOSE, Action.FAIL)))
    filled = iter(draw.sample(range(1, 6), 3))
    for _ in range(2):
        yield PointFault(PROCESS_VOLUME, "fill", False, next(filled), Action.STOP, 3.0)
    yield PointFault(PROCESS_VOLUME, "fill", True, next(filled), Action.DIE)
    yield PointFault(PROCESS_VOLUME, "listed", draw.random() < 0.5, draw.randint(1, 6), Action.DIE)
    yield PointFault(PROCESS_VOLUME, "listed", False, draw.randint(1, 6), Action.STOP, 2.0)
    expanded = iter(draw.sample(range(1, 6), 2))
    yield PointFault(PROCESS_VOLUME, "expanded", draw.random() < 0.7, next(expanded), Action.DIE)
    yield PointFault(PROCESS_VOLUME, "expanded", False, next(expanded), Action.LOSE)
    yield PointFault(PROCESS_VOLUME, "ready", draw.random() < 0.7, draw.randint(1, 2), Action.DIE)


def _at_pages(draw: random.Random) -> Iterator[PointFault]:
    """Draw workers that are late between what they read and the pages or files that they write, or die beside these.

    A completion dies beside the COMMIT after which the images of its rows begin.
    """
    # The first ones give documents their first pages; then come those that replace others.
    times = iter(draw.sample(range(4, 13), 4))
    for _ in range(4):
        yield PointFault("ImportChunkFunction", "page", False, next(times), Action.STOP, 3.0)
    yield PointFault("ImportChunkFunction", "page", True, draw.randint(1, 3), Action.DIE)
    paged = iter(draw.sample(range(1, 8), 2))
    yield PointFault("ImportChunkFunction", "paged", draw.random() < 0.5, next(paged), Action.DIE)
    yield PointFault("ImportChunkFunction", "paged", False, next(paged), Action.LOSE)
    yield PointFault("ImportChunkFunction", "link", draw.random() < 0.5, draw.randint(1, 5), Action.DIE)
    linked = iter(draw.sample(range(1, 5), 2))
    yield PointFault("ImportChunkFunction", "linked", draw.random() < 0.5, next(linked), Action.DIE)
    yield PointFault("ImportChunkFunction", "linked", False, next(linked), Action.LOSE)
    yield PointFault("CompleteImportFunction", "released", draw.random() < 0.5, draw.randint(1, 2), Action.DIE)


def _at_steps(draw: random.Random, *, fails: int) -> Iterator[PointFault]:
    """Draw workers that are late between what they read and the lines that they take, or the options that they change.

    Others die beside the COMMIT that accepts corrected rows, or with the lines that they take, or the answer is lost.
    In some seeds the rows of a correction cannot be read for a while.
    """
    api = "ImportChecksApiFunction"
    yield PointFault(api, "take", False, draw.randint(1, 2), Action.STOP, 1.5)
    yield PointFault(api, "take", True, draw.randint(3, 5), Action.DIE)
    for nth in draw.sample(range(1, 4), 2):
        yield PointFault(api, "alter", False, nth, Action.STOP, 2.0)
    accepted = iter(draw.sample(range(1, 6), 3))
    yield PointFault("ImportChunkFunction", "accepted", False, next(accepted), Action.DIE)
    yield PointFault("ImportChunkFunction", "accepted", True, next(accepted), Action.DIE)
    yield PointFault("ImportChunkFunction", "accepted", False, next(accepted), Action.LOSE)
    for nth in range(fails):
        yield PointFault("ImportChunkFunction", "reread", False, 1 + nth, Action.FAIL)


def _at_cases(draw: random.Random) -> Iterator[PointFault]:
    """Draw requests that are late once they have read the status of their case."""
    for function, times in (("ExhibitsApiFunction", range(1, 40)), ("CustodiansApiFunction", range(1, 20))):
        for nth in draw.sample(times, 4):
            yield PointFault(function, "entered", True, nth, Action.STOP, 1.0)


def _at_purges(draw: random.Random) -> Iterator[PointFault]:
    """Draw any faults at the purge, and some where its protections act.

    A worker is late once S3 has deleted, until another one has the turn, or dies there; it dies beside the COMMIT that
    counts what was deleted, or the answer of that is lost.
    """
    for _ in range(3):
        yield replace(draw_point(draw), function=PURGE_CASES, nth=draw.randint(1, 30))
    stored = iter(draw.sample(range(1, 6), 3))
    for _ in range(2):
        yield PointFault(PURGE_CASES, "store", True, next(stored), Action.STOP, 6.0)
    yield PointFault(PURGE_CASES, "store", draw.random() < 0.7, next(stored), Action.DIE)
    erased = iter(draw.sample(range(1, 20), 4))
    for is_after in (False, True):
        yield PointFault(PURGE_CASES, "erased", is_after, next(erased), Action.DIE)
    for _ in range(2):
        yield PointFault(PURGE_CASES, "erased", False, next(erased), Action.LOSE)


def draw_point(draw: random.Random) -> PointFault:
    """Draw any fault at any point of any function at work."""
    label, function = draw.choice(LABELS), draw.choice(AT_WORK)
    of_all = [*[Action.DIE] * 4, *[Action.STOP] * 4, Action.HANG]
    calls = [Action.FAIL, Action.THROTTLE, Action.LOSE] if label in CALLS else []
    calls += [Action.PART] if label == "publish" else []
    action = draw.choice([*of_all, *calls * 3])
    # Behind its answer a worker has no time-out: it would hang until the next invocation's.
    is_before = label == "begin" or action in calls or (label, action) == ("acknowledge", Action.HANG)
    is_after = draw.random() < 0.5 and not is_before
    # Past the leases, or a short time.
    seconds = draw.choice((0.2, 1.0, 3.0)) if action is Action.STOP else 0.0
    return PointFault(function, label, is_after, draw.randint(1, 8), action, seconds)
