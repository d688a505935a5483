import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { answer } from "../src/features/imports/answer";
import { nextPoll } from "../src/ui/polling";
import { formatDuration } from "../src/ui/values";

const state = (changes: Partial<Schemas["ImportState"]>) =>
  ({
    status: "completed_with_rejections",
    openRejections: 0,
    rejected: 0,
    corrects: null,
    ...changes,
  }) as Schemas["ImportState"];

test.each([
  [state({ openRejections: 2 }), "2 rows of the file are not in the case."],
  [state({ openRejections: 1 }), "1 row of the file is not in the case."],
  [state({}), "nothing is open"],
  [state({ openRejections: 3, kind: "images" }), "3 documents of the image load file are not in the case."],
  [state({ status: "checked" }), "Nothing was written to the case."],
  [state({ status: "completed" }), "Every row of the file is in the case."],
  [state({ status: "running" }), "You can leave this page."],
])("an import answers whether everything is in", (given, part) => expect(answer(given)).toContain(part));

test("polls become rarer the longer an import runs", () => {
  expect([0, 29_999, 30_000, 120_000, 600_000, 1e9].map(nextPoll)).toEqual([1e3, 1e3, 2e3, 5e3, 1e4, 1e4]);
});

test.each([
  [0, "0 s"],
  [59.6, "1 min 0 s"],
  [125, "2 min 5 s"],
  [7_500, "2 h 5 min"],
])("%d seconds are %s", (seconds, text) => expect(formatDuration(seconds)).toBe(text));
