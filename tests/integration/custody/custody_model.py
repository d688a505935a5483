"""What custody must do, as a simple model, and random requests to it.

Hours are numbers, and an end that is None has not come. Every request has a label and names what it makes by that and
by the place in it, so that the names do not depend on who came first. What is recorded is an immutable tuple:
to go back to an earlier state is to have kept it. Nothing here comes from the application.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

Name = tuple[str, int]
NO_NAME: Name = ("none", 0)
NEVER = 10**6
NOTES = [None, "a", "b"]
# Short, so that many periods touch and many overlap; some have no end, and a few end too soon.
DURATIONS = [2, 2, 2, 1, 1, 3, 3, 4, 4, None, None, 0]


class Period(NamedTuple):
    """A period that is recorded, or was."""

    name: Name
    device: int
    begin: int
    end: int | None
    note: str | None
    version: int = 1


class Element(NamedTuple):
    """What a request has for one device."""

    device: int
    begin: int
    end: int | None
    note: str | None


class Add(NamedTuple):
    """Record all of these, or none."""

    label: str
    elements: Sequence[Element]


class Change(NamedTuple):
    """Give the period another begin, end or note, if it is at one of these versions."""

    label: str
    name: Name
    versions: frozenset[int]
    values: dict[str, Any]


class Remove(NamedTuple):
    """Remove the period, if it is at one of these versions."""

    label: str
    name: Name
    versions: frozenset[int]


class Transfer(NamedTuple):
    """End the period around `at`, which must be `source` if that is given, and begin another."""

    label: str
    device: int
    at: int
    end: int | None
    note: str | None
    source: Name | None


class Outcome(NamedTuple):
    """Its kind; beside `ok` the periods it left or removed, `overlap` the conflicts, `stale` the version to be read.

    A conflict is the place of an element with what it overlaps: a period, from its name to its end, or another place.
    """

    kind: str
    response: Any = None


class RefusedError(Exception):
    """Nothing was recorded."""

    def __init__(self, kind: str, response: object = None) -> None:
        super().__init__(kind)
        self.outcome = Outcome(kind, response)


Request = Add | Change | Remove | Transfer
State = tuple[Period, ...]
NOTHING: State = ()


def answer(state: State, request: Request) -> tuple[State, Outcome]:
    """What is recorded after the request, and what is answered."""
    try:
        after, response = _applied(state, request)
    except RefusedError as refused:
        return state, refused.outcome
    return after, Outcome("ok", response)


def _applied(state: State, request: Request) -> tuple[State, State]:
    match request:
        case Add():
            return _add(state, request)
        case Change():
            return _change(state, request)
        case Remove():
            found = _at_version(state, request)
            return _without(state, found), (found,)
        case Transfer():
            return _transfer(state, request)


def _add(state: State, request: Add) -> tuple[State, State]:
    made = tuple(Period((request.label, place), *each) for place, each in enumerate(request.elements))
    _refuse_empty(made)
    _refuse_overlaps(made, state)
    return state + made, made


def _change(state: State, request: Change) -> tuple[State, State]:
    found = _at_version(state, request)
    others, changed = _without(state, found), found._replace(version=found.version + 1, **request.values)
    _refuse_empty([changed])
    _refuse_overlaps([changed], others)
    return (*others, changed), (changed,)


def _transfer(state: State, request: Transfer) -> tuple[State, State]:
    begun = Period((request.label, 0), request.device, request.at, request.end, request.note)
    _refuse_empty([begun])
    around = [each for each in state if each.device == request.device and each.begin < request.at < _end(each)]
    if not around or request.source not in (None, around[0].name):
        raise RefusedError("wrong_state")
    others, ended = _without(state, around[0]), around[0]._replace(end=request.at, version=around[0].version + 1)
    _refuse_overlaps([begun], others)
    return (*others, ended, begun), (ended, begun)


def _at_version(state: State, request: Change | Remove) -> Period:
    for each in state:
        if each.name == request.name:
            if each.version not in request.versions:
                raise RefusedError("stale", each.version)
            return each
    raise RefusedError("not_found")


def _refuse_empty(requested: Iterable[Period]) -> None:
    if any(each.begin >= _end(each) for each in requested):
        raise RefusedError("invalid")


def _refuse_overlaps(requested: Sequence[Period], others: State) -> None:
    places = range(len(requested))
    recorded = {(place, *other[:4]) for place in places for other in others if _overlap(requested[place], other)}
    within = {(one, two) for one, two in combinations(places, 2) if _overlap(requested[one], requested[two])}
    if recorded or within:
        raise RefusedError("overlap", frozenset(recorded | within))


def _overlap(one: Period, two: Period) -> bool:
    return one.device == two.device and one.begin < _end(two) and two.begin < _end(one)


def _end(period: Period) -> int:
    return NEVER if period.end is None else period.end


def _without(state: State, period: Period) -> State:
    return tuple(each for each in state if each != period)


def recorded(requests: Iterable[Request], state: State = NOTHING) -> State:
    """What is recorded after all of them."""
    for each in requests:
        state = answer(state, each)[0]
    return state


def script(chosen: Random, length: int, label: str = "", state: State = NOTHING) -> list[Request]:
    """Requests of one client that begins with what it knows of `state`, and learns from its answers."""
    known, made = {each.name: each for each in state}, list[Request]()
    for number in range(length):
        made.append(_request(chosen, [*state, *state, *known.values()], f"{label}{number}"))
        state, outcome = answer(state, made[-1])
        if outcome.kind == "ok":
            known |= {each.name: each for each in outcome.response}
    return made


def scripts_at_once(chosen: Random, state: State) -> list[list[Request]]:
    """Those of three or four clients who all know `state`."""
    clients = range(chosen.randint(3, 4))
    return [script(chosen, chosen.randint(1, 2), f"client {number}, ", state) for number in clients]


def _request(chosen: Random, known: Sequence[Period], label: str) -> Request:
    kind = chosen.choice([Add, Add, Change, Change, Remove, Transfer, Transfer])
    if kind is Add or not known:
        return Add(
            label, [_element(chosen, chosen.choice([1, 1, 2]), _hour(chosen)) for _ in range(chosen.randint(1, 3))]
        )
    period = chosen.choice([*known, Period(NO_NAME, 1, 1, 2, None)])
    rightly = {period.version}
    versions = frozenset(chosen.choice([rightly, rightly, rightly, {1, 2, 3, *rightly}, {period.version + 1}]))
    if kind is Remove:
        return Remove(label, period.name, versions)
    if kind is Change:
        return Change(label, period.name, versions, _values(chosen))
    requested = _element(chosen, period.device, period.begin + chosen.choice([1, 1, 2, 0]))
    return Transfer(label, *requested, chosen.choice([None, None, period.name, period.name, NO_NAME]))


def _element(chosen: Random, device: int, begin: int) -> Element:
    hours = chosen.choice(DURATIONS)
    return Element(device, begin, None if hours is None else begin + hours, chosen.choice(NOTES))


def _values(chosen: Random) -> dict[str, Any]:
    end = chosen.choice([_hour(chosen), _hour(chosen), None])
    values = {"begin": _hour(chosen), "end": end, "note": chosen.choice(NOTES)}
    return {name: values[name] for name in chosen.sample(sorted(values), chosen.randint(1, 3))}


def _hour(chosen: Random) -> int:
    return chosen.randint(0, 11)
