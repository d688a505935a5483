import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { readFilters as readListed, toQuery as toListedQuery } from "../src/api/documentFilters";
import {
  bindNumbers,
  faultOfPrefix,
  labelProduce,
  readDraft,
  toBody,
  writeDraft,
} from "../src/features/productions/draft";
import { linkDocuments, linkWithImages, readFilters, toQuery } from "../src/features/productions/selection";
import { answer, describeStep, describeVoid, isRunning, tellReason } from "../src/features/productions/states";

const known = { caseName: "Smith v. Jones", volume: "VOL002", prefix: undefined };
const check = (changes: Partial<Schemas["ProductionCheck"]>) =>
  ({
    documents: 41_203,
    firstBates: "SMITH0000001",
    lastBates: "SMITH0098322",
    expectedLastBates: "SMITH0098322",
    ...changes,
  }) as Schemas["ProductionCheck"];

const read = (address: string) => {
  const [search, hash = ""] = address.split("#");
  return readDraft(search!, hash);
};

test.each([
  "?tag=Hot&tag=Really+Hot&withoutTag=Privileged&prefix=SMITH&families=1",
  "?custodian=Ada&title=a+%26+b&import=7&changed=8&bates=ABC-1&dateFrom=2019-01-01&hasNative=true&numbering=document",
  "?ids=1%2C2%2C3&prefix=A-&digits=4&start=41&volume=X&column=From&column=To",
  "?numbers=R-1%0AR-2&slips=1",
  "?all=1",
  "",
])("the draft of %s is in its address", (address) => {
  expect(new URLSearchParams(writeDraft(read(address))).toString()).toBe(
    new URLSearchParams(writeDraft(read(writeDraft(read(address))))).toString(),
  );
  expect([...new URLSearchParams(writeDraft(read(address)))].sort()).toEqual([...new URLSearchParams(address)].sort());
});

test("a long list of ids follows the # of an address, which no server gets", () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => index + 1);
  const address = writeDraft({ ...read(""), prefix: "A", selection: { way: "ids", ids } });
  expect(address.split("#")[0]).toBe("?prefix=A");
  expect(read(address).selection).toEqual({ way: "ids", ids });
});

test("what an address has that cannot be is as at the beginning", () => {
  expect(read("?digits=99&start=-1&numbering=x&ids=a,2,2,1&import=x").selection).toEqual({ way: "ids", ids: [1, 2] });
  expect(read("?digits=99&start=0&numbering=x&import=x&tag=%20")).toEqual(read(""));
});

test("filters have the names of the list of documents, and are those of the API", () => {
  const filters = readFilters(new URLSearchParams("tag=Hot&bates=A-1&import=7&hasImages=false&from=X&open=3"));
  expect(toQuery(filters)).toEqual({ tag: ["Hot"], batesFrom: "A-1", batesTo: "A-1", importId: 7, hasImages: false });
  expect(linkDocuments(7, { way: "filters", filters })).toBe(
    "/cases/7/documents?tag=Hot&bates=A-1&import=7&hasImages=false",
  );
  expect(linkDocuments(7, { way: "all" })).toBe("/cases/7/documents");
});

test.each([
  ["tag=Hot&hasText=yes&hasNative=0", "?tag=Hot&hasNative=false&hasText=true"],
  ["bates=A-5&batesFrom=A-1&batesTo=A-9", "?bates=A-5"],
  ["batesFrom=A-1&batesTo=A-9", "?batesFrom=A-1&batesTo=A-9"],
  ["tag=Hot&controlNumber=D-1", null],
  ["parent=D-1", null],
  ["dateFrom=2019", null],
  [Array.from({ length: 11 }, (_, number) => `tag=T${number}`).join("&"), null],
  ["", null],
])("the list of %s has exactly these documents, or there is no link", (address, query) => {
  const filters = readFilters(new URLSearchParams(address));
  const link = linkDocuments(7, { way: "filters", filters });
  expect(link).toBe(query === null ? null : `/cases/7/documents${query}`);
  if (link) expect(toListedQuery(readListed(new URLSearchParams(query!)))).toEqual(toQuery(filters));
});

