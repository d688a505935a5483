import { expect, test } from "vitest";
import { collectDrop, collectInput, summarize, type Picked } from "../../src/upload";
import { makeFile } from "./world";

/** The entries that a browser gives for a drop of these paths; `readEntries` returns at most 100 at a time. */
function drop(paths: string[]): DataTransfer {
  let isInEvent = true;
  queueMicrotask(() => (isInEvent = false));
  const roots = listEntries(paths, "");
  const items = roots.map((entry) => ({ kind: "file", webkitGetAsEntry: () => (isInEvent ? entry : null) }));
  return { items, files: [] } as unknown as DataTransfer;
}

function listEntries(paths: string[], above: string): unknown[] {
  const names = new Set(
    paths.filter((path) => path.startsWith(above)).map((path) => path.slice(above.length).split("/")[0]!),
  );
  return [...names].map((name) => {
    const fullPath = `/${above}${name}`;
    if (paths.includes(above + name)) {
      const file = (resolve: (file: File) => void) => resolve(makeFile(name, name));
      return { isFile: true, isDirectory: false, fullPath, file };
    }
    const createReader = () => {
      const left = listEntries(paths, `${above}${name}/`);
      return { readEntries: (resolve: (batch: unknown[]) => void) => setTimeout(() => resolve(left.splice(0, 100))) };
    };
    return { isFile: false, isDirectory: true, fullPath, createReader };
  });
}

const describe = (picked: Picked) => picked.things.map(({ kind, name, files }) => [kind, name, files.length]);

test("a folder is collected with its paths, without the files of systems", async () => {
  const natives = Array.from({ length: 250 }, (_, at) => `VOL001/NATIVES/${at}.txt`);
  const system = ["VOL001/.DS_Store", "VOL001/NATIVES/Thumbs.db", "VOL001/IMAGES/thumbs.db", "VOL001/__MACOSX/a"];
  const paths = [...natives, "VOL001/DATA/VOL001.dat", "VOL001/DATA/VOL001.opt", ...system];
  const picked = await collectDrop(drop(paths));
  expect(picked).toMatchObject({ files: 252, leftOut: { ".DS_Store": 1, "Thumbs.db": 2, "__MACOSX/": 1 } });
  expect(picked.things).toMatchObject([
    {
      kind: "volume",
      name: "VOL001",
      loadFiles: ["VOL001/DATA/VOL001.dat"],
      imageLoadFiles: ["VOL001/DATA/VOL001.opt"],
    },
  ]);
  expect(picked.things[0]!.files.map(({ path }) => path)).toEqual(
    [...natives, "VOL001/DATA/VOL001.dat", "VOL001/DATA/VOL001.opt"].sort(),
  );
});

test.each([
  ["nothing that is of use", [".DS_Store"], []],
  ["a load file", ["a.dat"], [["load-file", "a.dat", 1]]],
  ["an image load file", ["a.opt"], [["load-file", "a.opt", 1]]],
  [
    "load files",
    ["a.dat", "b.csv"],
    [
      ["load-file", "a.dat", 1],
      ["load-file", "b.csv", 1],
    ],
  ],
  [
    "a load file and a note",
    ["a.dat", "read me.txt"],
    [
      ["load-file", "a.dat", 1],
      ["other", "read me.txt", 1],
    ],
  ],
  ["a load file with its images", ["a.dat", "a.opt"], [["volume", "a", 2]]],
  ["a zip", ["VOL001.zip"], [["zip", "VOL001.zip", 1]]],
  [
    "zips, in the order of their numbers",
    ["VOL10.zip", "VOL2.ZIP"],
    [
      ["zip", "VOL2.ZIP", 1],
      ["zip", "VOL10.zip", 1],
    ],
  ],
  ["the contents of a volume", ["DATA/a.dat", "IMAGES/1.tif", "NATIVES/1.pdf"], [["volume", "a", 3]]],
  ["a zip in a volume", ["V/a.dat", "V/x/b.zip"], [["volume", "V", 2]]],
  [
    "volumes",
    ["V2/a.dat", "V1/DATA/b.dat", "letter.pdf"],
    [
      ["volume", "V1", 1],
      ["volume", "V2", 1],
      ["other", "letter.pdf", 1],
    ],
  ],
  [
    "a folder of volumes",
    ["P/V1/a.dat", "P/V2/b.dat", "P/V3.zip"],
    [
      ["volume", "V1", 1],
      ["volume", "V2", 1],
      ["zip", "V3.zip", 1],
    ],
  ],
  ["a folder without a load file", ["V/1.pdf"], [["volume", "V", 1]]],
  [
    "other files, of which each is one thing: only one can be read as a load file",
    ["1.pdf", "2.pdf"],
    [
      ["other", "1.pdf", 1],
      ["other", "2.pdf", 1],
    ],
  ],
  [
    "volumes and a folder, which is sent as a whole",
    ["V1/a.dat", "V2/b.dat", "Letters/1.pdf", "Letters/2.pdf"],
    [
      ["volume", "Letters", 2],
      ["volume", "V1", 1],
      ["volume", "V2", 1],
    ],
  ],
])("it is said what was dropped: %s", async (_, paths, expected) => {
  const picked = await collectDrop(drop(paths));
  expect(describe(picked)).toEqual(expected);
});

