// Texts are read in parts, so that one of 200 MB opens as one of 2 kB does.
import { api, data } from "../../api/client";
import { changed, renewUrl, type Renew } from "./renewal";
import { fetchBytes } from "./tiff/fetchBytes";
import type { ExhibitFile } from "./views";

export interface TextPart {
  text: string;
  /** How many bytes have been read until now, and how many the text has. */
  bytes: number;
  size: number;
  /** The encoding by which it was read; null for a text that the server decoded. */
  encoding: string | null;
  /** Whether characters could not be decoded. */
  isDamaged: boolean;
}

export interface TextReader {
  /** Read the next part. After the last one, `bytes` is `size`. */
  next(signal: AbortSignal): Promise<TextPart>;
}

export const ENCODINGS: [label: string, name: string][] = [
  ["utf-8", "UTF-8"],
  ["utf-16le", "UTF-16, little-endian"],
  ["utf-16be", "UTF-16, big-endian"],
  ["windows-1252", "Windows-1252 (Western)"],
  ["windows-1250", "Windows-1250 (Central European)"],
  ["windows-1251", "Windows-1251 (Cyrillic)"],
  ["shift_jis", "Shift_JIS"],
  ["euc-kr", "EUC-KR"],
  ["gb18030", "GB18030"],
  ["big5", "Big5"],
];
const PART_BYTES = 256 * 1024;

/** The text of the cells of a load file, while it has the hash. */
export function readCells(exhibitId: number, sha256: string | null): TextReader {
  let start: number | null = 0;
  return {
    async next(signal) {
      const query = { start: start ?? 0 };
      const params = { path: { exhibitId }, query };
      const part = data(await api.GET("/exhibits/{exhibitId}/text", { params, signal }));
      if (sha256 !== null && part.sha256 !== sha256) throw changed();
      start = part.nextStart;
      const bytes = part.nextStart ?? part.byteLen;
      return { text: part.text, bytes, size: part.byteLen, encoding: null, isDamaged: false };
    },
  };
}

/** A text file of the storage, by an encoding, or by the one that its first bytes show. */
export function readFile(file: ExhibitFile, encoding: string | null, renew: Renew): TextReader {
  let [at, url] = [0, file.url!];
  let decoder: TextDecoder | null = null;
  const fetchPart = (signal: AbortSignal) =>
    fetchBytes(url, at, PART_BYTES, signal).catch(async (error: unknown) => {
      if (signal.aborted) throw error;
      const fresh = await renewUrl(file, renew);
      if (fresh === null) throw error;
      url = fresh;
      return fetchBytes(url, at, PART_BYTES, signal);
    });
  return {
    async next(signal) {
      const { bytes, size } = await fetchPart(signal);
      decoder ??= new TextDecoder(encoding ?? guessEncoding(bytes));
      at += bytes.length;
      const isLast = at >= size || bytes.length === 0;
      const text = decoder.decode(bytes, { stream: !isLast });
      return { text, bytes: isLast ? size : at, size, encoding: decoder.encoding, isDamaged: text.includes("\ufffd") };
    },
  };
}

/** Return the encoding that the beginning of a text shows: by its mark, by zeros in every other byte, or by trial. */
export function guessEncoding(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const start = bytes.subarray(0, 4_096);
  const zeros = (from: 0 | 1) => start.filter((byte, at) => at % 2 === from && byte === 0).length;
  if (zeros(1) > start.length / 4 && zeros(0) === 0) return "utf-16le";
  if (zeros(0) > start.length / 4 && zeros(1) === 0) return "utf-16be";
  try {
    // A character may be cut at the end.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}
