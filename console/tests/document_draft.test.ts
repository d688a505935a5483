import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { findDifference } from "../src/features/documents/detail/difference";
import * as draft from "../src/features/documents/detail/draft";
import { parseDate, placeOfProperty, readText, showDate, type Place } from "../src/features/documents/detail/fields";

type Exhibit = Schemas["Exhibit"];
const exhibit = (changes: Partial<Exhibit> = {}) =>
  ({
    id: 1,
    version: 3,
    title: "Plan",
    batesBegin: "A1",
    batesEnd: "A2",
    documentDate: "2019-12-31T00:00:00",
    datePrecision: { document_date: "day" },
    properties: { Notes: "one\r\ntwo", Blank: null },
    custodians: ["Ada"],
    tags: ["Hot"],
    ...changes,
  }) as Exhibit;
const NOTES = placeOfProperty("Notes");
const MINE = ["field:title", "field:batesEnd", "field:documentDate", NOTES] as const;

/** All assignments of values to places. */
function* product(values: readonly string[], length: number): Generator<string[]> {
  if (length === 0) return yield [];
  for (const rest of product(values, length - 1)) for (const value of values) yield [value, ...rest];
}

test("a patch has what was changed and nothing else; blank removes, and a date is sent in the form of the API", () => {
  const begun = draft.openDraft(exhibit());
  expect(draft.buildPatch(begun)).toBeNull();
  let edited = draft.setText(begun, "field:title", "  ");
  edited = draft.setText(edited, "field:documentDate", "2020-02-29 14:05");
  edited = draft.setText(edited, "field:batesBegin", " A1 ");
  edited = draft.setText(edited, NOTES, "");
  edited = draft.setText(edited, placeOfProperty("__proto__"), "x");
  edited = draft.setText(edited, placeOfProperty("Blank"), "");
  expect(JSON.parse(JSON.stringify(draft.buildPatch(edited)))).toEqual({
    title: null,
    documentDate: "2020-02-29T14:05:00",
    batesBegin: "A1",
    properties: JSON.parse('{"Notes": null, "__proto__": "x"}'),
  });
  for (const place of [...edited.texts.keys()]) edited = draft.setText(edited, place, readText(edited.base, place));
  expect([draft.countChanges(edited), draft.buildPatch(edited)]).toEqual([0, null]);
});

test("of three versions nothing that was typed is lost, and nothing that others wrote is overwritten unseen", () => {
  const values = ["a", "b", "c"];
  for (const [before, mine, theirs] of product(values, 3) as Generator<[string, string, string]>) {
    const begun = draft.setText(draft.openDraft(exhibit({ title: before })), "field:title", mine);
    const now = exhibit({ title: theirs, version: 4 });
    const conflicts = draft.findConflicts(begun, now);
    const isBoth = mine !== before && theirs !== before && mine !== theirs;
    expect(conflicts.length, `${before} ${mine} ${theirs}`).toBe(isBoth ? 1 : 0);
    if (isBoth) expect(conflicts[0]).toEqual({ place: "field:title", before, mine, theirs });
    for (const choice of ["mine", "theirs"] as const) {
      const choices = new Map<Place, typeof choice>(conflicts.map(({ place }) => [place, choice]));
      const result = draft.textAt(draft.rebase(begun, now, choices), "field:title");
      const expected = mine === before || (isBoth && choice === "theirs") ? theirs : mine;
      expect(result, `${before} ${mine} ${theirs} ${choice}`).toBe(expected);
    }
  }
});

