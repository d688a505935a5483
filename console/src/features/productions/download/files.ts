// The files of a volume as the API lists them, and their bytes, which count only with the hash that it gives.
import { api, data, type Schemas } from "../../../api/client";
import { repeat } from "../../../api/repeat";
import { OWN } from "./listed";
import { digest, Sha256 } from "./sha256";

export type VolumeFile = Schemas["ProducedFile"];
type Production = Schemas["Production"];
type Bytes = Uint8Array<ArrayBuffer>;

const MOST = 500;
const MANIFEST = "MANIFEST.csv";
// A file up to this size is in memory as a whole before it is written.
export const SMALL = 16_000_000;

/** Why a file is not there; another attempt can have it. */
export class FileFault extends Error {}

/** The volume is not the one that was produced: nothing of it is downloaded. */
export class VolumeFault extends Error {}

export interface FilePage {
  items: VolumeFile[];
  next: string | null;
}

/** Return a page of the files with fresh URLs; the first one begins with the manifest of the production, or it throws. */
export async function listFiles(production: Production, after: string | null, signal: AbortSignal): Promise<FilePage> {
  const path = { productionId: production.id };
  const query = { limit: MOST, ...(after === null ? {} : { after }) };
  const page = await repeat(async () => {
    signal.throwIfAborted();
    return data(await api.GET("/productions/{productionId}/files", { params: { path, query }, signal }));
  });
  const first = page.items[0];
  if (after === null && (first?.path !== MANIFEST || first.sha256 !== production.manifestSha256))
    throw new VolumeFault(
      "The files of the production do not begin with its MANIFEST.csv, whose hash it has: the volume was changed. Ask the operator of the stack.",
    );
  return { items: page.items as VolumeFile[], next: page.next };
}

/** Return how many files the volume has, and their bytes, by its manifest; the two of the manifest are not in it. */
export async function measureVolume(page: FilePage, signal: AbortSignal): Promise<{ files: number; bytes: number }> {
  const own = page.items.filter((each) => OWN.has(each.path));
  const decoder = new TextDecoder();
  let [files, bytes, rest] = [own.length, own.reduce((total, each) => total + each.size, 0), ""];
  await stream(own[0]!, signal, async (chunk) => {
    const text = rest + decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    const listed = measureManifest(text.slice(0, end));
    [files, bytes, rest] = [files + listed.files, bytes + listed.bytes, text.slice(end)];
  });
  return { files, bytes };
}

/** Return the number and the sizes of what lines of a manifest list: `path,size,sha256`. */
export function measureManifest(text: string): { files: number; bytes: number } {
  let [files, bytes] = [0, 0];
  for (const [, size] of text.matchAll(/,([0-9]+),[0-9a-f]{64}\r?$/gim))
    [files, bytes] = [files + 1, bytes + Number(size)];
  return { files, bytes };
}

/** Return the bytes of a small file. Throws FileFault unless they have its size and hash. */
export async function receive(file: VolumeFile, signal: AbortSignal, onBytes: (count: number) => void): Promise<Bytes> {
  const bytes = new Uint8Array(file.size);
  let at = 0;
  await readBody(file, signal, async (chunk) => {
    bytes.set(chunk, at);
    at += chunk.length;
    onBytes(chunk.length);
  });
  if ((await digest(bytes)) !== file.sha256) throw new FileFault("Its bytes do not match its hash.");
  return bytes;
}

/** Hand the bytes of a file over one after the other. Throws FileFault at the end unless they have its size and hash. */
export async function stream(
  file: VolumeFile,
  signal: AbortSignal,
  write: (chunk: Bytes) => Promise<void>,
): Promise<void> {
  const hash = new Sha256();
  await readBody(file, signal, async (chunk) => {
    hash.add(chunk);
    await write(chunk);
  });
  if (hash.finish() !== file.sha256) throw new FileFault("Its bytes do not match its hash.");
}

async function readBody(file: VolumeFile, signal: AbortSignal, write: (chunk: Bytes) => Promise<void>): Promise<void> {
  const response = await fetch(file.url, { signal, credentials: "omit", cache: "no-store" });
  if (!response.ok) throw new FileFault(`The storage refused to send it (${response.status}).`);
  let left = file.size;
  const reader = response.body!.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      left -= read.value.length;
      if (left < 0)
        throw new FileFault(`It is longer than the ${file.size.toLocaleString()} bytes that it should have.`);
      await write(read.value as Bytes);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (left > 0) throw new FileFault("The transfer ended before the end of the file.");
}