test("those with images of a list are its own, and of a list of those without there are none", () => {
  expect(linkWithImages("/cases/7/documents")).toBe("/cases/7/documents?hasImages=true");
  expect(linkWithImages("/cases/7/documents?tag=A%26B&hasImages=true")).toBe(
    "/cases/7/documents?tag=A%26B&hasImages=true",
  );
  expect(linkWithImages("/cases/7/documents?hasImages=false&tag=Hot")).toBeNull();
});

test("a request needs documents and a prefix; a prefix in use keeps its digits and goes on", () => {
  expect(toBody(read("?prefix=A"), known)).toBeNull();
  expect(toBody(read("?tag=Hot"), known)).toBeNull();
  expect(toBody(read("?all=1&prefix=A1"), known)).toBeNull();
  const draft = read("?tag=Hot&prefix=SMITH&digits=4&start=41");
  expect(toBody(draft, known)).toEqual({
    ...{ case: "Smith v. Jones", volume: "VOL002", prefix: "SMITH", digits: 4, startAt: 41 },
    query: { tag: ["Hot"] },
  });
  const prefix = { prefix: "SMITH", digits: 7, nextNumber: 38, nextBates: "SMITH0000038", voidRanges: [] };
  const body = toBody(draft, { ...known, prefix })!;
  expect([body.digits, body.startAt]).toEqual([7, undefined]);
  expect(bindNumbers(body, check({ firstBates: "SMITH0000038" })).startAt).toBe(38);
});

test("prefixes are those of the API", () => {
  expect(["SMITH", "ABC-", "A_B", "9A"].map(faultOfPrefix)).toEqual([null, null, null, null]);
  for (const each of ["A1", "-A", "A B", "", "Ä"]) expect(faultOfPrefix(each)).not.toBeNull();
});

test.each([
  [{}, "Produce 41,203 documents as SMITH0000001 to SMITH0098322"],
  [{ lastBates: null }, "Produce 41,203 documents as SMITH0000001 to SMITH0098322 (expected)"],
  [{ documents: 1, lastBates: "SMITH0000001" }, "Produce 1 document as SMITH0000001"],
  [{ lastBates: null, expectedLastBates: null }, "Produce 41,203 documents from SMITH0000001 on"],
])("the button says what it does: %o", (changes, words) => expect(labelProduce(check(changes))).toBe(words));

test("a step under way says how far it is, and a cancellation what it voids", () => {
  const step = (changes: object) => ({ name: "copy", status: "pending", done: 41_203, total: 100_000, ...changes });
  const production = { status: "running", steps: [step({})], firstBates: null } as unknown as Schemas["Production"];
  const describe = (changes: object, isNext = true) =>
    describeStep(step(changes) as Schemas["ProductionStep"], production, isNext);
  expect(describe({})).toBe("41,203 of 100,000 documents");
  expect(describe({ total: null })).toBe("running");
  expect(describe({}, false)).toBe("waits");
  expect(describe({ status: "compensated" })).toBe("undone: its files are deleted");
  expect(isRunning({ ...production, status: "confirmed" })).toBe(true);
  expect(isRunning({ ...production, status: "needs_attention" })).toBe(false);
  expect(describeVoid(production)).toContain("no numbers yet");
  expect(describeVoid({ ...production, firstBates: "A1", lastBates: "A9", documents: 3 })).toBe(
    "The numbers A1 to A9 of 3 documents become void: they are never given again.",
  );
});

test("a production that failed says so, and its reason is in the words of the pages", () => {
  const ended = { status: "cancelled", firstBates: "A1", lastBates: "A9", failedStep: "copy", cancelRequested: false };
  const production = { ...ended, documents: 3, steps: [] } as unknown as Schemas["Production"];
  expect(answer(production)).toBe(
    "The production failed and was undone. Its files are deleted, and the numbers A1 to A9 are void.",
  );
  expect(answer({ ...production, cancelRequested: true })).toContain("was cancelled.");
  const step = { name: "copy", status: "compensated", done: 0, total: 3 } as Schemas["ProductionStep"];
  expect(describeStep(step, production, false)).toBe("failed, then undone: its files are deleted");
  expect(tellReason("The next number of the prefix is 38: omit startAt, or use another prefix.")).toContain("draft it");
  const missing =
    "Files of document A-1 cannot be copied: 1 not in the bucket. The numbers are void. Restore the files, ";
  expect(tellReason(`${missing}check (POST /productions/check), and request a new production.`)).toBe(
    `${missing}then draft it again.`,
  );
});
