import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { answer, countOpen } from "../src/features/imports/answer";
import { sortFindings, summarizeCheck } from "../src/features/imports/check";
import { listReports } from "../src/features/imports/Downloads";
import { answerVolume, chooseImports, listLacks, pluralOf } from "../src/features/imports/missing";
import { nameSign } from "../src/ui/signs";
import { describeUndo, findNamedImport, hasEnded, isAnswer, labelUndo } from "../src/features/imports/undo";

const undo = (changes: Partial<Schemas["Undo"]>) =>
  ({ removed: 0, restored: 0, kept: 0, linksRestored: 0, dryRun: true, ...changes }) as Schemas["Undo"];
const details = (changes: object) =>
  ({
    id: 1,
    kind: "rows",
    fileName: "a.dat",
    corrects: null,
    status: "completed",
    ...changes,
  }) as Schemas["ImportDetails"];
const check = (changes: Partial<Schemas["CheckResult"]>) =>
  ({
    ...{ wouldImport: 0, wouldUpdate: 0, unchanged: 0, wouldReject: 0, newCustodians: 0, newTags: 0 },
    ...{ findings: [], ...changes },
  }) as unknown as Schemas["CheckResult"];

test.each([
  [undo({ removed: 2990 }), "Undo: remove 2,990 documents"],
  [undo({ removed: 1, restored: 2, kept: 3 }), "Undo: remove 1 document, restore 2 documents"],
  [undo({ kept: 3 }), "Undo the import"],
])("the button says what the undo does", (given, label) => expect(labelUndo(given)).toBe(label));

test("a dry run says what would happen, and an undo what has happened", () => {
  expect(describeUndo(undo({ removed: 1, kept: 2 }))).toEqual([
    "1 document would be removed.",
    "2 documents would stay, as a whole or in part.",
  ]);
  expect(describeUndo(undo({ dryRun: false, removed: 2, restored: 1, linksRestored: 1 }))).toEqual([
    "2 documents were removed.",
    "1 document got earlier values or pages back.",
    "1 custodian or tag link was restored.",
  ]);
  expect(describeUndo(undo({}))).toEqual(["No document would be changed."]);
  expect(describeUndo(undo({ restored: 2 }), "images")).toEqual([
    "2 documents would have the pages from before this import, or none.",
  ]);
  expect(labelUndo(undo({ restored: 2 }), "images")).toBe("Undo: take back the pages of 2 documents");
  expect(["requested", "running", "undone"].map((status) => hasEnded(undo({ status } as object)))).toEqual([
    false,
    false,
    true,
  ]);
});

test.each([
  ["Import 13 of the same case is running or being undone; undo this one when it has ended.", 13],
  ["The import has the status running; wait until it has ended.", null],
])("a refusal names the import to wait for", (detail, named) => expect(findNamedImport(detail)).toBe(named));

test("a dry run is answered by itself or by what another window has requested since, and never by an earlier one", () => {
  const requested = undo({ undoNo: 3, status: "running" });
  const answers = (changes: object) => isAnswer(undo({ undoNo: 3, status: "undone", ...changes }), requested);
  expect([answers({}), answers({ status: "running" }), answers({ undoNo: 2 }), answers({ undoNo: 4 })]).toEqual([
    ...[true, false, false, true],
  ]);
  expect(answers({ undoNo: 4, dryRun: false, status: "running" })).toBe(true);
  expect(isAnswer(undo({}), undefined)).toBe(false);
});

test("a check says what an import would do, and what it found", () => {
  expect(summarizeCheck(check({ wouldImport: 2990, wouldReject: 10, newTags: 1 }))).toEqual([
    "2,990 rows would be imported as new documents.",
    "10 rows would be rejected.",
    "1 tag would be created.",
    "Nothing was found that has to be looked at.",
  ]);
  expect(summarizeCheck(check({}))).toEqual(["Nothing was found that has to be looked at."]);
});

test("errors come before warnings, frequent ones first", () => {
  const found = (code: string, severity: string, count: number) =>
    ({ code, severity, count }) as Schemas["CheckedCode"];
  const sorted = sortFindings([found("W1", "warning", 9), found("E1", "error", 1), found("E2", "error", 4)]);
  expect(sorted.map((each) => each.code)).toEqual(["E2", "E1", "W1"]);
});

const state = (changes: object) => ({ kind: "rows", corrects: null, ...changes }) as Schemas["ImportState"];

test.each([
  [state({ phase: "import", rejected: 5, openRejections: 2 }), 2],
  [state({ phase: "check", rejected: 5, openRejections: 0 }), 5],
  [state({ phase: "import", rejected: 5, openRejections: 0, corrects: 7 }), 5],
])("a row that was corrected is not open in the bar", (given, open) => expect(countOpen(given)).toBe(open));

test.each([
  [state({ status: "checked", rejected: 10 }), "10 rows of the file would be rejected."],
  [state({ status: "checked", rejected: 0 }), "Every row of the file would be accepted."],
  [state({ status: "completed_with_rejections", corrects: 7, rejected: 1 }), "they are open in import 7."],
  [state({ status: "undone_with_conflicts" }), "something of it stays"],
])("an answer says what is true of a check, a correction and an undo", (given, part) =>
  expect(answer(given)).toContain(part),
);

test("rows and images of a volume have one answer", () => {
  const rows = details({
    openRejections: 1,
    rowsSeen: 19,
    files: { nativesMissing: 1, nativesLinked: 17, textsMissing: 0, textsLinked: 18 },
  });
  const images = details({
    id: 2,
    kind: "images",
    fileName: "a.opt",
    openRejections: 2,
    rowsSeen: 18,
    pages: { missingImages: 2, imported: 36, withoutImages: 1 },
  });
  const lacks = listLacks([rows, images]);
  expect(answerVolume(lacks)).toBe(
    "Missing or open: 1 rejected row, 2 documents of the image load file, 1 native, 2 page images, 1 document without pages.",
  );
  expect(lacks.find((each) => each.what === "native")).toEqual({ what: "native", missing: 1, of: 18 });
  expect(answerVolume(listLacks([details({ openRejections: 0, rowsSeen: 3 })]))).toContain("Nothing is missing");
  expect(pluralOf({ what: "document without pages", missing: 2, of: null })).toBe("2 documents without pages");
});

test("an import that was undone or loaded again counts once", () => {
  const imports = [
    details({ id: 1 }),
    details({ id: 2, status: "undone" }),
    details({ id: 3 }),
    details({ id: 4, corrects: 3 }),
  ];
  expect(chooseImports(imports).map((each) => each.id)).toEqual([4, 3]);
});

test.each([
  ["\u0014", "DC4 (020)"],
  ["\u00fe", "thorn þ"],
  ["\u00ae", "®"],
  ["\u0001", "U+0001"],
  ["\u200b", "U+200B"],
  ["~", "~"],
  [true, "yes"],
  [null, "none"],
  ["utf-8", "utf-8"],
])("signs are named as people write them, and those that cannot be seen by their number: %s", (sign, name) =>
  expect(nameSign(sign)).toBe(name),
);

test("reports of an import stand before those of its check", () => {
  const given = {
    reports: null,
    check: { report: "f.csv", deficienciesText: "d.txt" },
  } as unknown as Schemas["ImportDetails"];
  expect(listReports(given)).toEqual(["findings", "deficienciesText"]);
});
