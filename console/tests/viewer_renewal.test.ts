import { afterEach, expect, test, vi } from "vitest";
import { renewUrl } from "../src/features/viewer/renewal";
import { readFile } from "../src/features/viewer/textReaders";
import type { ExhibitFile } from "../src/features/viewer/views";

const FILE = { kind: "text", page: null, volumeId: 3, path: "T/1.txt", sha256: "a".repeat(64), url: "old" };
const SHOWN = FILE as unknown as ExhibitFile;
const TEXT = "0123456789".repeat(60_000);

/** A storage that has the text at each URL but those that have ended. */
function serve(ended: Set<string>): void {
  vi.stubGlobal("fetch", async (url: string, { headers }: { headers: { Range: string } }) => {
    const [from, to] = /(\d+)-(\d+)/.exec(headers.Range)!.slice(1).map(Number);
    if (ended.has(url)) return new Response(null, { status: 403 });
    const range = { "Content-Range": `bytes ${from}-${to}/${TEXT.length}` };
    return new Response(TEXT.slice(from, to! + 1), { status: 206, headers: range });
  });
}

afterEach(() => vi.unstubAllGlobals());

test("a text goes on by a new URL of the same file", async () => {
  const ended = new Set<string>();
  serve(ended);
  const { signal } = new AbortController();
  const reader = readFile(SHOWN, null, async () => ({ ...SHOWN, url: "new" }));
  let text = (await reader.next(signal)).text;
  ended.add("old");
  for (let part = await reader.next(signal); ; part = await reader.next(signal)) {
    text += part.text;
    if (part.bytes === part.size) break;
  }
  expect(text).toBe(TEXT);
});

test.each([{ sha256: "b".repeat(64) }, { path: "T/2.txt" }, { volumeId: 4 }])(
  "a text does not go on with another file: %o",
  async (other) => {
    const ended = new Set<string>();
    serve(ended);
    const { signal } = new AbortController();
    const reader = readFile(SHOWN, null, async () => ({ ...SHOWN, url: "new", ...other }));
    await reader.next(signal);
    ended.add("old");
    await expect(reader.next(signal)).rejects.toMatchObject({ code: "changed" });
  },
);

test("a file that is not there any more has no new URL, and is no other one", async () => {
  expect(await renewUrl(SHOWN, async () => null)).toBeNull();
  expect(await renewUrl(SHOWN, async () => ({ ...SHOWN, url: null }))).toBeNull();
  expect(await renewUrl(SHOWN, () => Promise.reject(new Error("offline")))).toBeNull();
});
