import { expect, test } from "vitest";
import { BATCH, sendBatches, toBatches, type Batch } from "../src/features/documents/actions/batches";
import { orderTags } from "../src/features/documents/actions/order";
import { fromSelected, hrefToProduce, toSelected } from "../src/features/documents/actions/selected";
import { describeJob, describeTagging } from "../src/features/documents/actions/words";
import { listParents, refuseName } from "../src/features/documents/filtering/tags";
import { readFilters, toQuery, type Filters } from "../src/api/documentFilters";
import { ALL, choose, NOTHING, type Selection } from "../src/features/documents/selection";

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number + 1);
const some = (count: number): Selection => choose(NOTHING, numbers(count));
const allBut = (...ids: number[]): Selection => choose(ALL, ids, false);

test("each document is in one batch, and each batch has a key of its own", () => {
  const batches = toBatches(numbers(2 * BATCH + 1));
  expect(batches.map(({ ids }) => ids.length)).toEqual([BATCH, BATCH, 1]);
  expect(batches.flatMap(({ ids }) => ids)).toEqual(numbers(2 * BATCH + 1));
  expect(new Set(batches.map(({ key }) => key)).size).toBe(3);
});

test("what fails is left out, the others go on, and it is sent again with the same key", async () => {
  const batches = toBatches(numbers(2 * BATCH + 500));
  const sent: string[] = [];
  const done: number[] = [];
  const refused = new Error("No exhibit 1500");
  let isBroken = true;
  const send = async ({ key, ids }: Batch) => {
    sent.push(key);
    if (isBroken && key === batches[1]!.key) throw refused;
    return ids.length - 1;
  };
  const first = await sendBatches(batches, send, (documents) => done.push(documents));
  expect(first).toEqual({ documents: 1_500, changed: 1_498, failed: [batches[1]], error: refused });
  isBroken = false;
  const second = await sendBatches(first.failed, send, (documents) => done.push(documents), undefined, first);
  expect(second).toEqual({ documents: 2_500, changed: 2_497, failed: [], error: null });
  expect(done).toEqual([1_000, 1_500, 2_500]);
  expect(sent).toEqual([...batches.map(({ key }) => key), batches[1]!.key]);
});

test("what is stopped is left to be sent again, and no reason is made up", async () => {
  const batches = toBatches(numbers(3 * BATCH));
  let done = 0;
  const outcome = await sendBatches(
    batches,
    async ({ ids }) => ids.length,
    (documents) => void (done = documents),
    () => done >= BATCH,
  );
  expect(outcome).toEqual({ documents: 1_000, changed: 1_000, failed: batches.slice(1), error: null });
});

test("chosen documents are named, and those left out are, as far as a request can", () => {
  const filters: Filters = { tag: ["Hot"], from: "A-1", except: [9] };
  expect(toSelected(filters, some(3))).toEqual({ ids: [1, 2, 3] });
  expect(toSelected(filters, allBut(5, 9))).toEqual({ tag: ["Hot"], exceptIds: [9, 5] });
  expect(toSelected({}, ALL)).toEqual({});
  expect([toSelected({}, some(1_001)), toSelected({}, allBut(...numbers(1_001)))]).toEqual([null, null]);
});

test("what an address cannot say is never produced as if it had said it", () => {
  const path = "/cases/7/productions/new";
  const filters: Filters = { tag: ["a&b", "c"], from: "A-1", hasText: false };
  expect(hrefToProduce(7, filters, some(2))).toBe(`${path}?ids=1,2`);
  const all = hrefToProduce(7, filters, ALL)!;
  expect(readFilters(new URLSearchParams(all.split("?")[1]))).toEqual({ tag: ["a&b", "c"], hasText: false });
  expect(hrefToProduce(7, { from: "A-1" }, ALL)).toBe(`${path}?all=1`);
  expect(hrefToProduce(7, { ids: [4, 5] }, ALL)).toBe(`${path}?ids=4,5`);
  for (const refused of [
    hrefToProduce(7, filters, some(201)),
    hrefToProduce(7, filters, allBut(3)),
    hrefToProduce(7, { except: [3] }, ALL),
    hrefToProduce(7, { ids: [3], tag: ["Hot"] }, ALL),
  ])
    expect(refused).toBeNull();
});

test("the filters of an export lead to its documents", () => {
  const filters: Filters = { tag: ["Hot"], import: 3, changed: 4, except: [5], hasText: false };
  expect(fromSelected(toQuery(filters))).toEqual(filters);
  expect(fromSelected({ controlNumber: "A-1" })).toBeNull();
});

test("the tag that is typed comes first, and is new only if there is none like it", () => {
  const found = ["A Hot", "hot", "Hotter"].map((name) => ({ name, documents: 1 }));
  const { known, isNew } = orderTags(found, "HOT");
  expect([known.map(({ name }) => name), isNew]).toEqual([["hot", "A Hot", "Hotter"], false]);
  expect([orderTags(found, "Ho").isNew, orderTags(found, "").isNew]).toEqual([true, false]);
});

test("a nested tag has a name at every level", () => {
  expect(listParents(["Issue\\Damages\\Lost profit", "Issue\\Fraud", "Hot"])).toEqual(["Issue", "Issue\\Damages"]);
  expect(["Hot\\Really Hot", "Hot", "a/b & <b>"].map(refuseName)).toEqual([null, null, null]);
  for (const name of ["\\Hot", "Hot\\", "a\\\\b", "a\\ \\b", "y".repeat(501), "a\u202eb", "a\u00a0b"])
    expect(refuseName(name)).not.toBeNull();
});

test("what was done is said in numbers", () => {
  expect(describeTagging(3, 3, false)).toBe("3 documents tagged");
  expect(describeTagging(41_215, 41_203, false)).toBe("41,203 documents tagged; 12 had it already");
  expect(describeTagging(3, 2, true)).toBe("removed from 2 documents; 1 did not have it");
  const job = {
    ...{ id: 1, case: "C", add: ["Hot"], remove: [], expected: 104_213, expectedIsLowerBound: false, tagged: 41_203 },
    ...{ created: 41_200, removed: 0, remaining: null, createdBy: "me", createdAt: "", finishedAt: null },
  };
  expect(describeJob({ ...job, status: "running" })).toBe("41,203 of 104,213 documents");
  expect(describeJob({ ...job, status: "cancelled" })).toBe(
    "cancelled after 41,203 documents: 41,200 documents tagged; 3 had it already. What is done stays",
  );
});
