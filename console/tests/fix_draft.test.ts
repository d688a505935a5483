import { expect, test } from "vitest";
import { ApiError } from "../src/api/client";
import { decideAccess } from "../src/features/fix/access";
import { describeLoad, readRefusals } from "../src/features/fix/corrections";
import {
  cellsOf,
  dropLines,
  EMPTY,
  findAlike,
  isEmpty,
  judge,
  restore,
  setAlike,
  setAsIs,
  setCell,
  setCells,
  setOut,
  setVersion,
  sortChanges,
  takeBatch,
  toBody,
} from "../src/features/fix/draft";
import { START, step, type Step } from "../src/features/fix/history";
import type { State } from "../src/features/fix/queries";
import {
  chooseColumns,
  collectAgain,
  findFaults,
  findLineEnd,
  isFollowed,
  kindOf,
  showRaw,
  toSheetRow,
  type Column,
} from "../src/features/fix/rows";
import { hasOtherValue, readStored } from "../src/features/fix/stored";
import { limitRows } from "../src/features/fix/usePage";

const COLUMNS: Column[] = [
  { number: 1, name: "Doc", field: "control_number" },
  { number: 2, name: "Title", field: "title" },
  { number: 3, name: "Custodian", field: "custodians" },
];
const NO_ONE = new Map<number, string>();

type Listed = Parameters<typeof toSheetRow>[0];

function listed(line: number, cells: string[] | null, code = "MISSING_ID", columnNumber: number | null = 1): Listed {
  const column = columnNumber === null ? null : COLUMNS[columnNumber - 1]!.name;
  const errors = [{ code, column, columnNumber, message: "", suggestion: null }];
  const none = { originalLine: null, correctedBy: null, discardedBy: null, discardedByName: null, discardedAt: null };
  return { line, rows: 1, cells, raw: (cells ?? []).join(","), rawIsTruncated: false, errors, ...none };
}

const row = (line: number, cells: string[] | null, code?: string, columnNumber?: number | null) =>
  toSheetRow(listed(line, cells, code, columnNumber), undefined, COLUMNS, { delimiter: ",", qualifier: '"' });

test("a row is corrected when the cell that is wrong by itself is another one", () => {
  const missing = row(3, ["", "one", "Ada"]);
  const edited = setCell(EMPTY, missing, 1, "other");
  expect(judge(edited.changes.get(3), 3)).toBe("unfinished");
  const corrected = setCell(edited, missing, 0, "A-3");
  expect(judge(corrected.changes.get(3), 3)).toBe("ready");
  expect(toBody(corrected.changes.get(3)!)).toEqual({ line: 3, cells: ["A-3", "other", "Ada"] });
  expect(isEmpty(setCell(setCell(corrected, missing, 0, ""), missing, 1, "one"))).toBe(true);
  expect(missing.cells).toEqual(["", "one", "Ada"]);
});

test("a row whose reason lies in the case is corrected by any change, or loaded as it is", () => {
  const other = row(4, ["A-1", "one", "Ada"], "EXISTS_WITH_OTHER_VALUES", 2);
  expect(judge(setCell(EMPTY, other, 0, "A-4").changes.get(4), 3)).toBe("ready");
  const asIs = setAsIs(EMPTY, other, true);
  expect(judge(asIs.changes.get(4), 3)).toBe("ready");
  expect(isEmpty(setAsIs(asIs, other, false))).toBe(true);
  expect(toBody(setVersion(EMPTY, other, 7).changes.get(4)!)).toEqual({
    line: 4,
    cells: ["A-1", "one", "Ada"],
    version: 7,
  });
});

test("a row can be sent only when its cells fit the header", () => {
  const shifted = row(5, ["A-5", "Lee", " Ann", "Ada"], "WRONG_CELL_COUNT", null);
  expect(kindOf(shifted, 3)).toBe("shape");
  const edited = setCells(EMPTY, shifted, ["A-5", "Lee x", " Ann", "Ada"]);
  expect(judge(edited.changes.get(5), 3)).toBe("misfit");
  expect(judge(setCells(edited, shifted, ["A-5", "Lee, Ann", "Ada"]).changes.get(5), 3)).toBe("ready");
});

test("a version that was seen holds for the row as it was then", () => {
  const changed = row(5, ["A-5", "t", "Ada"], "DOCUMENT_CHANGED", null);
  const over = setVersion(EMPTY, changed, 2);
  expect(toBody(over.changes.get(5)!)).toMatchObject({ version: 2 });
  expect(toBody(setCell(over, changed, 0, "A-6").changes.get(5)!)).toEqual({ line: 5, cells: ["A-6", "t", "Ada"] });
});

test("bytes that cannot be read are not replaced unseen in a record of another shape", () => {
  const raw = "A-5,Lee,M\ufffdller,Ada";
  const shifted = { ...row(5, raw.split(","), "WRONG_CELL_COUNT", null), raw };
  const merged = setCells(EMPTY, shifted, ["A-5", "Lee,M\ufffdller", "Ada"]);
  expect(judge(merged.changes.get(5), 3)).toBe("unfinished");
  expect(judge(setAsIs(merged, shifted, true).changes.get(5), 3)).toBe("ready");
  expect(judge(setCell(merged, shifted, 1, "Lee,Müller").changes.get(5), 3)).toBe("ready");
});