test("many places are merged each by itself, in whatever order they were changed", () => {
  const texts = { "field:title": "T", "field:batesEnd": "A9", "field:documentDate": "2001-01-01", [NOTES]: "mine" };
  for (const chosen of product(["yes", "no"], MINE.length)) {
    const places = MINE.filter((_, at) => chosen[at] === "yes");
    const forward = places.reduce((now, place) => draft.setText(now, place, texts[place]!), draft.openDraft(exhibit()));
    const backward = places.reduceRight(
      (now, place) => draft.setText(now, place, texts[place]!),
      draft.openDraft(exhibit()),
    );
    expect(draft.buildPatch(forward)).toEqual(draft.buildPatch(backward));
    const theirs = exhibit({ version: 9, title: "X", properties: { Notes: "theirs" } });
    const conflicts = draft.findConflicts(forward, theirs).map(({ place }) => place);
    expect(new Set(conflicts)).toEqual(new Set(places.filter((each) => each === "field:title" || each === NOTES)));
    expect(draft.isDecided(draft.findConflicts(forward, theirs), new Map())).toBe(conflicts.length === 0);
    const kept = draft.rebase(forward, theirs, new Map(conflicts.map((place) => [place, "theirs"])));
    expect(kept.base.version).toBe(9);
    expect([...kept.texts.keys()].sort()).toEqual(places.filter((each) => !conflicts.includes(each)).sort());
  }
});

test("the numbers of a range are decided together", () => {
  const mine = draft.setText(draft.openDraft(exhibit()), "field:batesEnd", "A5");
  const theirs = exhibit({ batesBegin: "A0", version: 4 });
  expect(draft.findConflicts(mine, theirs)).toEqual([
    { place: "field:batesEnd", before: "A2", mine: "A5", theirs: "A2" },
  ]);
});

test("names are added and removed by themselves, and what another user has done already is no change", () => {
  let names = draft.openDraft(exhibit());
  names = draft.addName(names, "tags", " Privileged ");
  names = draft.addName(names, "tags", "hot");
  names = draft.addName(names, "tags", "privileged");
  names = draft.removeName(names, "custodians", "Ada");
  names = draft.addName(names, "custodians", "Ben");
  expect([names.tags.added, names.custodians]).toEqual([["Privileged"], { added: ["Ben"], removed: ["Ada"] }]);
  const theirs = exhibit({ version: 4, tags: ["Hot", "PRIVILEGED"], custodians: ["Cleo"] });
  expect(draft.findConflicts(names, theirs)).toEqual([]);
  const rebased = draft.rebase(names, theirs, new Map());
  expect([rebased.tags.added, rebased.custodians]).toEqual([[], { added: ["Ben"], removed: [] }]);
  names = draft.addName(names, "custodians", "ADA");
  expect(names.custodians.removed).toEqual([]);
});

test.each([
  ["2019-12-31", "2019-12-31"],
  ["2019-12-31 00:00", "2019-12-31T00:00:00"],
  ["2019-12-31 14:05", "2019-12-31T14:05:00"],
  [" 2019-12-31T14:05:06.25 ", "2019-12-31T14:05:06.25"],
  ["2019-02-29", null],
  ["31.12.2019", null],
  ["03/04/2019", null],
  ["2019-12-31 24:00", null],
  ["2019-12-31 14:05 UTC", null],
])("%s is the date %s", (text, value) => expect(parseDate(text)).toBe(value));

test.each([
  ["2019-12-31T00:00:00", "day", "2019-12-31"],
  ["2019-12-31T00:00:00", undefined, "2019-12-31"],
  ["2019-12-31T00:00:00", "time", "2019-12-31 00:00:00"],
  ["2019-12-31 23:59:59.000000", "utc_time", "2019-12-31 23:59:59 UTC"],
  ["2019-12-31T23:59:59.250000", "time", "2019-12-31 23:59:59.25"],
])("the date %s with the precision %s is shown as %s", (value, precision, shown) => {
  expect(showDate(value, precision)).toBe(shown);
  if (precision !== "utc_time") expect(showDate(parseDate(shown)!, precision)).toBe(shown);
});

test("a difference is the part that has changed, and never half of a character", () => {
  const long = "x".repeat(2_000);
  expect(findDifference(`${long}old${long}`, `${long}new${long}`)).toEqual({
    before: `…${"x".repeat(40)}`,
    removed: "old",
    added: "new",
    after: `${"x".repeat(40)}…`,
  });
  expect(findDifference("a😀c", "a😁c")).toEqual({ before: "a", removed: "😀", added: "😁", after: "c" });
  expect(findDifference("aa", "aaa")).toEqual({ before: "aa", removed: "", added: "a", after: "" });
});
