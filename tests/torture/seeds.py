"""One seed on the torture's stack: all clients at work while the plan's faults strike, then silence, and the oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from tests.torture.clients import users
from tests.torture.clients.api_calls import Client, NeverAnsweredError
from tests.torture.clients.cases import CaseKeeper
from tests.torture.clients.checks import CheckingUploader
from tests.torture.clients.contention import rush, upload_at_once
from tests.torture.clients.corrections import Corrector
from tests.torture.clients.custody import hand_on
from tests.torture.clients.held import Holder
from tests.torture.clients.ledger import ROWS, Ledger
from tests.torture.clients.moves import Mover
from tests.torture.clients.overlays import Overlayer, edit, link
from tests.torture.clients.profiles import import_with_profile, keep_profiles
from tests.torture.clients.purges import Place, Purger
from tests.torture.clients.repeats import Repeater
from tests.torture.clients.suspensions import Operator
from tests.torture.clients.volumes import VolumeKeeper
from tests.torture.faults.faulty_proxy import Injection
from tests.torture.findings import UNFINISHED, WRONG, Finding
from tests.torture.oracles.cases import judge_cases, judge_fences
from tests.torture.oracles.checks import judge_checks
from tests.torture.oracles.codes import judge_codes
from tests.torture.oracles.corrections import judge_corrections
from tests.torture.oracles.events import judge_events
from tests.torture.oracles.held import judge_held
from tests.torture.oracles.history import judge_changes, judge_history
from tests.torture.oracles.imports import judge_case_names, judge_control_numbers, judge_imports, judge_twins
from tests.torture.oracles.moves import judge_moves
from tests.torture.oracles.overlays import judge_overlays
from tests.torture.oracles.profiles import judge_profiles
from tests.torture.oracles.purges import judge_purges
from tests.torture.oracles.repeats import judge_repeats
from tests.torture.oracles.requests import judge_activity, judge_requests
from tests.torture.oracles.suspensions import judge_suspensions
from tests.torture.oracles.volumes import judge_volumes
from tests.torture.plans.repeats import LINES
from tests.torture.plans.seed import CLIENTS, Plan
from tests.torture.stack.application import SCALE, TortureStack
from tests.torture.stack.outages import Statements, Troubles

IDLE_S = 180.0
Job = Callable[[], None]
Clients = Callable[[int], Client]


@dataclass
class Outcome:
    """What a seed came to, and which faults really struck."""

    ledger: Ledger
    findings: list[Finding] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)
    records: int = 0
    requests: int = 0


def run(plan: Plan, at: TortureStack) -> Outcome:
    """Play the plan, once on a stack, and judge what is left; the stack is as calm afterwards as it was before."""
    ledger = Ledger(plan.tenant, after_event=_last_event(at))
    outcome = Outcome(ledger)
    troubles = Troubles(at.database, at.redis, plan.troubles, SCALE.factor, plan.seed)
    injected = Counter(at.database.proxy.injected)
    _begin(plan, at, troubles)
    try:
        outcome.findings += _run_clients(plan, at, ledger)
    finally:
        _calm(at, troubles)
    outcome.struck = _struck(at, troubles, Counter(at.database.proxy.injected) - injected)
    outcome.struck += Counter({"command of a move KILLED": sum(each.killed for each in ledger.moves)})
    outcome.findings += _drain(at)
    try:
        outcome.findings += judge(ledger, at, plan.clients)
    except Exception as error:
        # What is not finished need not be comparable; what is known is reported all the same.
        outcome.findings.append(Finding(UNFINISHED, f"could not be judged: {type(error).__name__}: {error}"[:600]))
    outcome.records = sum(upload.made.truth.rows_seen for upload in ledger.uploads) + ROWS * len(ledger.twins)
    outcome.records += len(LINES) * len(ledger.repeats)
    outcome.records += sum(check.upload.made.truth.rows_seen for check in ledger.checks if not check.is_run)
    outcome.records += sum(len(each.plan.rows) for each in ledger.overlays)
    outcome.records += sum(len(run.sent.plan.rows) for each in ledger.volumes.values() for run in each.runs)
    outcome.records += sum(len(each.plan.rows) for each in ledger.corrections.values())
    outcome.records += sum(len(each.plan.rows) for each in ledger.held)
    outcome.requests = len(ledger.answers)
    if not outcome.findings:
        at.quiet.append(plan.tenant)
    return outcome


def _begin(plan: Plan, at: TortureStack, troubles: Troubles) -> None:
    at.delivery.behave(plan.seed, plan.copies)
    at.subscriber.heard.clear()
    at.subscriber.early.clear()
    at.controller.arm(plan.points)
    at.controller.on_commit = troubles.on_commit
    at.database.proxy.decide = Statements(plan.statements).decide


def _calm(at: TortureStack, troubles: Troubles) -> None:
    at.controller.disarm()
    at.database.proxy.decide = None
    at.database.proxy.too_many_connections(0)
    troubles.wait_until_over()
    at.database.proxy.end_old()


def _run_clients(plan: Plan, at: TortureStack, ledger: Ledger) -> Iterator[Finding]:
    """All at work; who got no answer, or an unexpected one, is a finding."""
    jobs = list(_jobs(plan, at, ledger))
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(job) for job in jobs]:
            try:
                future.result()
            except NeverAnsweredError as error:
                yield Finding(UNFINISHED, str(error))
            except Exception as error:
                yield Finding(WRONG, f"{type(error).__name__}: {str(error)[:500]}")


def _jobs(plan: Plan, at: TortureStack, ledger: Ledger) -> Iterator[Job]:
    token = at.stack.tokens.issue(plan.tenant, "user")

    def client(number: int) -> Client:
        return Client(at.stack.api_url, token, ledger, random.Random(f"{plan.seed} {number}"))

    for name, job in (*_uploads(plan, at, client), *_requests(plan, at, client)):
        if name in plan.clients:
            yield job


def _uploads(plan: Plan, at: TortureStack, client: Clients) -> Iterator[tuple[str, Job]]:
    given = (at.stack.s3, at.stack.bucket)
    for number, file in enumerate(plan.files):
        if file.check:
            yield "files", CheckingUploader(client(number), client(70 + number), *given, file, at.database).run
        else:
            yield "files", users.Uploader(client(number), *given, file, at.database).run
    for number, case in enumerate(plan.volumes):
        yield "volumes", VolumeKeeper(client(100 + number), client(110 + number), at.database, case).run
    for number, rejected in enumerate(plan.corrections):
        yield "corrections", Corrector(client(120 + number), client(125 + number), rejected).run
    wake = partial(at.stack.sqs.send_message, QueueUrl=at.stack.queue_url("CasePurgesQueue"), MessageBody="{}")
    for number, purged in enumerate(plan.purges):
        yield "purges", Purger(client(150 + number), client(155 + number), Place(at.database, *given, wake), purged).run
    yield "repeats", Repeater(client(135), client(136), plan.repeats).run
    if plan.held is not None:
        yield "held", Holder(client(130), client(131), at.database, plan.held).run


def _requests(plan: Plan, at: TortureStack, client: Clients) -> Iterator[tuple[str, Job]]:
    yield "base", lambda: _at_the_base(at, client)
    for number in (20, 21):
        yield "custody", partial(hand_on, client(number))
    yield "contention", partial(rush, client(22), client(23))
    yield "contention", partial(upload_at_once, client(24), client(25))
    yield "profiles", partial(keep_profiles, client(80), client(81))
    yield "profiles", partial(import_with_profile, client(82))
    overlayer = Overlayer(client(90), client(89), at.database, plan.steps)
    yield "overlays", lambda: _during_overlays(overlayer, client)
    yield "cases", CaseKeeper(client(140), client(141), plan.cases).run
    set_status = partial(at.set_tenant_status, plan.tenant)
    yield "suspensions", Operator(client(160), at.database, set_status, plan.suspensions).run
    if at.quiet and "moves" in plan.clients:
        yield "moves", Mover(client(161).ledger, at, at.quiet.pop(), plan.moves).run


def _at_the_base(at: TortureStack, client: Clients) -> None:
    """Once there is a case to work on, all clients work on it."""
    exhibits = users.bring_in_the_base(client(10), at.stack.s3, at.stack.bucket)
    work = [users.tag, users.correct, users.name]
    with ThreadPoolExecutor(6 + users.PRODUCTIONS) as pool:
        futures = [
            pool.submit(does, client(30 + 10 * place + turn), exhibits, turn)
            for place, does in enumerate(work)
            for turn in range(2)
        ]
        futures += [pool.submit(users.produce, client(60 + turn), turn) for turn in range(users.PRODUCTIONS)]
    for future in futures:
        future.result()


def _during_overlays(overlayer: Overlayer, client: Clients) -> None:
    """Once there are documents, they are overlaid, and others work on them until that has ended."""
    overlayer.create_documents()
    with ThreadPoolExecutor(5) as pool:
        futures = [pool.submit(overlayer.run)]
        for place, does in enumerate((edit, link)):
            for turn in range(2):
                futures.append(pool.submit(does, client(91 + 2 * place + turn), overlayer, turn))
    for future in futures:
        future.result()


def _drain(at: TortureStack) -> Iterator[Finding]:
    try:
        at.stack.wait_until_idle(IDLE_S)
    except TimeoutError as error:
        yield Finding(UNFINISHED, str(error)[:800])
    actors_done = "SELECT COUNT(*) FROM outbox_events WHERE published <> 1"
    try:
        users.until(lambda: at.database.query(actors_done)[0][0] == 0, "all events published")
        users.until(lambda: _all_heard(at), "all events heard")
    except NeverAnsweredError as error:
        yield Finding(UNFINISHED, str(error))
    if at.subscriber.broken:
        raise at.subscriber.broken
    for queue, count in at.dead_letters().items():
        yield Finding(UNFINISHED, f"{count} messages lie in {queue}")


def _all_heard(at: TortureStack) -> bool:
    times = at.subscriber.times_heard()
    last = max(times, default=0)
    return not times or last >= _last_event(at)


def _last_event(at: TortureStack) -> int:
    return int(at.database.query("SELECT COALESCE(MAX(id), 0) FROM outbox_events")[0][0])


def judge(ledger: Ledger, at: TortureStack, clients: frozenset[str] = CLIENTS) -> Iterator[Finding]:
    """What is wrong with what is there, by what these clients sent and were answered."""
    s3, bucket = at.stack.s3, at.stack.bucket
    yield from judge_case_names(ledger, at.database)
    yield from judge_imports(ledger, at.database, s3, bucket)
    yield from judge_control_numbers(ledger, at.database)
    yield from judge_codes(at.database)
    of_clients: list[tuple[str, Iterator[Finding]]] = [
        ("contention", judge_twins(ledger, at.database)),
        ("files", judge_checks(ledger, at.database, s3, bucket)),
        ("profiles", judge_profiles(ledger, at.database)),
        ("overlays", judge_overlays(ledger, at.database)),
        ("volumes", judge_volumes(ledger, at.database, s3, bucket)),
        ("corrections", judge_corrections(ledger, at.database)),
        ("held", judge_held(ledger, at.database)),
        ("cases", judge_cases(ledger, at.database)),
        ("purges", judge_purges(ledger, at.database, s3, bucket)),
        ("suspensions", judge_suspensions(ledger, at.database)),
        ("repeats", judge_repeats(ledger, at.database)),
        ("moves", judge_moves(ledger, at.cells)),
    ]
    for name, found in of_clients:
        if name in clients:
            yield from found
    if clients == CLIENTS:
        yield from judge_activity(ledger)
    yield from judge_events(ledger, at.database, at.subscriber)
    yield from judge_requests(ledger, at.database, s3, bucket)
    yield from judge_history(at.database)
    yield from judge_changes(ledger, at.database)
    yield from judge_fences(ledger, at.database)


def _struck(at: TortureStack, troubles: Troubles, injected: Counter[Injection]) -> Counter[str]:
    """Faults that really happened, by kind."""
    found = Counter(f"{each.label} {each.action.name}" for each in at.controller.struck)
    found.update({f"statement {kind.name}": count for kind, count in injected.items()})
    found.update(f"server {each.name}" for each in troubles.begun)
    return found
