// The checksum of what is sent, as the storage states that of a whole object.
import { Crc64 } from "./crc";
import { readChunks } from "./pack";
import type { Source } from "./types";

const SLICE = 16_000_000;
// A browser digests a SHA-256 in one piece of memory.
const MAX_DIGESTED = 256_000_000;

/** Return the checksum in Base64; null for an algorithm, or a size, of which it cannot be computed here. */
export async function computeChecksum(
  source: Source,
  algorithm: string | null,
  signal: AbortSignal,
  onRead: (bytes: number) => void = () => undefined,
): Promise<string | null> {
  if (algorithm === "CRC64NVME") return computeCrc64(source, signal, onRead);
  if (algorithm !== "SHA256" || source.size > MAX_DIGESTED) return null;
  const bytes = await (await source.slice(0, source.size)).arrayBuffer();
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))));
}

async function computeCrc64(source: Source, signal: AbortSignal, onRead: (bytes: number) => void): Promise<string> {
  const crc = new Crc64();
  for (let at = 0; at < source.size; at += SLICE) {
    const end = Math.min(at + SLICE, source.size);
    for await (const bytes of readChunks(await source.slice(at, end))) {
      signal.throwIfAborted();
      crc.add(bytes);
    }
    onRead(end);
  }
  return crc.toBase64();
}
