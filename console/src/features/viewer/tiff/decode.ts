import type { Tags } from "./directories";
import { decodeFax, type FaxOptions } from "./fax";
import { decodeJpeg } from "./jpegParts";
import { JPEG, readLayout, type Layout, type Part } from "./layout";
import { Pixels } from "./pixels";
import type { Source } from "./source";
import { broken } from "./faults";
import { inflate, undoPrediction, unpackBits, unpackLzw } from "./unpack";

export interface Page {
  width: number;
  height: number;
  turn: number;
  pixelHeight: number;
  pixels: Uint8ClampedArray<ArrayBuffer>;
}

const FAXES: Record<number, FaxOptions["kind"]> = { 2: "huffman", 3: "group3", 4: "group4" };

/** Decode a page, a strip or tile after the other. Throws FileFault; `signal` ends it between two of them. */
export async function decodePage(source: Source, tags: Tags, signal: AbortSignal): Promise<Page> {
  const layout = readLayout(tags);
  for (const part of layout.parts)
    if (part.offset + part.bytes > source.size) throw broken("The file ends within the page.");
  const pixels = new Pixels(layout);
  for (const part of layout.parts) {
    signal.throwIfAborted();
    const bytes = await source.read(part.offset, part.bytes);
    if (layout.compression === JPEG) pixels.copy(part, ...(await decodeJpeg(layout, part, bytes)));
    else pixels.put(part, await unpack(layout, part, bytes));
  }
  const { width, height, turn, pixelHeight } = layout;
  return { width, height, turn, pixelHeight, pixels: pixels.bytes };
}

/** Return the rows of a part, each from a new byte on. */
async function unpack(layout: Layout, part: Part, bytes: Uint8Array): Promise<Uint8Array> {
  const stride = Math.ceil((part.width * layout.bits * layout.samples) / 8);
  const kind = FAXES[layout.compression];
  if (kind) {
    const { isReversed, isTwoDimensional } = layout;
    return decodeFax(bytes, { width: part.width, rows: part.height, kind, isReversed, isTwoDimensional });
  }
  const rows = await unpackBytes(layout.compression, bytes, stride * part.height);
  if (layout.isPredicted) undoPrediction(rows, stride, layout.samples);
  return rows;
}

async function unpackBytes(compression: number, bytes: Uint8Array, length: number): Promise<Uint8Array> {
  if (compression === 5) return unpackLzw(bytes, length);
  if (compression === 32773) return unpackBits(bytes, length);
  if (compression !== 1) return inflate(bytes, length);
  if (bytes.length < length) throw broken("A part of the page is too short.");
  return bytes;
}
