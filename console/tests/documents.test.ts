import { expect, test } from "vitest";
import { querySerializer } from "../src/api/client";
import {
  addName,
  isCounted,
  isFiltered,
  listParts,
  readFilters,
  readOpen,
  toQuery,
  writeFilters,
  type Filters,
  hrefOfWork,
  readWork,
} from "../src/api/documentFilters";

const HOSTILE = ["a&b=c #1", "<Ada>", "Lee, Ann", "x\u202ey", "Hot\\Really Hot", "+%2B 100%", "ü".repeat(255)];
const ALL: Filters = {
  title: "minutes of the board",
  custodian: HOSTILE,
  tag: HOSTILE,
  tagTree: ["Hot"],
  withoutTag: "Privileged, reviewed",
  bates: "SMITH0000001",
  batesFrom: "A1",
  batesTo: "A9",
  confidentiality: "AEO",
  family: "F-1",
  from: "D-0001",
  dateFrom: "2019-12-31",
  dateTo: "2020-02-29",
  hasNative: true,
  hasText: false,
  hasImages: true,
  import: 12,
  changed: 13,
  ids: [7, 3],
  except: [9],
};

test("every filter comes back from the address as it was written", () => {
  expect(readFilters(new URLSearchParams(writeFilters(ALL).toString()))).toEqual(ALL);
  // `bates` is two of the API, and so are `batesFrom` and `batesTo`; `from` is none.
  expect(Object.keys(toQuery(ALL))).toHaveLength(Object.keys(ALL).length - 2);
});

test.each([
  ["", {}],
  ["title=%20&import=abc&changed=-1&else=1", {}],
  ["import=1e99&tag=Hot", { tag: ["Hot"] }],
  ["import=7&open=9", { import: 7 }],
  ["tag=a&tag=b&tag=a&tag=", { tag: ["a", "b"] }],
  ["dateFrom=2019-02-30&dateTo=31.12.2019&hasNative=yes&hasText=false", { hasText: false }],
  ["ids=3,x,3,0,5&except=", { ids: [3, 5] }],
])("the address %s has the filters %o", (address, filters) =>
  expect(readFilters(new URLSearchParams(address))).toEqual(filters),
);

test("no more names and ids are read than the server takes", () => {
  const names = Array.from({ length: 12 }, (_, number) => `tag=${number}`).join("&");
  const ids = Array.from({ length: 1_200 }, (_, number) => number + 1).join(",");
  const { tag, except } = readFilters(new URLSearchParams(`${names}&except=${ids}`));
  expect([tag?.length, except?.length]).toEqual([10, 1_000]);
  expect(addName({ tag }, "tag", "new").tag).toEqual([...tag!.slice(1), "new"]);
});

test.each([
  ["open=12", 12],
  ["open=0", null],
  ["open=x", null],
  ["", null],
])("the address %s opens %s", (address, open) => expect(readOpen(new URLSearchParams(address))).toBe(open));

test("a Bates number finds the document whose range has it, and a place is not a filter of the API", () => {
  expect(toQuery({ bates: "A7", from: "A-1", tag: ["Hot"], changed: 3, title: "", custodian: [] })).toEqual({
    batesFrom: "A7",
    batesTo: "A7",
    tag: ["Hot"],
    changedByImport: 3,
  });
  expect([isFiltered({ from: "A-1" }), isFiltered({ hasNative: false })]).toEqual([false, true]);
});

test("each filter, and each name of one, is taken away alone", () => {
  const filters: Filters = { tag: ["a", "b"], hasText: false, ids: [1, 2] };
  expect(listParts(filters)).toEqual([
    { name: "tag", value: "a", without: { tag: ["b"], hasText: false, ids: [1, 2] } },
    { name: "tag", value: "b", without: { tag: ["a"], hasText: false, ids: [1, 2] } },
    { name: "hasText", value: false, without: { tag: ["a", "b"], ids: [1, 2] } },
    { name: "ids", value: 2, without: { tag: ["a", "b"], hasText: false } },
  ]);
  expect(listParts({ tag: ["a"] })[0]!.without).toEqual({});
});

test("names with commas are repeated in a query, and ids are joined", () => {
  const query = { caseId: 1, tag: ["Lee, Ann", "b"], include: ["custodians", "tags"], ids: [1, 2], after: undefined };
  expect(querySerializer(query)).toBe("caseId=1&tag=Lee%2C%20Ann&tag=b&include=custodians%2Ctags&ids=1%2C2");
});

test("what matches is not counted where every document would be read for it", () => {
  expect([isCounted({}), isCounted({ tag: ["Hot"], import: 3 }), isCounted({ title: "minutes" })]).toEqual([
    true,
    true,
    false,
  ]);
});

test("an address names an export or a tagging job by its id, and nothing else", () => {
  const read = (path: string) => readWork(new URLSearchParams(path.split("?")[1]));
  expect(read(hrefOfWork(7, "export", 12))).toEqual({ kind: "export", id: 12 });
  expect(read(hrefOfWork(7, "tagging_job", 3))).toEqual({ kind: "tagging_job", id: 3 });
  expect(["?work=export:0", "?work=import:7", "?work=export:1e3", "?tag=export:7"].map(read)).toEqual([
    ...[null, null, null, null],
  ]);
});