test.each([
  ["A-1,one\r\n", 5, "\r\n", true],
  ["A-1,one\n", 6, "\n", false],
  ['A-1,"one\ntwo"x\n', 6, "\n", true],
  ["A-1,\rone\n", 5, "\n", true],
  ["A-1,one\r", 5, "\r", true],
  ["A-1,one", 5, "", false],
])("the record %j in line 4 is followed by one in line %d", (raw, line, end, expected) => {
  const first = { ...row(4, ["A-1", "one"]), raw };
  expect([findLineEnd(first), isFollowed(first, row(line, ["two", "Ada"]))]).toEqual([end, expected]);
  expect(showRaw(first) + end).toBe(raw);
});

test("cells that the page has divided are sent only when the user has said so", () => {
  const damaged = toSheetRow({ ...listed(6, null, "MALFORMED_QUOTING", null), raw: 'A-6,"x,Ada' }, undefined, COLUMNS, {
    delimiter: ",",
    qualifier: '"',
  });
  expect([damaged.cells, damaged.isProposed, kindOf(damaged, 3)]).toEqual([["A-6", "x", "Ada"], true, "shape"]);
  expect(judge(EMPTY.changes.get(6), 3)).toBe("untouched");
  expect(judge(setAsIs(EMPTY, damaged, true).changes.get(6), 3)).toBe("ready");
  const long = toSheetRow({ ...listed(6, null), rawIsTruncated: true }, undefined, COLUMNS, null);
  expect(kindOf(long, 3)).toBe("unreadable");
});

test("the same fault has the same cure, but an id is never given twice", () => {
  const bad = [7, 8, 9].map((line) => row(line, [`A-${line}`, "t", "M\ufffdller"], "UNDECODABLE_BYTES", 3));
  const other = row(10, ["A-10", "t", "Sm\ufffdth"], "UNDECODABLE_BYTES", 3);
  const all = [...bad, other, row(11, ["", "t", ""]), row(12, ["", "t", ""])];
  const edited = setCell(EMPTY, bad[0]!, 2, "Müller");
  const alike = findAlike(edited, all, COLUMNS, bad[0]!, 2);
  expect(alike.map((each) => each.line)).toEqual([8, 9]);
  const cured = setAlike(edited, alike, 2, "Müller");
  expect(all.map((each) => cellsOf(cured, each)[2])).toEqual(["Müller", "Müller", "Müller", "Sm\ufffdth", "", ""]);
  expect(findAlike(cured, all, COLUMNS, bad[0]!, 2)).toEqual([]);
  expect(findAlike(EMPTY, all, COLUMNS, all[4]!, 0)).toEqual([]);
});

test("what is typed into one cell is one step, and each step is undone", () => {
  const one = row(3, ["", "one", "Ada"]);
  const type = (at: number, text: string): Step => ({
    do: "change",
    place: `3:${at}`,
    with: (draft) => setCell(draft, one, at, text),
  });
  const steps: Step[] = [type(0, "A"), type(0, "A-3"), { do: "close" }, type(1, "two"), { do: "undo" }];
  const after = steps.reduce(step, START);
  expect(cellsOf(after.draft, one)).toEqual(["A-3", "one", "Ada"]);
  expect(isEmpty(step(after, { do: "undo" }).draft)).toBe(true);
  expect(step(START, { do: "undo" })).toBe(START);
  expect(step(after, { do: "replace", with: (draft) => dropLines(draft, [3]) })).toMatchObject({ past: [] });
});

test("rows that are left out or refused are not sent, and changes that were not loaded come back", () => {
  const rows = [3, 4, 5].map((line) => row(line, ["", "t", "Ada"]));
  let draft = rows.reduce((before, each) => setCell(before, each, 0, `A-${each.line}`), EMPTY);
  draft = setOut(draft, rows[0]!, true);
  const sorted = sortChanges(draft, 3, new Map([[4, "taken"]]));
  expect(sorted.ready.map((each) => each.row.line)).toEqual([5]);
  const restored = restore(dropLines(draft, [3, 4, 5]), draft.changes.values());
  expect([...restored.changes.keys()]).toEqual([3, 4, 5]);
  expect([...setOut(draft, rows[0]!, false).out]).toEqual([]);
});

test("a request has at most 1,000 rows of 4 MB, in the order of the file", () => {
  const many = Array.from({ length: 1_001 }, (_, index) => row(index + 2, ["", "t", "Ada"]));
  const draft = many.toReversed().reduce((before, each) => setCell(before, each, 0, `A-${each.line}`), EMPTY);
  const batch = takeBatch(sortChanges(draft, 3, NO_ONE).ready);
  expect([batch.length, batch[0]!.row.line]).toEqual([1_000, 2]);
  const large = [2, 3, 4].map((line) =>
    setCell(EMPTY, row(line, ["", "t", "ü".repeat(900_000)]), 0, "A").changes.get(line)!,
  );
  expect(takeBatch(large)).toHaveLength(2);
});

