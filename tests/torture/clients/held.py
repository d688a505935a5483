"""Users who hold an import, change its options, have it checked and run, at once and one after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import Answered, Client
from tests.torture.clients.contention import at_once, together
from tests.torture.clients.users import ENDED, expect, put_to, see_to, until
from tests.torture.models.held import HeldCourse
from tests.torture.models.written_rows import count_written
from tests.torture.plans.held import HELD_CASE, READINGS, Act, HeldPlan, HeldStep

# A check of two rows that are rejected has errors.
ACCEPT = {"acceptRejections": True}


class Holder:
    """Takes the steps of the plan; `second` is another client of the same tenant."""

    def __init__(self, client: Client, second: Client, committed: Queried, plan: HeldPlan) -> None:
        self._client, self._second, self._committed, self._plan = client, second, committed, plan
        self._course = HeldCourse(plan)
        client.ledger.held.append(self._course)

    def run(self) -> None:
        """Until all steps were taken, or the file runs."""
        client, plan = self._client, self._plan
        body = {"case": HELD_CASE, "fileName": "held.csv", "size": len(plan.data), "hold": True}
        answered = client.change("POST", "/imports", body | {"options": READINGS[plan.reading].options})
        expect(client, answered.status == 201, "announcing a file that is held", answered)
        self._course.import_id, self._course.readings[1] = answered.body["id"], plan.reading
        for step in plan.early:
            self._take(step)
        until(partial(put_to, answered.body["upload"], plan.data), "the upload of a file that is held")
        until(lambda: self._find_status() == "uploaded", f"import {self._course.import_id} to be held")
        for step in plan.steps:
            if not self._course.confirmed:
                self._take(step)
        if self._course.confirmed:
            see_to(client, self._course.import_id)

    @property
    def _path(self) -> str:
        return f"/imports/{self._course.import_id}"

    def _find_status(self) -> str:
        return str(self._client.get(self._path).body["status"])

    def _take(self, step: HeldStep) -> None:
        course = self._course
        taken: dict[Act, Callable[[], object]] = {
            Act.CHANGE: lambda: self._note_changes([self._change(self._client, step.reading)], [step.reading]),
            Act.CHANGE_BY_TWO: lambda: self._change_by_two(step.reading),
            Act.CHANGE_AND_RUN: lambda: self._change_and_run(step.reading),
            Act.CHECK: self._check,
            Act.CHECK_AND_CANCEL: lambda: self._check(is_cancelled=True),
            Act.CANCEL: lambda: self._cancel_and_retry("uploaded", "checked"),
            Act.RUN_OTHERS: self._run_others,
            Act.RUN: lambda: self._note_runs([self._run(self._client, course.version)]),
            Act.RUN_BY_TWO: self._run_by_two,
            Act.RUN_AND_CANCEL: self._run_and_cancel,
        }
        taken[step.act]()
        if not course.confirmed and (written := count_written(self._committed, course.import_id)):
            self._client.ledger.complain(f"misplaced: import {course.import_id}, which is held, wrote {written}")

    def _change(self, client: Client, reading: int) -> Answered:
        body, seen = {"options": READINGS[reading].options}, f'"{self._course.version}"'
        return client.change("PUT", f"{self._path}/options", body, if_match=seen)

    def _note_changes(self, answers: list[Answered], readings: list[int]) -> None:
        """Of all that have seen one version one change is accepted."""
        accepted = [pair for pair in zip(answers, readings, strict=True) if pair[0].status == 200]
        if len(accepted) > 1:
            self._client.ledger.complain(f"lost: the options of {self._path} were changed twice from one version")
        expect(self._client, len(accepted) > 0, "changing options", answers)
        for answered, reading in accepted:
            self._course.readings[answered.body["optionsVersion"]] = reading

    def _change_by_two(self, reading: int) -> None:
        # In the end the file can be read: either reading is possible.
        readings = [reading, 1 - reading]
        calls = [
            partial(self._change, who, each) for who, each in zip((self._client, self._second), readings, strict=True)
        ]
        self._note_changes(together(*calls), readings)

    def _change_and_run(self, reading: int) -> None:
        """Change the options while another user runs what both have seen: only one of them is accepted."""
        seen = self._course.version
        changed, ran = together(partial(self._change, self._client, reading), partial(self._run, self._second, seen))
        statuses = (changed.status, ran.status)
        if statuses == (200, 200):
            self._client.ledger.complain(f"misplaced: {self._path} runs with options that changed meanwhile")
        expect(self._client, statuses in ((200, 200), (200, 412), (409, 200)), "changing and running", statuses)
        if changed.status == 200:
            self._course.readings[changed.body["optionsVersion"]] = reading
        if ran.status == 200:
            self._course.confirmed.append(seen)

    def _check(self, *, is_cancelled: bool = False) -> None:
        """Have the file checked, and see to it until that has ended; cancel and retry the check meanwhile, or not."""
        answered = self._client.change("POST", f"{self._path}/check", if_match=f'"{self._course.version}"')
        expect(self._client, answered.status == 200, "having a file checked", answered)
        if is_cancelled:
            self._cancel_and_retry("splitting", "checking")
        status = see_to(self._client, self._course.import_id, ENDED | {"checked"})
        expected = "checked" if self._course.reading.is_possible else "failed"
        expect(self._client, status == expected, f"checking {self._path}, {expected}", status)

    def _cancel_and_retry(self, *statuses: str) -> None:
        """Cancel what is held or under way, and retry it: it is held again, or goes on."""
        if self._client.change("POST", f"{self._path}/cancel").status != 200:
            return
        answered = self._client.change("POST", f"{self._path}/retry")
        expect(self._client, answered.status == 200, "retrying what was held", answered)
        expect(self._client, answered.body.get("status") in statuses, f"retrying, {statuses}", answered)

    def _run(self, client: Client, seen: int) -> Answered:
        return client.change("POST", f"{self._path}/run", ACCEPT, if_match=f'"{seen}"')

    def _note_runs(self, answers: list[Answered], seen: int | None = None) -> None:
        accepted = [each for each in answers if each.status == 200]
        if len(accepted) > 1:
            self._client.ledger.complain(f"doubled: a run of {self._path} was accepted {len(accepted)} times")
        self._course.confirmed += [self._course.version if seen is None else seen] * len(accepted)

    def _run_others(self) -> None:
        """Run it with a version of the options that another user has changed since, which is refused."""
        answered = self._run(self._second, self._course.version - 1)
        expect(self._client, answered.status in (200, 412), "running options that were changed", answered)
        self._note_runs([answered], self._course.version - 1)

    def _run_by_two(self) -> None:
        seen = f'"{self._course.version}"'
        answers = at_once(self._client, self._second, "POST", f"{self._path}/run", ACCEPT, if_match=seen)
        expect(self._client, sorted(each.status for each in answers) == [200, 409], "running at once", answers)
        self._note_runs(answers)

    def _run_and_cancel(self) -> None:
        self._note_runs([self._run(self._client, self._course.version)])
        self._cancel_and_retry("splitting", "running")
