import { expect, test, vi } from "vitest";
import type { Schemas } from "../src/api/client";
import { formatDocument } from "../src/features/productions/download/crosswalk";
import { measureManifest, SMALL } from "../src/features/productions/download/files";
import { splitPath } from "../src/features/productions/download/paths";
import { digest, Sha256 } from "../src/features/productions/download/sha256";
import { openMemorySink, ZipTarget } from "../src/features/productions/download/zip";
import { crc32, packFiles, StoredZip } from "../src/upload";
import { makeFile } from "./upload/world";

const encode = (text: string) => new TextEncoder().encode(text);

test("a hash of pieces is that of the whole, whatever their lengths", async () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => (index * 7919) % 251);
  for (const size of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1_000]) {
    const whole = bytes.slice(0, size);
    const expected = await digest(whole);
    for (const piece of [1, 13, 64, 1_000]) {
      const hash = new Sha256();
      for (let at = 0; at < size; at += piece) hash.add(whole.subarray(at, at + piece));
      expect(hash.finish()).toBe(expected);
    }
  }
});

test("a path is written below the folder of the volume, or not at all", () => {
  expect(splitPath("NATIVES/0001/A-1.docx")).toEqual([["NATIVES", "0001"], "A-1.docx"]);
  const refused = ["../x", "/x", "a//b", "a/./b", "a\\b", "C:x", "con", "a/nul.txt", "a/b.", "a/b ", "a\u0000", ""];
  for (const each of refused) expect(splitPath(each), each).toBeNull();
});

test("a zip that is written file by file is the one that is packed as a whole, also after a file that failed", async () => {
  const files = ["", "a", "bc".repeat(50)].map((text, index) => ({ path: `V/ü${index}`, text, bytes: encode(text) }));
  const packed = packFiles(
    files.map(({ path, text, bytes }) => ({ path, size: bytes.length, file: makeFile(path, text) })),
  );
  let saved: Blob | null = null;
  const [zip, sink] = [new StoredZip(), openMemorySink("x.zip", (blob) => (saved = blob))];
  for (const { path, bytes } of files) {
    const entry = { path, size: bytes.length };
    const header = zip.begin(entry);
    // What is written of a file that fails is taken back.
    await sink.write(zip.at, header);
    await sink.write(zip.at + header.length, encode("broken off"));
    await sink.write(zip.at, header);
    const at = zip.at + header.length;
    if (bytes.length) await sink.write(at, bytes);
    await sink.write(at + bytes.length, zip.accept(entry, crc32(bytes)));
  }
  await sink.write(zip.at, zip.finish());
  await sink.close();
  const whole = await (await packed.slice(0, packed.size)).arrayBuffer();
  expect(new Uint8Array(await saved!.arrayBuffer())).toEqual(new Uint8Array(whole));
});

test("a large file is written while it arrives, and taken back if its hash is another one", async () => {
  const text = "0123456789abcdef".repeat(SMALL / 16 + 100);
  const [bytes, small] = [encode(text), encode("small")];
  const describe = async (path: string, content: typeof bytes) => ({
    ...{ path, size: content.length, url: path },
    sha256: await digest(content),
  });
  const files = [await describe("A.bin", bytes), await describe("B.txt", small)];
  let isCut = true;
  vi.stubGlobal("fetch", async (url: string) => {
    if (url === "B.txt") return new Response(small);
    const changed = bytes.slice();
    if (isCut) changed[bytes.length - 1] = 0;
    return new Response(changed);
  });
  let saved: Blob | null = null;
  const target = new ZipTarget(
    openMemorySink("x.zip", (blob) => (saved = blob)),
    "V",
  );
  const { signal } = new AbortController();
  await expect(target.put(files[0]!, signal, () => undefined)).rejects.toThrow("do not match its hash");
  isCut = false;
  let arrived = 0;
  for (const each of files) await target.put(each, signal, (count) => (arrived += count));
  await target.finish();
  vi.unstubAllGlobals();
  const packed = packFiles([
    { path: "V/A.bin", size: bytes.length, file: makeFile("A.bin", text) },
    { path: "V/B.txt", size: small.length, file: makeFile("B.txt", "small") },
  ]);
  const [expected, found] = [await packed.slice(0, packed.size), saved!];
  expect(arrived).toBe(bytes.length + small.length);
  expect(await digest(new Uint8Array(await found.arrayBuffer()))).toBe(
    await digest(new Uint8Array(await expected.arrayBuffer())),
  );
});

test("very many files, and very large ones, take as much room as in a zip that is packed as a whole", () => {
  const many = Array.from({ length: 70_000 }, (_, index) => ({ path: `V/${String(index).padStart(5, "0")}`, size: 0 }));
  const large = ["V/1", "V/2"].map((path) => ({ path, size: 5_000_000_000 }));
  for (const entries of [many, large]) {
    const zip = new StoredZip();
    for (const each of entries) zip.accept(each, 0);
    const packed = packFiles(entries.map((each) => ({ ...each, file: makeFile(each.path, "") })));
    expect(zip.at + zip.finish().length).toBe(packed.size);
  }
});

test("a manifest says how many files there are, and their bytes", () => {
  const hash = "0".repeat(64);
  expect(measureManifest(`path,size,sha256\r\nDATA/V.dat,12,${hash}\r\nTEXT/0001/A.txt,30,${hash}\r\n`)).toEqual({
    files: 2,
    bytes: 42,
  });
  expect(measureManifest("path,size,sha256\r\n")).toEqual({ files: 0, bytes: 0 });
});

test("a row of the crosswalk is the one of the command: quoted, and with no formula", () => {
  const row = { controlNumber: '=A"1,', batesBegin: "S1", batesEnd: "S2", pages: null, status: "void" };
  expect(formatDocument(row as Schemas["ProducedDocument"])).toBe(`"'=A""1,",S1,S2,,void\r\n`);
});
