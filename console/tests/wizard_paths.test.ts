import { expect, test } from "vitest";
import { VolumeFiles } from "../src/features/wizard/paths";

const PATHS = [
  "VOL001/DATA/VOL001.dat",
  "VOL001/NATIVES/1.doc",
  "VOL001/NATIVES/Ä.doc",
  "VOL001/TEXT/1.txt",
  "VOL001/TEXT/two.txt",
  "VOL001/TEXT/TWO.txt",
  "VOL001/DATA/beside.txt",
];
const files = new VolumeFiles(PATHS, "VOL001", "VOL001/DATA/VOL001.dat");
const none = { stripPrefix: [], addPrefix: "" };

test.each([
  ["NATIVES\\1.doc", 3, "VOL001/NATIVES/1.doc"],
  [".\\NATIVES\\\\1.doc ", 3, "VOL001/NATIVES/1.doc"],
  ["\\NATIVES\\1.doc", 3, "VOL001/NATIVES/1.doc"],
  ["VOL001\\NATIVES\\1.doc", 4, "VOL001/NATIVES/1.doc"],
  ["vol001/NATIVES/1.doc", 4, "VOL001/NATIVES/1.doc"],
  ["beside.txt", 5, "VOL001/DATA/beside.txt"],
  ["natives/A\u0308.DOC", 6, "VOL001/NATIVES/Ä.doc"],
  ["1.doc", 9, "VOL001/NATIVES/1.doc"],
])("%s is found by rule %d", (path, rule, file) =>
  expect(files.resolve(path, none)).toEqual({ result: "found", rule, file }),
);

test("prefixes lead to files and take precedence", () => {
  const strip = { stripPrefix: ["D:\\export", "D:\\"], addPrefix: "" };
  expect(files.resolve("d:\\EXPORT\\TEXT\\1.txt", strip)).toMatchObject({ rule: 2, file: "VOL001/TEXT/1.txt" });
  expect(files.resolve("1.txt", { stripPrefix: [], addPrefix: "TEXT" })).toMatchObject({ rule: 7 });
  const share = { stripPrefix: ["\\\\server\\share"], addPrefix: "" };
  expect(files.resolve("\\\\server\\share\\TEXT\\1.txt", share)).toMatchObject({ rule: 2 });
});

test.each([
  ["..\\..\\etc\\passwd", "refused"],
  ["C:\\x.doc", "refused"],
  ["\\\\server\\share\\1.doc", "refused"],
  ["https://x/1.doc", "refused"],
  ["TEXT\\Two.TXT", "ambiguous"],
])("%s is %s", (path, result) => expect(files.resolve(path, none)).toEqual({ result }));

test("a missing file is named where the volume has one of its name", () => {
  expect(files.resolve("OLD\\1.doc", none)).toEqual({ result: "missing", elsewhere: "VOL001/NATIVES/1.doc" });
  expect(files.resolve("OLD\\9.doc", none)).toEqual({ result: "missing", elsewhere: null });
});
