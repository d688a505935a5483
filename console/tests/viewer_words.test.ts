import { expect, test } from "vitest";
import { readPlace, writeKept, writeList, writePlace } from "../src/features/viewer/address";
import { readHead } from "../src/features/viewer/imageHead";
import { PageCache } from "../src/features/viewer/pageCache";
import { guessEncoding } from "../src/features/viewer/textReaders";
import { chooseView, findMismatch, MOST_IMAGE_PIXELS } from "../src/features/viewer/views";
import { findScale, step, turnSize } from "../src/features/viewer/zoom";

const bytes = (...values: (number | string)[]) =>
  Uint8Array.from(values.flatMap((each) => (typeof each === "number" ? [each] : [...new TextEncoder().encode(each)])));

test("what is shown is decided by a short list of types, and everything else is downloaded", () => {
  const views = ["image/tiff", "image/png", "image/jpeg", "application/pdf", "text/plain; charset=utf-8"].map(
    (mediaType) => chooseView({ mediaType }),
  );
  expect(views).toEqual(["tiff", "image", "image", "pdf", "text"]);
  for (const mediaType of [
    null,
    "",
    "text/html",
    "image/svg+xml",
    "application/octet-stream",
    "image/gif",
    "video/mp4",
  ])
    expect(chooseView({ mediaType })).toBe("download");
});

test("a file that is not what its name says is not shown", () => {
  const head = (data: Uint8Array) => readHead(data);
  expect(findMismatch("image", head(bytes("<html>")), false)).toContain("by its first bytes something else");
  expect(findMismatch("pdf", head(bytes("<svg xmlns=")), false)).toContain("a PDF document");
  expect(findMismatch("pdf", head(bytes("%PDF-1.7")), false)).toBeNull();
  expect(findMismatch("image", head(bytes("%PDF-1.7")), false)).toContain("a PDF document");
  expect(findMismatch("image", head(bytes(0xff, 0xd8, 0xff, 0xe0)), false)).toBeNull();
  expect(findMismatch("pdf", head(bytes()), true)).toContain("0 bytes");
});

test("an image with too many pixels is not decoded", () => {
  const png = (side: number) =>
    bytes(0x89, "PNG\r\n", 0x1a, "\n", 0, 0, 0, 13, "IHDR", 0, 0, side >> 8, side & 255, 0, 0, side >> 8, side & 255);
  expect(readHead(png(300))).toEqual({ kind: "png", width: 300, height: 300 });
  expect(findMismatch("image", readHead(png(50_000)), false)).toContain("2,500 million pixels");
  const jpeg = bytes(0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc2, 0, 17, 8, 0xff, 0xff, 0x80, 0, 3, 0, 0);
  expect(readHead(jpeg)).toEqual({ kind: "jpeg", width: 0x8000, height: 0xffff });
  expect(0x8000 * 0xffff).toBeGreaterThan(MOST_IMAGE_PIXELS);
});

test("tab and page are in the address, and the filters of the list stay in it", () => {
  const address = new URLSearchParams("tag=Hot&tab=text&page=12&open=4");
  expect(readPlace(address)).toEqual({ tab: "text", page: 12 });
  expect(readPlace(new URLSearchParams("tab=html&page=-1"))).toEqual({ tab: null, page: 1 });
  expect(writePlace(address, { page: 13 }).toString()).toBe("tag=Hot&tab=text&open=4&page=13");
  expect(writePlace(address, { page: 1 }).toString()).toBe("tag=Hot&tab=text&open=4");
  expect(writePlace(address, { tab: "native" }).toString()).toBe("tag=Hot&open=4&tab=native");
  expect(writeKept(address).toString()).toBe("tag=Hot&tab=text");
  expect(writeList(address).toString()).toBe("tag=Hot");
});

test("a page fits its room, and steps lead from one size to the next", () => {
  const [letter, room] = [
    { width: 2550, height: 3300 },
    { width: 1000, height: 600 },
  ];
  expect(findScale("width", letter, room)).toBeCloseTo(0.392);
  expect(findScale("whole", letter, room)).toBeCloseTo(0.182);
  expect(findScale("whole", turnSize(letter, 90), room)).toBeCloseTo(0.235);
  expect([step(0.392, 1), step(0.392, -1), step(4, 1), step(0.01, -1)]).toEqual([0.5, 0.33, 4, 0.05]);
});

test("the encoding of a text is what its beginning shows", () => {
  expect(guessEncoding(bytes(0xff, 0xfe, 65, 0))).toBe("utf-16le");
  expect(guessEncoding(bytes(0xfe, 0xff, 0, 65))).toBe("utf-16be");
  expect(guessEncoding(bytes(65, 0, 66, 0, 67, 0))).toBe("utf-16le");
  expect(guessEncoding(bytes(0, 65, 0, 66, 0, 67))).toBe("utf-16be");
  expect(guessEncoding(bytes("Zoë", 0xc3))).toBe("utf-8");
  expect(guessEncoding(bytes("caf", 0xe9, " noir"))).toBe("windows-1252");
});

test("the page that was used longest ago is freed", () => {
  const freed: string[] = [];
  const cache = new PageCache<string>(2, (page) => freed.push(page));
  for (const name of ["a", "b"]) cache.put(name, name);
  cache.get("a");
  cache.put("c", "c");
  expect(freed).toEqual(["b"]);
  cache.clear();
  expect(freed).toEqual(["b", "a", "c"]);
});
