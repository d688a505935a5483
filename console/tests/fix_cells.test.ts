import { expect, test } from "vitest";
import {
  chooseJoiner,
  describeFit,
  insertEmpty,
  joinRecords,
  merge,
  removeEmpty,
  split,
  splitRaw,
} from "../src/features/fix/cells";
import { keepLineEnds, toControl } from "../src/ui/lineEnds";

test.each([
  ["one\r\ntwo", "one\ntwo!", "one\r\ntwo!"],
  ["one\r\ntwo\rthree\nfour", "ONE\ntwo\nthree\nfour", "ONE\r\ntwo\rthree\nfour"],
  ["one\r\ntwo", "one\nnew\ntwo", "one\r\nnew\ntwo"],
  ["a\r\nb\r\nc", "a\nc", "a\r\nc"],
  ["a\r\n", "", ""],
  ["plain", "plain\nmore", "plain\nmore"],
  ["\r\ud83d\ude00", "\n\ud83d\ude00x", "\r\ud83d\ude00x"],
])("an edit of %j to %j keeps the line ends of what is not touched", (before, shown, after) => {
  expect(keepLineEnds(before, shown)).toBe(after);
  expect(toControl(after)).toBe(shown);
});

test("cells without an edit stay as they are, byte for byte", () => {
  for (const text of ["a\r\nb\rc\n\r", "", "\u202eabc\u0000", "x".repeat(10)])
    expect(keepLineEnds(text, toControl(text))).toBe(text);
});

test("merging puts the delimiter back that had divided the cells", () => {
  expect(merge(["A-1", "Lee", " Ann", "x"], 1, ",")).toEqual(["A-1", "Lee, Ann", "x"]);
  expect(merge(["A-1", "x"], 1, ",")).toEqual(["A-1", "x"]);
  expect([",", "\t", "|", "\u0014", undefined].map(chooseJoiner)).toEqual([",", "\t", "|", "", ""]);
});

test("splitting divides at the position of the control, where a CRLF counts once", () => {
  expect(split(["a\r\nbc", "d"], 0, 2)).toEqual(["a\r\n", "bc", "d"]);
  expect(split(["abc"], 0, 0)).toEqual(["", "abc"]);
  expect(split(["abc"], 0, 3)).toEqual(["abc", ""]);
  const cells = ["one", "t,wo", "three"];
  expect(merge(split(cells, 1, 2), 1, "")).toEqual(cells);
});

test("shifting loses no text", () => {
  expect(insertEmpty(["a", "b"], 1)).toEqual(["a", "", "b"]);
  expect(removeEmpty(["a", "", "b"], 1)).toEqual(["a", "b"]);
  expect(removeEmpty(["a", " ", "b"], 1)).toEqual(["a", " ", "b"]);
});

test("a record that a line break divided is put together with the line end of the file", () => {
  const joined = joinRecords(["A-1", "first line"], ["second line", "Ada"], "\r\n");
  expect(joined).toEqual(["A-1", "first line\r\nsecond line", "Ada"]);
});

test.each([
  ['"A-1","He said "yes", then","x"\r\n', ",", '"', ["A-1", 'He said "yes", then', "x"]],
  ['A-8,said "yes", then,"2019', ",", '"', ["A-8", 'said "yes"', " then", "2019"]],
  ['x,"He said "yes", then",z', ",", '"', ["x", 'He said "yes"', " then", "z"]],
  ['x,"a ""b"" c",', ",", '"', ["x", 'a "b" c', ""]],
  ['A-1,"open,x', ",", '"', ["A-1", "open", "x"]],
  ["þA-1þ\u0014þa þþb þþþ\u0014þxþ\n", "\u0014", "þ", ["A-1", "a þb þ", "x"]],
  ["a|b|", "|", null, ["a", "b", ""]],
  ['"', ",", '"', [""]],
])("the raw record %j is divided as well as possible", (raw, delimiter, qualifier, cells) => {
  expect(splitRaw(raw, delimiter, qualifier)).toEqual(cells);
});

test.each([
  [21, 19, "21 cells, 19 columns: 2 too many."],
  [1, 2, "1 cell, 2 columns: 1 missing."],
  [3, 3, "3 cells, 3 columns: the row fits."],
])("%d cells for %d columns are said", (found, expected, text) => expect(describeFit(found, expected)).toBe(text));
