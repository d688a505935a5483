// The compressions of TIFF that are not for faxes: PackBits, LZW (TIFF 6.0, sections 9 and 13) and Deflate.
//
// Guaranteed: the result has exactly `length` bytes, whatever the data would unpack to.
import { broken } from "./faults";

const SHORT = "The image ends, or is damaged, before its last line.";

export function unpackBits(data: Uint8Array, length: number): Uint8Array {
  const found = new Uint8Array(length);
  let to = 0;
  for (let at = 0; to < length;) {
    if (at >= data.length) throw broken(SHORT);
    const head = (data[at++]! << 24) >> 24;
    if (head === -128) continue;
    const count = Math.min(head < 0 ? 1 - head : head + 1, length - to);
    if (at + (head < 0 ? 1 : count) > data.length) throw broken(SHORT);
    if (head < 0) found.fill(data[at++]!, to, to + count);
    else found.set(data.subarray(at, (at += count)), to);
    to += count;
  }
  return found;
}

const CLEAR = 256;
const END = 257;
const MOST_CODES = 4_096;

export function unpackLzw(data: Uint8Array, length: number): Uint8Array {
  const found = new Uint8Array(length);
  // Each code is a range of what was written before.
  const starts = new Int32Array(MOST_CODES);
  const lengths = new Int32Array(MOST_CODES);
  let [bits, held, at, width, next, to, last] = [0, 0, 0, 9, END + 1, 0, -1];
  while (to < length) {
    while (held < width) {
      if (at >= data.length) throw broken(SHORT);
      bits = ((bits << 8) | data[at++]!) & 0xffffff;
      held += 8;
    }
    held -= width;
    const code = (bits >>> held) & ((1 << width) - 1);
    if (code === END) throw broken(SHORT);
    if (code === CLEAR) {
      [width, next, last] = [9, END + 1, -1];
      continue;
    }
    const begin = to;
    if (code < CLEAR) found[to++] = code;
    else if (last >= 0 && code <= next && code > END) {
      const isNew = code === next;
      const [from, count] = isNew ? [last, begin - last + 1] : [starts[code]!, lengths[code]!];
      for (let index = 0; index < count && to < length; index += 1, to += 1) found[to] = found[from + index]!;
    } else throw broken(SHORT);
    if (last >= 0 && next < MOST_CODES) {
      starts[next] = last;
      lengths[next] = begin - last + 1;
      next += 1;
      if (next === (1 << width) - 1 && width < 12) width += 1;
    }
    last = begin;
  }
  return found;
}

export async function inflate(data: Uint8Array, length: number): Promise<Uint8Array> {
  const stream = new Blob([data as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate"));
  const reader = stream.getReader();
  const found = new Uint8Array(length);
  let to = 0;
  try {
    while (to < length) {
      const { value, done } = await reader.read();
      if (done) break;
      found.set(value.subarray(0, length - to), to);
      to += Math.min(value.length, length - to);
    }
  } catch {
    to = -1;
  } finally {
    // The rest is not unpacked, however much it is.
    void reader.cancel().catch(() => undefined);
  }
  if (to < length) throw broken(SHORT);
  return found;
}

/** Undo the prediction of each sample from the one before it (TIFF 6.0, section 14), of samples of a byte. */
export function undoPrediction(rows: Uint8Array, stride: number, samples: number): void {
  for (let row = 0; row + stride <= rows.length; row += stride)
    for (let at = row + samples; at < row + stride; at += 1) rows[at] = (rows[at]! + rows[at - samples]!) & 0xff;
}
