"""What callers sent and were answered: all that the oracles know, none of it from the application's tables."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from samples.generator import Generated
from tests.torture.models.cases import CaseCourse
from tests.torture.models.corrections import CorrectionCourse
from tests.torture.models.held import HeldCourse
from tests.torture.models.purged_cases import PurgeCourse
from tests.torture.models.stored_documents import Case
from tests.torture.models.stored_volumes import VolumeCourse
from tests.torture.plans.overlays import OverlayPlan

if TYPE_CHECKING:
    from tests.support.tenants.two_schemas import Rows

# The case that callers work on, and how many documents it has.
BASE, DOCUMENTS = "Base", 8
# The case into which two bring the same documents at once, and how many.
TWINS, ROWS = "Twins", 18


def native(number: int) -> bytes:
    """What the native of a document of the base holds."""
    return f"document {number}".encode()


@dataclass
class Upload:
    """A load file that was put into the bucket, and its import; `has_twin` where one of the case has the same rows."""

    case: str
    made: Generated
    has_twin: bool
    import_id: int = 0
    status: str = ""


@dataclass
class Check:
    """The check of an upload, and what its caller read of it once it had finished: `result` is None before.

    `unchanged` says whether the case had all rows of the file before.
    """

    upload: Upload
    is_run: bool
    unchanged: bool
    result: dict[str, Any] | None = None
    findings: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Overlaying:
    """A file that created or overlaid documents; `before` and `after` are the documents of the case then.

    It `is_partial` if it was cancelled and left so.
    """

    plan: OverlayPlan
    import_id: int
    before: Case
    after: Case = field(default_factory=dict)
    is_partial: bool = False


@dataclass
class Undoing:
    """An undo of a file, or a dry run of one, as it was answered, with the documents of the case before and after."""

    import_id: int
    undo_no: int
    is_dry_run: bool
    before: Case
    after: Case = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What findings call it."""
        return f"undo {self.undo_no} of import {self.import_id}"


