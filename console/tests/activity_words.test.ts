import { beforeAll, expect, test, vi } from "vitest";
import { beginOf, groupByDay, nameDay } from "../src/features/activity/days";
import { readFilters, toQuery, writeFilters } from "../src/features/activity/filters";
import { describeSummary, findPage, nameAction, splitAction, type Activity } from "../src/features/activity/words";
import { findPlace, pathIn } from "../src/ui/places";

beforeAll(() => {
  vi.stubEnv("TZ", "Europe/Berlin");
});

const at = (...times: string[]) => times.map((each) => ({ at: each }));

test("a day is local, and has 23 or 25 hours when the clocks change", () => {
  const days = groupByDay(
    at("2026-10-25T23:30:00Z", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z", "2026-10-24T21:59:59.999999Z"),
  );
  expect(days.map(({ day, items }) => [day, items.length])).toEqual([
    ["2026-10-26", 1],
    ["2026-10-25", 2],
    ["2026-10-24", 1],
  ]);
  expect(groupByDay([])).toEqual([]);
});

test("days have names, also on the day after the clocks changed", () => {
  const now = new Date(2026, 9, 26, 0, 30);
  expect(["2026-10-26", "2026-10-25", "2026-10-24"].map((day) => nameDay(day, now))).toEqual([
    "Today",
    "Yesterday",
    "Saturday, October 24, 2026",
  ]);
});

test("the filters of an address are those of the API, and what is none is left out", () => {
  const address = new URLSearchParams("user=ada&object=tagging_job:7&action=import.run&from=2026-10-25");
  const filters = readFilters(address);
  expect(toQuery(filters)).toEqual({
    user: "ada",
    object: "tagging_job:7",
    action: "import.run",
    from: "2026-10-24T22:00:00.000Z",
  });
  expect(readFilters(new URLSearchParams(writeFilters(filters)))).toEqual(filters);
  expect(toQuery(readFilters(new URLSearchParams("object=import:0&from=2026-02-30&user=%20")))).toEqual({});
  expect(beginOf("2026-13-01")).toBeNull();
});

const activity = (more: Partial<Activity>): Activity => ({
  ...{ id: 1, at: "", userId: "ada", userName: null, action: "import.run", objectType: "import", objectId: 7 },
  ...{ caseId: 3, case: "Smith", summary: {}, ...more },
});

test("each object leads to its page, where the user may open it", () => {
  const page = (objectType: string, canImport = true) => findPage(activity({ objectType }), canImport);
  expect(["import", "exhibit", "device", "production", "case"].map((each) => page(each))).toEqual([
    "/imports/7",
    "/cases/3/documents?open=7",
    "/custody/7",
    "/productions/7",
    "/cases/7/documents",
  ]);
  expect([page("volume"), page("volume", false)]).toEqual(["/import/volume/7", "/cases/3/imports"]);
  expect(["export", "tagging_job"].map((each) => page(each))).toEqual([
    "/cases/3/documents?work=export:7",
    "/cases/3/documents?work=tagging_job:7",
  ]);
  expect(findPage(activity({ objectType: "export", caseId: null }), true)).toBeNull();
  expect(page("later_kind")).toBeNull();
});

test("counts, codes and ids are words, and an unknown action stays as it is", () => {
  expect(describeSummary({ status: "completed_with_rejections", imported: 2990, rejected: 10, version: 3 })).toBe(
    "completed with rejections, 2,990 imported, 10 rejected",
  );
  expect(describeSummary({ dryRun: true, endedPeriodId: 4, code: "EMPTY_FILE", exhibits: 2, none: null })).toBe(
    "dry run, ended period 4, code EMPTY_FILE, 2 documents",
  );
  expect(splitAction("import.teleported")).toBeNull();
  expect(nameAction("import.teleported")).toBe("import.teleported");
  expect(nameAction("import.run")).toBe("ran an import");
});

test("a page of a case, and of what belongs to one, has a counterpart in another case", () => {
  const kind = (path: string) => pathIn(9, findPlace(path).kind);
  expect(["/cases/7/activity", "/cases/7/productions/new", "/cases/7/documents/123"].map(kind)).toEqual([
    "/cases/9/activity",
    "/cases/9/productions",
    "/cases/9/documents",
  ]);
  expect(["/imports/12/fix", "/import/volume/3", "/productions/3", "/", "/custody/100"].map(kind)).toEqual([
    "/cases/9/imports",
    "/cases/9/imports",
    "/cases/9/productions",
    "/cases/9/documents",
    "/cases/9/documents",
  ]);
  expect(findPlace("/import/volume/3").object).toEqual({ type: "volume", id: 3 });
});