test("of several corrections the newest says why a line was rejected again", () => {
  const again = (importId: number, code: string, line: number | null) => ({
    importId,
    rows: [{ ...listed(1, ["", `of ${importId}`, "Ada", "L3"], code), originalLine: line }],
  });
  const found = collectAgain([
    again(9, "LINE_NOT_OPEN", 3),
    again(8, "DUPLICATE_ID", 3),
    again(7, "MISSING_ID", 3),
    again(6, "X", null),
  ]);
  expect([...found.keys()]).toEqual([3]);
  const shown = toSheetRow(listed(3, ["", "first", "Ada"]), found.get(3), COLUMNS, null);
  expect([shown.rejectedBy, shown.cells, shown.errors[0]!.code]).toEqual([8, ["", "of 8", "Ada"], "DUPLICATE_ID"]);
});

test("the columns of the id and of errors are shown, or all", () => {
  const rows = [row(3, ["", "t", "x"]), row(4, ["A", "t", "x"], "TOO_MANY_VALUES", 3)];
  expect(chooseColumns(rows, COLUMNS, false)).toEqual([0, 2]);
  expect(chooseColumns(rows.slice(0, 1), COLUMNS, false)).toEqual([0, 1]);
  expect(chooseColumns([], COLUMNS, true)).toEqual([0, 1, 2]);
  expect([...findFaults(row(3, ["A", "t", "x"], "DUPLICATE_ID", null), COLUMNS).keys()]).toEqual([0]);
  expect([limitRows(19, false), limitRows(19, true), limitRows(3, true), limitRows(9_000, true)]).toEqual([
    200, 200, 200, 10,
  ]);
});

test("a refusal is put beside its lines", () => {
  const body = {
    rows: [
      { line: 3, cells: [] },
      { line: 4, cells: [] },
    ],
    discard: [9],
  };
  const errors = [
    { location: "body/rows/1", message: "Line 4 is taken." },
    { location: "body/discard/0", message: "Line 9 is taken." },
  ];
  const type = "urn:exhibit-ingest:problem:correction-refused" as const;
  const refused = readRefusals(new ApiError(422, { type, errors }, null), body);
  expect([...refused!.byLine]).toEqual([
    [4, "Line 4 is taken."],
    [9, "Line 9 is taken."],
  ]);
  expect(readRefusals(new ApiError(409, { type: "urn:exhibit-ingest:problem:wrong-state" }, null), body)).toBeNull();
});

const state = (changes: Partial<State>) =>
  ({
    id: 14,
    status: "completed",
    phase: "import",
    kind: "rows",
    corrects: null,
    rowsSeen: 8,
    imported: 7,
    updated: 0,
    unchanged: 0,
    rejected: 1,
    ...changes,
  }) as State;

test.each([
  [state({}), "7 of 8 imported by import 14; 1 was rejected again."],
  [state({ imported: 8, rejected: 0 }), "8 of 8 imported by import 14."],
  [state({ status: "failed" }), "Import 14 failed, and its rows are open again."],
])("what a correction did is one sentence", (given, text) => expect(describeLoad(given)).toBe(text));

test.each([
  [state({}), "editor", false, true, null],
  [state({}), "viewer", false, false, "role viewer"],
  [state({}), "editor", true, false, "too narrow"],
  [state({ kind: "images" }), "admin", false, true, "image load file"],
  [state({ status: "running" }), "admin", false, false, "is running"],
  [state({ status: "undone" }), "admin", false, false, "was undone"],
  [state({ phase: "check" }), "admin", false, false, "is a check"],
  [state({ corrects: 7 }), "admin", false, false, "is a correction"],
] as const)("access is decided, with what lifts a refusal", (given, role, isNarrow, canEdit, part) => {
  const access = decideAccess(given, role, isNarrow);
  expect(access.canEdit).toBe(canEdit);
  if (part) expect(access.sentence).toContain(part);
  else expect(access.sentence).toBeNull();
});

test("a cell is compared with what the document has", () => {
  const stored = {
    title: "One",
    custodians: ["Bob", "Ada"],
    properties: { Pages: "3" },
    dateSent: "2019-12-31T00:00:00",
  };
  const read = (name: string, field: string | null) => readStored(stored as never, { number: 1, name, field });
  expect([read("T", "title"), read("C", "custodians"), read("Pages", null), read("Sent", "date_sent")]).toEqual([
    ...["One", "Bob; Ada", "3"],
    null,
  ]);
  expect(read("constructor", null)).toBe("");
  const isOther = (here: string, there: string | null, field = "title") =>
    hasOtherValue(here, there, { number: 1, name: "", field });
  expect([isOther("Ada;Bob", "Bob; Ada", "custodians"), isOther(" One ", "One"), isOther("x", null)]).toEqual([
    ...[false, false, false],
  ]);
  expect([isOther("Two", "One"), isOther("one; two", "two; one"), isOther("a;b", "a; b")]).toEqual([true, true, true]);
});
