import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { areClear, findCandidates, isOtherChoice } from "../src/features/wizard/LoadFiles";
import { addUp, describeFiles, labelRun, summarize, type Outcome } from "../src/features/wizard/outcome";
import { chooseImports, nextRead, type Draft } from "../src/features/wizard/queries";
import { explainRefusal, explainWaiting, findMismatch } from "../src/features/wizard/states";
import { describeThere, describeTransfer } from "../src/features/wizard/TransferLine";
import { describeThing, explainColumn, isMarked, join, summarizeColumns } from "../src/features/wizard/words";
import { count } from "../src/ui/values";
import type { Kept } from "../src/features/wizard/kept";
import type { Thing, TransferSnapshot } from "../src/upload";

const outcome = (changes: Partial<Outcome>): Outcome => ({
  imported: 0,
  updated: 0,
  unchanged: 0,
  rejected: 0,
  pages: 0,
  rejectedImages: 0,
  errors: [],
  warnings: 0,
  ...changes,
});

test.each([
  [{ imported: 2_990, rejected: 10 }, "Import 2,990 rows and leave 10"],
  [{ imported: 1 }, "Import 1 row"],
  [{ updated: 5, imported: 3, rejected: 1 }, "Import 3 rows, change 5 documents and leave 1"],
  [{ imported: 19, pages: 36, rejectedImages: 1 }, "Import 19 rows, add 36 pages and leave 1"],
  [{ pages: 37 }, "Add 37 pages"],
  [{ unchanged: 7, rejected: 2 }, null],
])("the button says what it does: %o", (given, label) => expect(labelRun(outcome(given))).toBe(label));

test.each([
  [{}, "The file has no rows."],
  [{ unchanged: 1 }, "1 row is in the case already."],
  [{ imported: 2, rejected: 1 }, "2 rows would be imported and 1 row would be rejected."],
])("a check is one sentence: %o", (given, sentence) => expect(summarize(outcome(given))).toBe(sentence));

test("the checks of a volume are one outcome", () => {
  const code = (severity: string, number: number) => ({
    code: "X",
    severity,
    count: number,
    firstLine: 1,
    message: "",
  });
  const rows = { check: { wouldImport: 19, findings: [code("warning", 2), code("error", 3)] } };
  const images = {
    pages: { imported: 36, missingImages: 1 },
    check: { wouldReject: 1, findings: [code("warning", 4)] },
  };
  const files = [rows, images].map((each) => each as unknown as Schemas["ImportDetails"]);
  const found = addUp(files[0]!, [files[1]!]);
  expect(found).toMatchObject({ imported: 19, pages: 36, rejectedImages: 1, warnings: 6 });
  expect(found.errors).toHaveLength(1);
  const linked = { files: { nativesLinked: 18, nativesMissing: 1, textsLinked: 19, textsMissing: 0 } };
  expect(describeFiles(linked as unknown as Schemas["ImportDetails"], [files[1]!])).toEqual([
    "1 of 19 natives is missing.",
    "All 19 texts are in the volume.",
    "1 of 36 images is missing.",
  ]);
});

const column = (changes: Partial<Schemas["PreviewColumn"]>) =>
  ({ number: 1, name: "x", field: null, why: "property", looksLike: null, ...changes }) as Schemas["PreviewColumn"];

test("a column is marked if it looks like a field and no one has decided it", () => {
  const date = column({ looksLike: "date" });
  expect(isMarked(date)).toBe(true);
  expect(explainColumn(date)).toBe("looks like a date, not mapped");
  expect(isMarked(column({ looksLike: "date", why: "given" }))).toBe(false);
  expect(isMarked(column({ looksLike: "date", field: "date_sent" }))).toBe(false);
  expect(summarizeColumns([date, column({ field: "title" })], 2)).toBe(
    "2 columns: 1 mapped, 1 kept under its name; 1 not mapped looks like a field",
  );
  expect(summarizeColumns([column({ field: "title" })], 5_000)).toBe("5,000 columns: 1 mapped (of the first 1)");
});

const thing = (changes: Partial<Thing>): Thing => ({
  kind: "volume",
  name: "VOL001",
  files: [],
  bytes: 3_100_000,
  loadFiles: ["VOL001/DATA/VOL001.dat"],
  imageLoadFiles: ["VOL001/DATA/VOL001.opt"],
  ...changes,
});
const files = (...paths: string[]) => paths.map((path) => ({ path, size: 1, file: new File([], path) }));

test("what was dropped is one line", () => {
  expect(describeThing(thing({ files: files("a", "b") }))).toBe("2 files, 3.1 MB, VOL001.dat and VOL001.opt found");
  expect(describeThing(thing({ loadFiles: [], imageLoadFiles: [] }))).toContain("no load file found");
  expect(describeThing(thing({ kind: "load-file" }))).toBe("3.1 MB");
  expect(describeThing(thing({ loadFiles: ["1", "2", "3", "4", "5"], imageLoadFiles: [] }))).toContain(
    "2 more load files",
  );
});

const kept = (changes: Partial<Kept>) => ({ loadFile: null, imageLoadFile: null, ...changes }) as Kept;

