import { beforeAll, describe, expect, test, vi } from "vitest";
import { findTicks, layOut, NARROWEST } from "../src/features/custody/layout";
import { around, readRange, scale, shift, writeRange } from "../src/features/custody/ranges";
import {
  assignHues,
  findExtent,
  findGaps,
  sortPeriods,
  toSegments,
  type Period,
  type Range,
  type Segment,
} from "../src/features/custody/segments";
import { formatSpan, formatUtc, readField, readTime, toApi, toField } from "../src/features/custody/times";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-27T12:00:00Z");

beforeAll(() => {
  vi.stubEnv("TZ", "Europe/Berlin");
  expect(new Date(NOW).getHours()).toBe(13);
});

function period(id: number, begin: string, end: string | null, more: Partial<Period> = {}): Period {
  const time = (text: string) => (text.includes("T") ? text : `2026-11-27T${text}:00Z`);
  const custodian = { custodianId: id, custodian: `Holder ${id}`, note: null, version: 1 };
  return { id, deviceId: 1, begin: time(begin), end: end && time(end), ...custodian, ...more };
}

const whole = (periods: Period[], now = NOW) => toSegments(periods, findExtent(periods, now)!, now, true);
const kinds = (segments: Segment[]) => segments.map((each) => `${each.kind} ${formatSpan(each.to - each.from)}`);

function expectNoOverlap(segments: Range[]) {
  for (const [index, each] of segments.entries()) {
    expect(each.from).toBeLessThanOrEqual(each.to);
    if (index > 0) expect(each.from).toBeGreaterThanOrEqual(segments[index - 1]!.to);
  }
}

describe("segments", () => {
  test("a gap is between two periods, and after the last one until now", () => {
    const segments = whole([period(1, "06:00", "07:00"), period(2, "07:00", "08:00"), period(3, "10:10", "11:00")]);
    expect(kinds(segments)).toEqual(["period 1 h", "period 1 h", "gap 2 h 10 min", "period 50 min", "gap 1 h"]);
    expect(findGaps(segments)).toMatchObject([{ isCut: false }, { isCut: true }]);
  });

  test("an open period ends now, and nothing is a gap after it", () => {
    expect(kinds(whole([period(1, "06:00", "07:00"), period(2, "07:00", null)]))).toEqual(["period 1 h", "period 5 h"]);
  });

  test("an open period that begins later than now is there, and has no length", () => {
    const segments = whole([period(1, "06:00", "07:00"), period(2, "2026-11-28T12:00:00Z", null)]);
    expect(segments.at(-1)).toMatchObject({ kind: "period", isOpen: true, to: NOW + 24 * HOUR, from: NOW + 24 * HOUR });
    expect(kinds(segments)[1]).toBe("gap 1 day 5 h");
    const drawn = layOut(segments, findExtent([period(2, "2026-11-28T12:00:00Z", null)], NOW)!, 1_000);
    expect(drawn.at(-1)).toMatchObject({ kind: "run", periods: 1 });
  });

  test("a gap of a microsecond is one, and periods that meet have none", () => {
    const [end, begin] = ["2026-11-27T07:00:00.000001Z", "2026-11-27T07:00:00.000002Z"];
    expect(findGaps(whole([period(1, "06:00", end), period(2, begin, "12:00")]))).toHaveLength(1);
    expect(findGaps(whole([period(1, "06:00", end), period(2, end, "12:00")]))).toHaveLength(0);
  });

  test("periods of pages that were read at different times never overlap", () => {
    const torn = [period(1, "06:00", "12:00"), period(2, "08:00", "09:00"), period(3, "08:30", null)];
    expectNoOverlap(whole(torn));
    expectNoOverlap(toSegments(torn, { from: NOW - 5 * HOUR, to: NOW - HOUR }, NOW, true));
  });

  test("of a period that two pages have, the later version counts, in the order of the time", () => {
    const [old, changed] = [period(2, "08:00", null), period(2, "08:00", "09:00", { version: 2 })];
    expect(sortPeriods([changed, period(1, "06:00", "07:00"), old])).toEqual([period(1, "06:00", "07:00"), changed]);
  });

  test("a range cuts what goes beyond it, and its gaps may be longer", () => {
    const range = { from: Date.parse("2026-11-27T06:30:00Z"), to: Date.parse("2026-11-27T09:00:00Z") };
    const periods = [period(1, "06:00", "07:00"), period(2, "08:00", "10:00")];
    expect(kinds(toSegments(periods, range, NOW, true))).toEqual(["period 30 min", "gap 1 h", "period 1 h"]);
    const empty = { from: Date.parse("2026-11-27T07:10:00Z"), to: Date.parse("2026-11-27T07:50:00Z") };
    expect(toSegments([], empty, NOW, true)).toMatchObject([{ kind: "gap", isCut: true, isLasting: false, ...empty }]);
  });

  test("what is not loaded is never called a gap", () => {
    const range = { from: Date.parse("2026-11-27T01:00:00Z"), to: NOW };
    expect(kinds(toSegments([period(9, "06:00", null)], range, NOW, false))[0]).toBe("unread 5 h");
    expect(kinds(toSegments([], range, NOW, false))).toEqual(["unread 11 h"]);
  });

  test("what comes after now is not a gap", () => {
    const range = { from: NOW - HOUR, to: NOW + 10 * HOUR };
    expect(kinds(toSegments([period(1, "06:00", "11:30")], range, NOW, true))).toEqual(["period 30 min", "gap 30 min"]);
  });
});

