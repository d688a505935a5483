import { expect, test } from "vitest";
import { DocumentList } from "../src/features/documents/list/document_list";
import { search, type Page } from "../src/features/documents/list/search";
import type { Row } from "../src/features/documents/list/pieces";
import type { Place } from "../src/features/documents/list/reads";

/** Every how many documents one matches, and in how many one page searches. */
const [COUNT, EVERY, SEARCHED] = [400, 37, 10];

const keyOf = (number: number) => `D-${String(number).padStart(4, "0")}`;

/** A server that searches some documents for each page: most pages have no rows, and a cursor is the last one of them. */
function readSearched(place: Place, limit: number): Page<Row> {
  const [name, key] = Object.entries(place)[0] ?? ["after", null];
  const at = key === null ? -1 : Number(key.slice(2));
  const step = name === "before" ? -1 : 1;
  const items: Row[] = [];
  let now = at;
  for (let looked = 0; looked < SEARCHED && items.length < limit; looked++) {
    now += step;
    if (now < 0 || now >= COUNT) break;
    if (now % EVERY === 0) items.push({ id: now, controlNumber: keyOf(now) });
  }
  const isOver = now < 0 || now >= COUNT - 1;
  const onward = isOver ? null : keyOf(now);
  const back = key === null ? null : (items[0]?.controlNumber ?? onward ?? key);
  const searched = isOver ? null : SEARCHED;
  if (name === "before") return { items: items.reverse(), next: back, prev: now <= 0 ? null : onward, searched };
  return { items, next: onward, prev: back, searched };
}

test("a page without rows goes on until it has some or the list ends", async () => {
  const counted: number[] = [];
  const first = await search(
    async (place) => readSearched(place, 5),
    { after: keyOf(1) },
    (n) => counted.push(n),
  );
  expect(first.items.map(({ id }) => id)).toEqual([37]);
  expect(counted).toEqual([10, 20, 30]);
  const last = await search(
    async (place) => readSearched(place, 5),
    { after: keyOf(371) },
    () => {},
  );
  expect([last.items, last.next]).toEqual([[], null]);
  const before = await search(
    async (place) => readSearched(place, 5),
    { before: keyOf(370) },
    () => {},
  );
  expect(before.items.map(({ id }) => id)).toEqual([333]);
  const begin = await search(
    async (place) => readSearched(place, 5),
    { before: keyOf(0) },
    () => {},
  );
  expect([begin.items, begin.prev]).toEqual([[], null]);
});

test("a list of short pages has every row once, and is counted at its end", async () => {
  const list: DocumentList<Row> = new DocumentList({
    readPage: (place, limit) => ({
      answer: search(
        async (at) => readSearched(at, limit),
        place,
        (searched) => list.setSearched(searched),
      ),
      cancel: () => {},
    }),
    readKeys: () => ({ answer: Promise.reject(new Error("not counted")), cancel: () => {} }),
  });
  list.show(0, 30);
  await expect.poll(() => list.isCounted).toBe(true);
  const rows = list.pieces.all.flatMap((piece) => piece.rows ?? []);
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 11 }, (_, number) => number * EVERY));
  expect([list.pieces.total, list.searched, list.error]).toEqual([11, 0, null]);
});