test("the load files are clear unless there are several, of two formats, or none at their places", () => {
  const clear = (given: Thing, choices: Partial<Kept> = {}) =>
    areClear(findCandidates(null, given), kept(choices), given);
  expect(clear(thing({}))).toBe(true);
  expect(clear(thing({ loadFiles: ["a.dat", "b.dat"] }))).toBe(false);
  expect(clear(thing({ loadFiles: ["a.dat", "b.dat"] }), { loadFile: "a.dat" })).toBe(true);
  expect(clear(thing({ imageLoadFiles: ["a.opt", "a.lfp"] }))).toBe(false);
  expect(clear(thing({ imageLoadFiles: ["a.opt", "b.opt"] }))).toBe(true);
  const elsewhere = thing({ loadFiles: [], imageLoadFiles: [], files: files("OTHER/x.csv") });
  expect(findCandidates(null, elsewhere).data).toEqual(["OTHER/x.csv"]);
  expect(clear(elsewhere)).toBe(false);
  expect(clear(thing({ kind: "zip", loadFiles: [] }))).toBe(true);
});

const draft = (changes: Record<string, unknown>) =>
  ({ place: "volume:1", name: "VOL001", rows: null, images: [], volume: null, ...changes }) as unknown as Draft;

test("a volume is listed again for another choice of load files only", () => {
  const ready = draft({ volume: { status: "ready", loadFile: "a.dat", imageLoadFile: null } });
  expect(isOtherChoice(ready, kept({}))).toBe(false);
  expect(isOtherChoice(ready, kept({ loadFile: "a.dat" }))).toBe(false);
  expect(isOtherChoice(ready, kept({ loadFile: "b.dat" }))).toBe(true);
  expect(isOtherChoice(draft({ volume: { status: "failed" } }), kept({}))).toBe(true);
  expect(isOtherChoice(null, kept({ loadFile: "b.dat" }))).toBe(false);
});

test("files that are not those of the draft are refused with the reason", () => {
  const open = draft({ volume: { status: "open", kind: "files" } });
  expect(findMismatch(open, thing({}))).toBeNull();
  expect(findMismatch(open, thing({ name: "VOL002" }))).toContain("VOL002");
  expect(findMismatch(open, thing({ kind: "zip", name: "VOL001.zip" }))).toContain("begun with a folder");
  const file = draft({ name: "a.dat", rows: { size: 3_100_000 } });
  expect(findMismatch(file, thing({ kind: "load-file", name: "a.dat" }))).toBeNull();
  expect(findMismatch(file, thing({ kind: "load-file", name: "a.dat", bytes: 5 }))).toContain("3.1 MB");
});

test("what is missing before a check is said", () => {
  const refusal = (...given: Parameters<typeof explainRefusal>) => explainRefusal(...given).refusal;
  const isClear = { isClear: true };
  expect(refusal(null, null, null, isClear)).toBe("Choose files first.");
  expect(refusal(null, thing({}), null, isClear)).toBe("Choose the case first.");
  expect(refusal(draft({ volume: {} }), thing({}), "c", { isClear: false })).toBe("Choose the load files first.");
  expect(refusal(draft({ rows: { status: "uploaded", actions: ["check"] } }), null, null, isClear)).toBeNull();
  expect(refusal(draft({ rows: { status: "failed", actions: ["options"] } }), null, null, isClear)).toContain("Change");
  expect(explainWaiting(draft({ volume: { kind: "zip", status: "expanding" } }), null, null)).toContain("unpacked");
});

test("a draft is read again while the server works on it", () => {
  expect(nextRead("checking", "check")).toBe(1_000);
  expect(nextRead("uploaded", "check")).toBe(1_000);
  expect(nextRead("uploaded", "hold")).toBe(false);
  expect(nextRead("checked", "check")).toBe(false);
  expect(nextRead("awaiting_upload", "hold")).toBe(3_000);
});

test("the imports of a volume are the newest data file and its images", () => {
  const each = (id: number, kind: string, status = "uploaded") => ({ id, kind, status });
  const choose = (...imports: object[]) => chooseImports({ imports } as unknown as Schemas["VolumeDetails"]);
  expect(choose()).toEqual({ rows: null, images: [] });
  expect(choose(each(3, "images"), each(2, "rows"))).toEqual({ rows: 2, images: [3] });
  expect(
    choose(each(5, "images"), each(4, "rows"), each(3, "images", "cancelled"), each(2, "rows", "cancelled")),
  ).toEqual({
    rows: 4,
    images: [5],
  });
  expect(choose(each(7, "images"))).toEqual({ rows: 7, images: [] });
});

test("an upload is one line of numbers", () => {
  const now = {
    status: "moving",
    files: { done: 71, all: 75 },
    bytes: { done: 2e6, all: 3e6 },
    secondsLeft: 2,
    retries: 1,
  };
  expect(describeTransfer(now as TransferSnapshot)).toBe(
    "71 of 75 files · 2 MB of 3 MB · 2 s left · 1 repeated attempt",
  );
  expect(describeTransfer({ ...now, status: "done" } as TransferSnapshot)).toBe("Everything has arrived.");
});

test("what had arrived before is known by its checksum, or by its size alone", () => {
  expect(describeThere({ alreadyThere: 3, knownBySize: 0 })).toBe(
    "3 files or parts had arrived before. They have the same checksums as your files.",
  );
  expect(describeThere({ alreadyThere: 3, knownBySize: 1 })).toContain("Of these, 1 are known by their size alone");
  expect(describeThere({ alreadyThere: 1, knownBySize: 1 })).toContain("They are known by their size alone");
});

test("numbers and lists are written as people write them", () => {
  expect([count(1, "row"), count(2_000, "row"), join([]), join(["a"]), join(["a", "b", "c"])]).toEqual([
    "1 row",
    "2,000 rows",
    "",
    "a",
    "a, b and c",
  ]);
});