@dataclass(frozen=True)
class Linking:
    """A request that named custodians or tags of exhibits that are overlaid; `action` is that of the history."""

    action: str
    exhibits: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What a request under a key was answered in the end."""

    method: str
    path: str
    key: str
    status: int
    body: Any


@dataclass(frozen=True)
class Repeat:
    """An import of a file that is imported again: the lines of documents corrected before it, and beside it."""

    import_id: int
    before: frozenset[int]
    beside: frozenset[int]


@dataclass(frozen=True)
class Suspension:
    """A status that the tenant had, with the ids of the last act and the last event at its begin and its end."""

    status: str
    begin: tuple[int, int]
    end: tuple[int, int]


@dataclass
class Move:
    """A tenant that is moved, and its rows before that; how often a command was killed, and what the last one wrote."""

    tenant: str
    before: Rows
    killed: int = 0
    last: str = ""


@dataclass
class Ledger:
    """One seed's; callers write it from threads of their own. Its events are those behind the id `after_event`."""

    tenant: str
    after_event: int = 0
    base_import: int = 0
    twins: list[int] = field(default_factory=list)
    uploads: list[Upload] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    # By profile and version: what it was answered as; and the profiles whose deletion was answered.
    profiles: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    deleted_profiles: set[int] = field(default_factory=set)
    # The imports that named a profile, each with the name and version that it was answered to use.
    profiled: dict[int, dict[str, Any]] = field(default_factory=dict)
    # What was done to the case that is overlaid, in its order. Of what editors of its exhibits were answered: exhibits
    # that were not found, by exhibit and version the fields that were given, and the requests that linked names.
    steps: list[Overlaying | Undoing] = field(default_factory=list)
    missed: list[tuple[int, ...]] = field(default_factory=list)
    edits: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)
    linkings: list[Linking] = field(default_factory=list)
    # By the name of the case.
    volumes: dict[str, VolumeCourse] = field(default_factory=dict)
    corrections: dict[str, CorrectionCourse] = field(default_factory=dict)
    held: list[HeldCourse] = field(default_factory=list)
    cases: CaseCourse = field(default_factory=CaseCourse)
    purges: list[PurgeCourse] = field(default_factory=list)
    suspensions: list[Suspension] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    repeats: list[Repeat] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    taggings: set[tuple[int, str]] = field(default_factory=set)
    # By period and version: what it was left as, and by what.
    custody: dict[tuple[int, int], tuple[str, dict[str, Any]]] = field(default_factory=dict)
    # By exhibit and version: the title that it was given.
    titles: dict[int, dict[int, str]] = field(default_factory=dict)
    # By exhibit and action: how many requests changed its links, or named some that it had.
    changes: Counter[tuple[int, str]] = field(default_factory=Counter)
    custodians: dict[str, set[int]] = field(default_factory=dict)
    links: set[tuple[int, str]] = field(default_factory=set)
    productions: dict[int, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def overlays(self) -> list[Overlaying]:
        """The files of the case that is overlaid."""
        return [each for each in self.steps if isinstance(each, Overlaying)]

    @property
    def undos(self) -> list[Undoing]:
        """The undos of files of the case that is overlaid, and dry runs of them."""
        return [each for each in self.steps if isinstance(each, Undoing)]

    @property
    def volume_imports(self) -> set[int]:
        """The imports of volumes, checks too."""
        return {import_id for course in self.volumes.values() for import_id in course.imports}

    @property
    def step_imports(self) -> set[int]:
        """The imports that were held, those whose rows were corrected, and those of corrected rows."""
        corrected = {import_id for course in self.corrections.values() for import_id in course.imports}
        return corrected | {course.import_id for course in self.held}

    def is_purged(self, answer: Answer) -> bool:
        """Whether the response is of a case that was purged, with all responses to its clients."""
        name = answer.key.rpartition("-")[0]
        return any(name in course.clients for course in self.purges)

    def answered(self, answer: Answer) -> None:
        """Note what a request came to."""
        with self._lock:
            self.answers.append(answer)

    def recorded(self, period: dict[str, Any], action: str) -> None:
        """Note a version of a custody period; each may be answered once."""
        place = (period["id"], period["version"])
        with self._lock:
            if place in self.custody and self.custody[place] != (action, period):
                self.wrong.append(f"doubled: custody period {place[0]} has version {place[1]} twice")
            self.custody[place] = (action, period)

    def versioned(self, profile: dict[str, Any]) -> None:
        """Note a version of a mapping profile; each may be answered with one content."""
        place = (profile["id"], profile["version"])
        with self._lock:
            if self.profiles.setdefault(place, profile) != profile:
                self.wrong.append(f"doubled: profile {place[0]} has version {place[1]} twice")

    def titled(self, exhibit: int, version: int, title: str) -> None:
        """Note a version of an exhibit's title."""
        with self._lock:
            versions = self.titles.setdefault(exhibit, {})
            if version in versions:
                self.wrong.append(f"doubled: exhibit {exhibit} has version {version} twice")
            versions[version] = title

    def edited(self, exhibit: int, version: int, fields: dict[str, str]) -> None:
        """Note a version of an exhibit that is overlaid."""
        with self._lock:
            if (exhibit, version) in self.edits:
                self.wrong.append(f"doubled: exhibit {exhibit} has version {version} twice")
            self.edits[exhibit, version] = fields

    def linked(self, exhibits: Iterable[int], action: str) -> None:
        """Note a request that changed the links of each exhibit."""
        with self._lock:
            self.changes.update((exhibit, action) for exhibit in exhibits)

    def named(self, name: str, custodian_id: int) -> None:
        """Note the id that a name was answered with."""
        with self._lock:
            self.custodians.setdefault(name, set()).add(custodian_id)

    def complain(self, what: str) -> None:
        """Note what must not be answered at all."""
        with self._lock:
            self.wrong.append(what)
