import { expect, test } from "vitest";
import { FolderTarget } from "../src/features/productions/download/folder";
import { fold } from "../src/features/productions/download/places";

/** A folder in memory, on a disk that tells letters of upper and lower case apart or not. */
function makeFolder(ignoresCase: boolean) {
  const names = new Map<string, string>();
  const key = (name: string) => (ignoresCase ? name.toLowerCase() : name);
  const folder = {
    getDirectoryHandle: async () => folder,
    getFileHandle: async (name: string, options?: { create: boolean }) => {
      if (!names.has(key(name)) && !options?.create) throw new DOMException("none", "NotFoundError");
      names.set(key(name), name);
      return {};
    },
    removeEntry: async (name: string) => void names.delete(key(name)),
  };
  return { names, handle: folder as unknown as FileSystemDirectoryHandle };
}

const ALIKE = [
  ["N/A.txt", "N/a.TXT"],
  ["N/1.txt", "n/1.txt"],
  ["N/é.txt", "N/E\u0301.txt"],
  ["N/straße.txt", "N/STRASSE.txt"],
];

test.each(ALIKE)(
  "%s and %s are refused on a disk that ignores case, whatever page of the list has them",
  async (...two) => {
    for (const pages of [[two], [[two[0]!], ["N/b.txt", two[1]!]]]) {
      const { names, handle } = makeFolder(true);
      const target = new FolderTarget(handle, "V");
      const add = async () => {
        for (const page of pages) await target.admit(page);
      };
      await expect(add()).rejects.toThrow("does not tell apart");
      expect(names.size).toBe(0);
    }
  },
);

test.each(ALIKE)("%s and %s are two files on a disk that tells them apart", async (...two) => {
  const { names, handle } = makeFolder(false);
  await new FolderTarget(handle, "V").admit(two);
  expect(names.size).toBe(0);
});

test("the paths of a large volume differ", async () => {
  const paths = Array.from({ length: 200_000 }, (_, index) => `IMAGES/0001/S${String(index).padStart(7, "0")}.tif`);
  await new FolderTarget(makeFolder(true).handle, "V").admit(paths);
  expect(fold(paths[1]!)).toBe("images/0001/s0000001.tif");
});