describe("what is drawn", () => {
  const many = (count: number) => {
    const begin = Date.parse("2024-01-01T00:00:00Z");
    return Array.from({ length: count }, (_, index) =>
      period(index + 1, toApi(begin + index * HOUR), toApi(begin + index * HOUR + (index % 7 === 0 ? HOUR / 2 : HOUR))),
    );
  };

  test.each([358, 1_200, 3_000])("is bounded and complete: 10,000 periods in %i pixels", (width) => {
    const periods = many(10_000);
    const now = readTime(periods.at(-1)!.end!);
    const range = findExtent(periods, now)!;
    const segments = toSegments(periods, range, now, true);
    const drawn = layOut(segments, range, width);
    expect(drawn.length).toBeLessThanOrEqual((3 * width) / NARROWEST + 2);
    const shown = drawn.flatMap((each) => (each.kind === "bar" ? [each.segment] : each.segments));
    expect(shown).toEqual(segments);
    const counted = drawn.reduce((sum, each) => sum + (each.kind === "run" ? each.periods : 1), 0);
    expect(counted).toBe(10_000);
  });

  test("marks of narrow segments have room beside each other", () => {
    const periods = many(400);
    const now = readTime(periods.at(-1)!.end!);
    const range = findExtent(periods, now)!;
    const middles = layOut(toSegments(periods, range, now, true), range, 700).flatMap((each) =>
      each.kind === "run" ? [each.left + each.width / 2] : [],
    );
    expect(middles.length).toBeGreaterThan(5);
    for (const [index, each] of middles.slice(1).entries())
      expect(each - middles[index]!).toBeGreaterThanOrEqual(NARROWEST);
  });

  test("a short gap between two long periods has a mark of its own", () => {
    const periods = [
      period(1, "2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z"),
      period(2, "2026-06-01T00:01:00Z", null),
    ];
    expect(layOut(whole(periods), findExtent(periods, NOW)!, 1_200)).toMatchObject([
      { kind: "bar" },
      { kind: "run", periods: 0, gaps: 1 },
      { kind: "bar" },
    ]);
  });

  test("the marks of the axis are local, few, and at midnight also when the clocks change", () => {
    const range = { from: Date.parse("2026-10-23T00:00:00Z"), to: Date.parse("2026-10-28T00:00:00Z") };
    const ticks = findTicks(range, 1_200);
    expect(ticks.map(({ at }) => new Date(at).getHours() % 12)).toEqual(ticks.map(() => 0));
    for (const days of [0.00002, 0.01, 1, 3, 30, 400, 4_000, 300_000]) {
      const long = { from: NOW - days * 24 * HOUR, to: NOW };
      const found = findTicks(long, 960);
      expect(found.length).toBeLessThanOrEqual(12);
      expect(found.length).toBeGreaterThan(0);
      expect(found.every(({ at }) => at >= long.from && at <= long.to)).toBe(true);
    }
  });
});

