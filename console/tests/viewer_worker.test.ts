import { afterEach, expect, test, vi } from "vitest";
import { FileFault } from "../src/features/viewer/tiff/faults";
import { fetchBytes } from "../src/features/viewer/tiff/fetchBytes";
import { Session } from "../src/features/viewer/tiff/session";
import { BLOCK_BYTES, BlockSource } from "../src/features/viewer/tiff/source";

afterEach(() => vi.unstubAllGlobals());

/** A TIFF file of pages of 8 by 1 pixels, which are the bits of a byte, with a hole of this many bytes after each. */
function makeTiff(values: number[], hole = 0): Uint8Array {
  const entries: [number, number][] = [
    [256, 8],
    [257, 1],
    [258, 1],
    [259, 1],
    [262, 1],
    [278, 1],
  ];
  const each = 2 + 12 * 8 + 4 + 1 + hole;
  const file = new Uint8Array(8 + values.length * each);
  const view = new DataView(file.buffer);
  file.set([0x49, 0x49, 42, 0, 8]);
  values.forEach((value, page) => {
    const start = 8 + page * each;
    const end = start + 2 + 12 * 8 + 4;
    view.setUint16(start, 8, true);
    [...entries, [273, end] as [number, number], [279, 1] as [number, number]].forEach(([tag, entry], index) => {
      view.setUint16(start + 2 + index * 12, tag, true);
      view.setUint16(start + 4 + index * 12, 4, true);
      view.setUint32(start + 6 + index * 12, 1, true);
      view.setUint32(start + 10 + index * 12, entry, true);
    });
    view.setUint32(end - 4, page + 1 < values.length ? start + each : 0, true);
    file[end] = value;
  });
  return file;
}

function start(file: Uint8Array) {
  const posted: Record<string, unknown>[] = [];
  const fetched: number[] = [];
  const fetching = async (_url: string, from: number, length: number, signal: AbortSignal) => {
    signal.throwIfAborted();
    fetched.push(from);
    return { bytes: file.slice(from, from + length), size: file.length };
  };
  const session = new Session<number[]>(
    fetching,
    async ({ pixels }) => [...pixels].filter((_, at) => at % 4 === 0),
    (message) => posted.push(message as unknown as Record<string, unknown>),
  );
  const page = (id: number, number: number, name = "one") =>
    session.handle({ kind: "page", id, file: name, url: `https://bucket/${id}`, page: number });
  return { posted, fetched, page, session, pages: () => posted.filter((each) => each.kind === "page") };
}

test("only the blocks that a page needs are fetched, and each of them once", async () => {
  const { page, fetched, pages } = start(makeTiff([0xff, 0, 0xf0], 6 * BLOCK_BYTES));
  await page(1, 1);
  expect(fetched).toEqual([0]);
  expect(pages()[0]).toMatchObject({ id: 1, image: Array(8).fill(255), pages: null, known: 2 });
  await page(2, 3);
  expect(fetched).toEqual([0, 6, 12].map((block) => block * BLOCK_BYTES));
  expect(pages()[1]).toMatchObject({ id: 2, image: [255, 255, 255, 255, 0, 0, 0, 0], pages: 3 });
  await page(3, 2);
  expect(fetched).toHaveLength(3);
});

test("a fault is the answer to its request, and the next page is shown all the same", async () => {
  const { page, posted, pages } = start(makeTiff([0xff, 0]));
  await page(1, 9);
  expect(posted.at(-1)).toMatchObject({ kind: "fault", id: 1, code: "no-such-page", detail: "It has 2 pages." });
  await page(2, 2);
  expect(pages()).toHaveLength(1);
});

test("a request that was cancelled has no answer", async () => {
  const { page, posted, session } = start(makeTiff([0xff]));
  const running = page(1, 1);
  await session.handle({ kind: "cancel", id: 1 });
  await running;
  expect(posted.filter((each) => each.kind !== "progress")).toEqual([]);
});

test("a part beyond the end of the file is a fault", async () => {
  const source = await BlockSource.open(async () => ({ bytes: new Uint8Array(10), size: 10 }));
  await expect(source.read(8, 3)).rejects.toMatchObject({ code: "broken" });
  await expect(source.read(4_000_000_000, 1)).rejects.toMatchObject({ code: "broken" });
});

test("what the storage answers is bytes, or a fault that says what to do", async () => {
  const answer = (response: Response | Error) =>
    vi.stubGlobal("fetch", async () => {
      if (response instanceof Error) throw response;
      return response;
    });
  const fetchOne = () => fetchBytes("https://bucket/a", 0, 10);
  answer(new Response("abc", { status: 206, headers: { "Content-Range": "bytes 0-2/900" } }));
  expect(await fetchOne()).toMatchObject({ size: 900 });
  answer(new Response("whole"));
  expect(await fetchOne()).toMatchObject({ size: 5 });
  answer(new Response("", { status: 416 }));
  expect(await fetchOne()).toMatchObject({ size: 0 });
  const codes: [Response | Error, string][] = [
    [new Response("", { status: 403 }), "refused"],
    [new Response("", { status: 404 }), "missing"],
    [new Response("", { status: 503 }), "unanswered"],
    [new TypeError("Failed to fetch"), "unanswered"],
    [new Response("", { headers: { "Content-Length": "99000000" } }), "too-large"],
  ];
  for (const [response, code] of codes) {
    answer(response);
    const error = await fetchOne().catch((each: unknown) => each);
    expect((error as FileFault).code).toBe(code);
  }
});
