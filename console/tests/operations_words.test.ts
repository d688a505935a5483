import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { describeRetried } from "../src/features/operations/queries";
import {
  countShown,
  describeObject,
  describeState,
  explainFailure,
  explainMissed,
  explainRefusal,
  findPage,
  formatAge,
  summarize,
} from "../src/features/operations/words";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const work: Schemas["Work"] = {
  id: 12,
  status: "running",
  caseId: 7,
  case: "Smith v. Jones",
  name: "rows.dat",
  since: "2026-11-27T11:48:00Z",
  chunksFailed: 0,
  code: null,
  reason: null,
  canBeRetried: false,
};
const group = (state: Schemas["WorkState"], total = 1, isLowerBound = false): Schemas["WorkGroup"] => ({
  kind: "import",
  state,
  total,
  totalIsLowerBound: isLowerBound,
  items: [],
});
const event: Schemas["DeadLetter"] = {
  id: 9,
  eventType: "import.completed",
  target: "sns",
  objectType: "import",
  objectId: "12",
  createdAt: "2026-11-27T11:00:00Z",
  deadLetteredAt: null,
  attempts: 5,
  refusals: 5,
  refusal: "InvalidParameter",
};

test("an age has its largest unit", () => {
  expect(formatAge("2026-11-27T11:59:30Z", NOW)).toBe("less than a minute");
  expect(formatAge("2026-11-27T11:48:00Z", NOW)).toBe("12 min");
  expect(formatAge("2026-11-26T13:00:00Z", NOW)).toBe("23 h");
  expect(formatAge("2026-11-26T11:00:00Z", NOW)).toBe("1 day");
  expect(formatAge("2026-11-27T12:00:05Z", NOW), "a clock that is slow").toBe("less than a minute");
});

test("a state says since when", () => {
  expect(describeState(group("waiting"), work, NOW)).toBe("waits 12 min for a turn");
  expect(describeState(group("waiting"), { ...work, status: "waiting" }, NOW)).toContain("its load file");
  expect(describeState(group("running"), { ...work, status: "splitting" }, NOW)).toBe("being split · 12 min");
  expect(describeState(group("failed"), { ...work, status: "needs_attention" }, NOW)).toBe("needs attention · 12 min");
  expect(describeState(group("failed"), { ...work, status: "failed" }, NOW)).toBe("failed 12 min ago");
});

test("the first line counts what is there and nothing else", () => {
  const events = { total: 0, totalIsLowerBound: false, items: [] };
  expect(summarize({ groups: [], events, failedDays: 14 })).toEqual([]);
  const groups = [group("failed", 100, true), group("failed", 2), group("running")];
  const found = summarize({ groups, events: { ...events, total: 1 }, failedDays: 14 });
  expect(found.map((each) => each.words)).toEqual(["102 or more failed", "1 event not published", "1 runs"]);
  expect(countShown(100, true)).toBe("100 or more");
});

test("failures say what to do", () => {
  expect(explainFailure("import", { ...work, chunksFailed: 2 })).toContain("2 parts of the file failed");
  expect(explainFailure("undo", work)).toContain("Undo the import again");
  expect(explainFailure("production", { ...work, reason: "A file is missing" })).toBe("A file is missing");
});

test("an event says what it is about, why it was refused and what waits for it", () => {
  expect(describeObject(event)).toEqual({ words: "Import 12", page: "/imports/12" });
  expect(describeObject({ ...event, objectType: "chunk", objectId: "12/3" }).page).toBe("/imports/12");
  expect(describeObject({ ...event, objectType: "export" }).page).toBeNull();
  expect(explainRefusal(event)).toBe("refused 5 times by the topic of events (InvalidParameter)");
  expect(explainMissed(event)).toBe("its report files are not written");
  expect(explainMissed({ ...event, target: "bus" })).toContain("were not notified");
});

test("everything has a page", () => {
  expect(findPage("undo", work)).toBe("/imports/12");
  expect(findPage("volume", { ...work, status: "failed" })).toBe("/import/volume/12");
  expect(findPage("volume", { ...work, status: "hashing" })).toBe("/cases/7/imports");
  expect(findPage("export", work)).toBe("/cases/7/documents?work=export:12");
  expect(findPage("tagging_job", work)).toBe("/cases/7/documents?work=tagging_job:12");
});

test("the result of a retry is described", () => {
  expect(describeRetried({ retried: 0, left: 0, leftIsLowerBound: false })).toBe("Nothing was left to retry.");
  expect(describeRetried({ retried: 1, left: 1, leftIsLowerBound: false })).toBe(
    "1 event is published again. 1 is left.",
  );
  expect(describeRetried({ retried: 1000, left: 100, leftIsLowerBound: true })).toContain("100 or more are left.");
});
