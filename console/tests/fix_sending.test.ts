import { expect, test } from "vitest";
import { makeRequest, type Load } from "../src/features/fix/corrections";
import type { Change } from "../src/features/fix/draft";
import { readAll } from "../src/features/fix/queries";
import { addLoad, collectSent } from "../src/features/fix/useCorrecting";

const change = (line: number, text: string) => ({ row: { line }, cells: [text], version: null }) as unknown as Change;

test("a request that has failed is sent again with its key only if it has what is on the page", () => {
  const failed = makeRequest([change(3, "Mueller")], [], undefined);
  expect(makeRequest([change(3, "Mueller")], [], failed)).toBe(failed);
  for (const other of [makeRequest([change(3, "Müller")], [], failed), makeRequest([], [3], failed)])
    expect(other.key).not.toBe(failed.key);
  expect(makeRequest([change(3, "Müller")], [], failed).body.rows).toEqual([{ line: 3, cells: ["Müller"] }]);
});

test("a correction that the rows have named before its response keeps what was sent", () => {
  const named: Load = { importId: 9, sent: [], isEnded: false };
  const own: Load = { ...named, sent: [change(3, "Müller")] };
  expect(addLoad([named], own)).toEqual([own]);
  expect(addLoad([own], named)).toEqual([own]);
  expect(addLoad([own], { ...named, importId: 10 }).map((each) => each.importId)).toEqual([10, 9]);
});

test("a line shows what was sent of it until its import has ended", () => {
  const load = (importId: number, isEnded: boolean, ...sent: Change[]): Load => ({ importId, sent, isEnded });
  const sent = collectSent([load(9, false, change(3, "Müller")), load(8, true, change(4, "Old"))]);
  expect([...sent].map(([line, { cells }]) => [line, cells])).toEqual([[3, ["Müller"]]]);
});

test("what was rejected again is read to its end", async () => {
  const pages = new Map([
    [undefined, { items: [1, 2], next: "b" }],
    ["b", { items: [3], next: null }],
  ]);
  expect(await readAll(async (after) => pages.get(after as undefined)!)).toEqual([1, 2, 3]);
});