test.each([
  ["a table before notes", ["V/DATA/a.dat", "V/DATA/read.txt", "V/MANIFEST.csv"], ["V/DATA/a.dat"], []],
  ["a note where there is no other", ["V/a.txt", "V/b.pdf"], ["V/a.txt"], []],
  [
    "several, in their order",
    ["V/b.dat", "V/a.csv", "V/2.opt", "V/1.opt"],
    ["V/a.csv", "V/b.dat"],
    ["V/1.opt", "V/2.opt"],
  ],
  ["not in other folders", ["V/OCR/a.dat", "V/b.dat"], ["V/b.dat"], []],
  ["not those that macOS adds", ["V/._a.dat", "V/a.dat"], ["V/a.dat"], []],
])("the load files of a volume are those of the server: %s", async (_, paths, loadFiles, imageLoadFiles) => {
  expect((await collectDrop(drop(paths))).things).toMatchObject([{ kind: "volume", loadFiles, imageLoadFiles }]);
});

test("20,000 files of a field leave the page time to draw", async () => {
  const files = Array.from({ length: 20_000 }, (_, at) => {
    const file = makeFile(`${at}.tif`, "");
    return Object.defineProperty(file, "webkitRelativePath", { value: `V/IMAGES/${at % 20}/${at}.tif` });
  });
  const [counts, state] = [new Array<number>(), { turns: 0, isDone: false }];
  const turn = () => {
    state.turns += 1;
    if (!state.isDone) setTimeout(turn);
  };
  setTimeout(turn);
  const picked = await collectInput(files, (count) => counts.push(count));
  state.isDone = true;
  expect(picked.files).toBe(20_000);
  expect(state.turns).toBeGreaterThan(10);
  expect(counts.at(-1)).toBe(20_000);
  expect(summarize(picked.things[0]!.files).folders.length).toBe(20);
});

test("two files with one path are refused, because one of them would be missing", async () => {
  const twice = collectInput([makeFile("a.dat", "1"), makeFile("a.dat", "2")]);
  await expect(twice).rejects.toThrow("Two files have the path a.dat.");
});

test("no file is left out for a name that the server keeps", async () => {
  const paths = ["V/a.dat", "V/NATIVES/Ada/__MACOSX/1.doc", "V/constructor", "V/__proto__", "V/x.constructor"];
  const picked = await collectDrop(drop(paths));
  expect(picked).toMatchObject({ files: 5, leftOut: {} });
  expect(picked.things).toMatchObject([{ kind: "volume", loadFiles: ["V/a.dat"] }]);
});

test("a drop of which a part has no entry is collected as a whole, or refused", async () => {
  const loose = (file: File | null) => ({ kind: "file", webkitGetAsEntry: () => null, getAsFile: () => file });
  const collect = (file: File | null) =>
    collectDrop({ items: [...drop(["V/a.dat"]).items, loose(file)], files: [] } as unknown as DataTransfer);
  expect((await collect(makeFile("b.pdf", ""))).files).toBe(2);
  await expect(collect(null)).rejects.toThrow("cannot be read");
});

test("files are counted by folder, and the ten largest are named", () => {
  const files = Array.from({ length: 100 }, (_, at) => ({
    path: `V/${at % 3}/${at}`,
    size: at,
    file: makeFile("a", ""),
  }));
  const { folders, largest } = summarize(files);
  expect(folders).toEqual([
    { folder: "V/0", files: 34, bytes: 1683 },
    { folder: "V/1", files: 33, bytes: 1617 },
    { folder: "V/2", files: 33, bytes: 1650 },
  ]);
  expect(largest.map(({ size }) => size)).toEqual([99, 98, 97, 96, 95, 94, 93, 92, 91, 90]);
});