describe("holders", () => {
  test("have colours of their own as long as there are enough, whatever else is loaded", () => {
    const of = (...ids: number[]) => assignHues(ids.map((id) => period(id, "06:00", "07:00")));
    expect(new Set(of(1, 7, 13, 2, 3, 4).values()).size).toBe(6);
    expect(of(2, 3).get(3)).toBe(of(3).get(3));
    expect(of(...Array.from({ length: 40 }, (_, id) => id + 1)).size).toBe(40);
  });
});

describe("times", () => {
  test("the night the clocks go back has an hour twice, and each can be meant", () => {
    const typed = { text: "2026-10-25T02:30:00", isSecond: false };
    expect(readField(typed)).toEqual({ at: Date.parse("2026-10-25T00:30:00Z"), shown: "twice" });
    expect(readField({ ...typed, isSecond: true })).toEqual({ at: Date.parse("2026-10-25T01:30:00Z"), shown: "twice" });
    for (const at of ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map((each) => Date.parse(each)))
      expect(readField(toField(at))!.at).toBe(at);
  });

  test("an hour that the clocks leave out is said to be none", () => {
    expect(readField({ text: "2026-03-29T02:30", isSecond: false })).toMatchObject({ shown: "never" });
    expect(readField({ text: "2026-03-29T03:30", isSecond: false })).toMatchObject({ shown: "once" });
    expect(readField({ text: "", isSecond: false })).toBeNull();
  });

  test("a night is as long as it was", () => {
    const night = (begin: string, end: string) => formatSpan(Date.parse(end) - Date.parse(begin));
    expect(night("2026-10-25T00:00:00+02:00", "2026-10-25T08:00:00+01:00")).toBe("9 h");
    expect(night("2026-03-29T00:00:00+01:00", "2026-03-29T08:00:00+02:00")).toBe("7 h");
  });

  test("lengths have two units, and a tooltip has the microseconds", () => {
    expect([999, 12_000, 130 * 60_000, 25 * HOUR, 51 * HOUR, 24_000 * HOUR].map(formatSpan)).toEqual([
      "less than 1 s",
      "12 s",
      "2 h 10 min",
      "1 day 1 h",
      "2 days 3 h",
      "1,000 days",
    ]);
    expect(formatUtc(readTime("2026-11-27T15:04:05.000250Z"))).toBe("2026-11-27 15:04:05.000250 UTC");
    expect(formatUtc(readTime("1969-12-31T23:59:59Z"))).toBe("1969-12-31 23:59:59 UTC");
  });
});

describe("ranges", () => {
  test("are in the address, and what cannot be one is none", () => {
    const range = { from: NOW - HOUR, to: NOW };
    expect(readRange(new URLSearchParams(writeRange(range)))).toEqual(range);
    for (const query of ["", "from=x&to=y", "from=2026-11-27&to=2026-11-26", "from=0001-01-01&to=2026-01-01"])
      expect(readRange(new URLSearchParams(query))).toBeNull();
  });

  test("can be zoomed and moved within the years that there are, and never to nothing", () => {
    let range: Range = { from: NOW - HOUR, to: NOW };
    for (let count = 0; count < 60; count++) range = scale(range, 0.5);
    expect(range.to - range.from).toBeGreaterThanOrEqual(1_000);
    for (let count = 0; count < 80; count++) range = shift(scale(range, 2), 0.5);
    expect(readRange(new URLSearchParams(writeRange(range)))).toEqual(range);
    expect(around({ from: NOW, to: NOW })).toEqual({ from: NOW - 1_000, to: NOW + 1_000 });
  });
});
