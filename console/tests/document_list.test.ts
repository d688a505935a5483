import { describe, expect, test, vi } from "vitest";
import { DocumentList } from "../src/features/documents/list/document_list";
import { MOST_PAGES } from "../src/features/documents/list/planning";
import { compareKeys, countBefore } from "../src/features/documents/list/order";
import type { Answer, Row } from "../src/features/documents/list/pieces";
import type { Place, Source } from "../src/features/documents/list/reads";

/** A server whose documents change, and the answers that it has not sent yet. */
class Server implements Source<Row> {
  keys: string[];
  waiting: (() => void)[] = [];
  pages = 0;
  samples = 0;
  constructor(
    count: number,
    private readonly canSample = true,
  ) {
    this.keys = Array.from({ length: count }, (_, number) => `D-${String(number).padStart(8, "0")}`);
  }

  private reply<T>(make: () => T) {
    let cancel = () => {};
    const answer = new Promise<T>((resolve, reject) => {
      cancel = () => reject(new Error("cancelled"));
      this.waiting.push(() => {
        try {
          resolve(make());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    return { answer, cancel };
  }

  readPage(place: Place, limit: number) {
    this.pages += 1;
    return this.reply(() => {
      const key = Object.values(place)[0] as string | undefined;
      const begin = key === undefined ? 0 : countBefore(this.keys, (each) => each < key);
      const after = begin + (this.keys[begin] === key ? 1 : 0);
      let [first, last] = "after" in place ? [after, after + limit] : [begin, begin + limit];
      if ("before" in place) [first, last] = [Math.max(begin - limit, 0), begin];
      const items = this.keys.slice(first, last).map((controlNumber) => ({ id: idOf(controlNumber), controlNumber }));
      const [start, end] = [items[0]?.controlNumber, items.at(-1)?.controlNumber];
      return { items, next: last < this.keys.length ? (end ?? null) : null, prev: first > 0 ? (start ?? null) : null };
    });
  }

  readKeys({ every, limit, from, after }: { every: number; limit: number; from?: string; after?: string }) {
    this.samples += 1;
    return this.reply(() => {
      if (!this.canSample) throw new Error("no sample");
      const place = from ?? after;
      const begin = place === undefined ? 0 : countBefore(this.keys, (each) => each < place);
      const first = begin + (after === undefined ? 0 : every);
      const items = [];
      for (let at = first; at < this.keys.length && items.length <= limit; at += every) items.push(this.keys[at]!);
      return { items: items.slice(0, limit), next: items.length > limit ? items[limit - 1]! : null };
    });
  }

  /** Answer everything, in any order, until nothing more is requested. */
  async settle(random: () => number = () => 0) {
    for (let idle = 0; idle < 3;) {
      const [one] = this.waiting.splice(Math.floor(random() * this.waiting.length), 1);
      one?.();
      for (let turn = 0; turn < 12; turn++) await Promise.resolve();
      idle = this.waiting.length ? 0 : idle + 1;
    }
  }
}

const idOf = (key: string) => Number(key.replace(/\D/g, ""));

function randoms(seed: number) {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
}

const shown = (list: DocumentList<Row>) => {
  const rows: [number, string][] = [];
  for (const [number, piece] of list.pieces.all.entries())
    piece.rows?.forEach((row, offset) => rows.push([list.pieces.begin(number) + offset, row.controlNumber]));
  return rows;
};

function expectOrdered(list: DocumentList<Row>) {
  const rows = shown(list);
  const isOrdered = rows.every(([index, key], at) => {
    const before = rows[at - 1];
    return !before || (index > before[0] && compareKeys(key, before[1]) > 0);
  });
  expect(isOrdered).toBe(true);
  expect(list.pieces.all.filter((piece) => piece.rows?.length).length).toBeLessThanOrEqual(MOST_PAGES + 2);
}

async function open(server: Server, total: number | null) {
  const list = new DocumentList<Row>(server);
  list.show(0, 25);
  list.setTotal(total);
  await server.settle();
  return list;
}

describe.each([400, 1_300, 60_000, 400_000])("a list of %i documents", (count) => {
  test("has each row at its position, wherever it is shown first", async () => {
    const [server, random] = [new Server(count), randoms(7)];
    const list = await open(server, count);
    expect(list.pieces.total).toBe(count);
    for (let turn = 0; turn < 60; turn++) {
      const first = turn === 59 ? count - 25 : Math.floor(random() * (count - 25));
      list.show(first, first + 24);
      await server.settle(random);
      for (let index = first; index < first + 25; index++) expect(list.pieces.row(index)?.id).toBe(index);
      expectOrdered(list);
    }
    expect(shown(list).length).toBeLessThanOrEqual(MOST_PAGES * 500);
  });

  test("is read from its begin to its end, each row once", async () => {
    const server = new Server(Math.min(count, 60_000));
    const list = await open(server, server.keys.length);
    const seen: string[] = [];
    for (let index = 0; index < list.pieces.total; index += 100) {
      list.show(index, index + 99);
      await server.settle();
      for (let at = index; at < index + 100; at++)
        seen.push(...(list.pieces.row(at) ? [list.pieces.row(at)!.controlNumber] : []));
    }
    expect(seen).toEqual(server.keys);
  });
});

test.each([
  ["sampled", true],
  ["not sampled", false],
])("a list that is %s has every row once while others are added and removed", async (_, isSampled) => {
  for (let seed = 1; seed <= 2; seed++) {
    const [server, random] = [new Server(3_000, isSampled), randoms(seed)];
    const always = server.keys.filter((_, number) => number % 7 === 0);
    const list = await open(server, isSampled ? 3_000 : null);
    const seen = new Set<string>();
    let last = "";
    for (let top = 0; ;) {
      list.kept.set("top", top);
      list.show(top, top + 30);
      change(server, random);
      await server.settle(random);
      expectOrdered(list);
      top = list.kept.get("top")!;
      const rows = Array.from({ length: 31 }, (_, at) => list.pieces.row(top + at)).filter((row) => row !== null);
      for (const row of rows) {
        if (!seen.has(row.controlNumber)) expect(compareKeys(row.controlNumber, last)).toBeGreaterThan(0);
        if (!seen.has(row.controlNumber)) last = row.controlNumber;
        seen.add(row.controlNumber);
      }
      if (top + 31 >= list.pieces.total) break;
      top += rows.length === 31 ? 20 : 0;
    }
    expect(always.filter((key) => !seen.has(key))).toEqual([]);
  }
});

function change(server: Server, random: () => number) {
  const at = Math.floor(random() * server.keys.length);
  if (random() < 0.5 && idOf(server.keys[at]!) % 7 !== 0) server.keys.splice(at, 1);
  else
    server.keys.splice(
      at + 1,
      0,
      ...Array.from({ length: 1 + Math.floor(random() * 40) }, (_, number) => `${server.keys[at]}-${100 + number}`)
        .filter((key) => !server.keys.includes(key))
        .sort(),
    );
  server.keys = [...new Set(server.keys)].sort();
}

test("a place is found by its control number, with and without a sample, and its neighbours are read", async () => {
  for (const [count, total] of [
    [400_000, 400_000],
    [60_000, 60_000],
    [60_000, null],
  ] as const) {
    const server = new Server(count);
    const list = new DocumentList<Row>(server);
    list.setTotal(total);
    const found = list.locate("D-00044444");
    await server.settle();
    list.kept.set("top", await found);
    list.show(await found, (await found) + 20);
    await server.settle();
    const top = list.kept.get("top")!;
    expect(list.pieces.row(top)?.id).toBe(44_444);
    if (total !== null) expect(top).toBe(44_444);
    expect(list.pieces.row(top - 1)?.id).toBe(44_443);
    expectOrdered(list);
  }
});

test("a part that is read to its end has no more rows than there are", async () => {
  const server = new Server(400_000);
  const list = await open(server, 400_000);
  for (let index = 0; index <= 10_000; index += 100) {
    list.show(index, index + 20);
    await server.settle();
    expect(list.pieces.total).toBe(400_000);
  }
});

test("what was changed is read again, and what is not shown is forgotten", async () => {
  const server = new Server(2_000);
  const list = await open(server, 2_000);
  list.show(1_000, 1_020);
  await server.settle();
  server.keys = server.keys.filter((key) => idOf(key) !== 1_005);
  list.refresh();
  expect(list.pieces.row(1_005)?.id).toBe(1_005);
  await server.settle();
  expect(list.pieces.row(1_005)?.id).toBe(1_006);
  expect(list.pieces.row(0)).toBeNull();
});

test.each([
  ["cancelled", true],
  ["answered with what was there before", false],
])("a page that was requested before a change is read again: it is %s", async (_, canCancel) => {
  const server = new Server(400);
  const items = server.keys.map((controlNumber) => ({ id: idOf(controlNumber), controlNumber }));
  let [answerOld, cancel] = [() => {}, () => {}];
  const answer = new Promise<Answer<Row>>((resolve, reject) => {
    answerOld = () => resolve({ items, next: null });
    if (canCancel) cancel = () => reject(new Error("cancelled"));
  });
  const spy = vi.spyOn(server, "readPage").mockReturnValueOnce({ answer, cancel } as ReturnType<Server["readPage"]>);
  const list = new DocumentList<Row>(server);
  list.show(0, 25);
  server.keys = server.keys.slice(5);
  list.refresh();
  answerOld();
  await server.settle();
  expect(spy).toHaveBeenCalledTimes(2);
  expect([list.error, list.pieces.row(0)?.id, list.pieces.total]).toEqual([null, 5, 395]);
});

test("a page that cannot be read stops the reading until it is tried again", async () => {
  const server = new Server(2_000);
  const list = await open(server, 2_000);
  const read = server.readPage.bind(server);
  server.readPage = () => ({ answer: Promise.reject(new Error("lost")), cancel: () => {} });
  list.show(1_500, 1_520);
  await server.settle();
  expect(list.error).toEqual(new Error("lost"));
  server.readPage = read;
  list.retry();
  await server.settle();
  expect(list.pieces.row(1_500)?.id).toBe(1_500);
});

test("control numbers are in the order of the list", () => {
  const ordered = ["A\u0001", "A", "A!", "A-1", "A-10", "A-2", "B", "a", "é", "\uffee", "\u{1f600}"];
  expect([...ordered].reverse().sort(compareKeys)).toEqual(ordered);
});

test("a drag reads what is at the place where it rests, and nothing on its way", async () => {
  vi.useFakeTimers();
  const server = new Server(60_000);
  const list = new DocumentList<Row>(server, 100);
  list.show(0, 25);
  list.setTotal(60_000);
  await server.settle();
  const before = server.pages;
  for (let first = 1_000; first <= 50_000; first += 1_000) {
    list.show(first, first + 25);
    vi.advanceTimersByTime(16);
    await server.settle();
  }
  expect(server.pages).toBe(before);
  vi.advanceTimersByTime(100);
  await server.settle();
  expect(list.pieces.row(50_000)?.id).toBe(50_000);
  expect(server.pages).toBeLessThanOrEqual(before + 2);
  vi.useRealTimers();
});

test("rows that are seen stay where they are when it is known how many are before them", async () => {
  const server = new Server(131);
  const list = new DocumentList<Row>(server);
  const found = list.locate("D-00000127");
  await server.settle();
  const index = await found;
  list.kept.set("seen", index);
  list.show(index - 10, index + 3);
  await server.settle();
  expect(list.kept.get("seen")).toBe(127);
  list.show(117, 130);
  expect(list.findAnchor(117, 130)).toBe(117);
});
