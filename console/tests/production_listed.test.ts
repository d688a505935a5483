import { expect, test } from "vitest";
import type { VolumeFile } from "../src/features/productions/download/files";
import { Listed } from "../src/features/productions/download/listed";
import { digest } from "../src/features/productions/download/sha256";

const describe = (path: string, size: number, digit: string): VolumeFile => ({
  ...{ path, size, sha256: digit.repeat(64), url: "" },
});
const OWN = [describe("MANIFEST.csv", 9, "1"), describe("MANIFEST.sha256", 8, "2")];
const DOCUMENTS = [describe("NATIVES/0001/ü-1.docx", 12, "a"), describe("TEXT/0001/ü-1.txt", 30, "b")];
const LOAD_FILES = [describe("DATA/V.dat", 5, "c"), describe("DATA/V.opt", 6, "d")];

const hashManifest = (files: VolumeFile[]) =>
  digest(
    new TextEncoder().encode(
      ["Path,Size,SHA-256", ...files.map(({ path, size, sha256 }) => `${path},${size},${sha256}`), ""].join("\r\n"),
    ),
  );

function hashList(...pages: VolumeFile[][]): string {
  const listed = new Listed();
  pages.forEach((page, at) => listed.add(page, at === 0));
  return listed.finish();
}

test("a list has the hash of the manifest that lists the same files, whatever its pages", async () => {
  const expected = await hashManifest([...DOCUMENTS, ...LOAD_FILES]);
  expect(hashList([...OWN, ...LOAD_FILES, ...DOCUMENTS])).toBe(expected);
  expect(hashList([...OWN, ...LOAD_FILES], DOCUMENTS.slice(0, 1), DOCUMENTS.slice(1))).toBe(expected);
});

test("a list with another hash, size, path or number of files has another hash than the manifest", async () => {
  const expected = await hashManifest([...DOCUMENTS, ...LOAD_FILES]);
  const [one, two] = DOCUMENTS as [VolumeFile, VolumeFile];
  const lists = [
    [{ ...one, sha256: "e".repeat(64) }, two],
    [{ ...one, size: 13 }, two],
    [{ ...one, path: "NATIVES/0001/u-1.docx" }, two],
    [one],
    [one, two, two],
    [two, one],
  ];
  for (const each of lists) expect(hashList([...OWN, ...LOAD_FILES, ...each])).not.toBe(expected);
});
