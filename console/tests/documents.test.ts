import { expect, test } from "vitest";
import { isCounted, readFilters, readOpen, toQuery, writeFilters } from "../src/features/documents/filters";

test("filters come back from the address as they were written", () => {
  const filters = { title: "a&b=c #1", custodian: "<Ada>", import: 12, bates: "SMITH0000001" };
  expect(readFilters(new URLSearchParams(writeFilters(filters).toString()))).toEqual(filters);
});

test.each([
  ["", {}],
  ["title=%20&import=abc&changed=-1&else=1", {}],
  ["import=1e99&tag=Hot", { tag: "Hot" }],
  ["import=7&open=9", { import: 7 }],
])("the address %s has the filters %o", (address, filters) =>
  expect(readFilters(new URLSearchParams(address))).toEqual(filters),
);

test.each([
  ["open=12", 12],
  ["open=0", null],
  ["open=x", null],
  ["", null],
])("the address %s opens %s", (address, open) => expect(readOpen(new URLSearchParams(address))).toBe(open));

test("a Bates number finds the document whose range has it, and a place is not a filter of the API", () => {
  expect(toQuery({ bates: "A7", from: "A-1", tag: "Hot", changed: 3 })).toEqual({
    batesFrom: "A7",
    batesTo: "A7",
    tag: ["Hot"],
    changedByImport: 3,
  });
});

test("what matches is not counted where every document would be read for it", () => {
  expect([isCounted({}), isCounted({ tag: "Hot", import: 3 }), isCounted({ title: "minutes" })]).toEqual([
    true,
    true,
    false,
  ]);
});
