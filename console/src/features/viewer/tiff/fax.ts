// Decode images that were compressed as faxes are: ITU-T T.4 (Group 3, one- and two-dimensional) and T.6 (Group 4).
//
// Guaranteed: the result has exactly the rows that were asked for, each of them from codes that fit the width; what does
// not fit is a fault, never pixels that were not in the file. Each step consumes bits, so no file takes longer than its
// length allows.
import { HORIZONTAL, MODE_BITS, MODE_CODES, PASS, RUN_BITS, RUNS } from "./faxCodes";
import { broken } from "./faults";

export interface FaxOptions {
  width: number;
  rows: number;
  /** `group4`; `group3` with ends of lines, `huffman` with lines that begin at a byte (compressions 4, 3 and 2). */
  kind: "group4" | "group3" | "huffman";
  /** Whether lines of group 3 refer to the line above (T4Options, bit 0). */
  isTwoDimensional?: boolean;
  /** Whether the first pixel is the lowest bit of a byte (FillOrder 2). */
  isReversed?: boolean;
}

const END_OF_LINE = 1;

class Bits {
  at = 0;
  readonly #end: number;
  readonly #data: Uint8Array;

  constructor(data: Uint8Array, isReversed: boolean) {
    this.#end = data.length * 8;
    // What is peeked at after the end is zeros, which are no code.
    this.#data = new Uint8Array(data.length + 4);
    this.#data.set(isReversed ? data.map(reverse) : data);
  }

  get isAtEnd(): boolean {
    return this.at >= this.#end;
  }

  peek(count: number): number {
    const byte = this.at >>> 3;
    const data = this.#data;
    const three = (data[byte]! << 16) | (data[byte + 1]! << 8) | data[byte + 2]!;
    return (three >>> (24 - (this.at & 7) - count)) & ((1 << count) - 1);
  }

  /** Read a code; -1 if the bits are none. */
  code(table: Uint16Array, width: number): number {
    if (this.at >= this.#end) return -1;
    const found = table[this.peek(width)]!;
    this.at += found & 15;
    return found === 0 ? -1 : found >>> 4;
  }
}

function reverse(byte: number): number {
  const pairs = ((byte & 0x55) << 1) | ((byte >>> 1) & 0x55);
  const halves = ((pairs & 0x33) << 2) | ((pairs >>> 2) & 0x33);
  return ((halves & 0x0f) << 4) | (halves >>> 4);
}

/** Return the rows, each from a new byte on, with a bit for each pixel: 1 is black. Throws FileFault. */
export function decodeFax(data: Uint8Array, options: FaxOptions): Uint8Array {
  const { width, rows, kind } = options;
  const stride = Math.ceil(width / 8);
  const found = new Uint8Array(stride * rows);
  const bits = new Bits(data, options.isReversed ?? false);
  // Where the colour changes, from white at 0 on; several ends close a line.
  let line = new Int32Array(width + 8);
  let above = new Int32Array(width + 8).fill(width);
  for (let row = 0; row < rows; row += 1) {
    const isPlain = kind === "group4" ? false : skipToLine(bits, options);
    const changes = isPlain ? readPlain(bits, line, width) : readTwoDimensional(bits, line, above, width);
    if (changes < 0) throw broken(`The image ends, or is damaged, at line ${row + 1} of ${rows}.`);
    line.fill(width, changes, changes + 6);
    paint(found, row * stride, line, changes, width);
    [line, above] = [above, line];
  }
  return found;
}

/** Go to where the next line of group 3 begins; returns whether it refers to no line above. */
function skipToLine(bits: Bits, { kind, isTwoDimensional }: FaxOptions): boolean {
  if (kind === "huffman") {
    bits.at = (bits.at + 7) & ~7;
    return true;
  }
  while (!bits.isAtEnd && bits.peek(12) === 0) bits.at += 1;
  if (bits.peek(12) === END_OF_LINE) bits.at += 12;
  if (!isTwoDimensional) return true;
  const tag = bits.peek(1);
  bits.at += 1;
  return tag === 1;
}

function readRun(bits: Bits, colour: number): number {
  const table = RUNS[colour]!;
  for (let run = 0; ;) {
    const part = bits.code(table, RUN_BITS);
    if (part < 0) return -1;
    run += part;
    if (part < 64) return run;
  }
}

/** Read a line of runs. Returns the number of changes; -1 if it is damaged. */
function readPlain(bits: Bits, line: Int32Array, width: number): number {
  let [at, colour, changes] = [0, 0, 0];
  while (at < width) {
    const run = readRun(bits, colour);
    if (run < 0 || at + run > width || changes > width) return -1;
    line[changes++] = at += run;
    colour ^= 1;
  }
  return changes;
}

/** Read a line that refers to the one above. Returns the number of changes; -1 if it is damaged. */
function readTwoDimensional(bits: Bits, line: Int32Array, above: Int32Array, width: number): number {
  let [at, colour, changes, next] = [-1, 0, 0, 0];
  while (at < width) {
    const mode = bits.code(MODE_CODES, MODE_BITS);
    if (mode < 0 || changes > width) return -1;
    while (above[next]! <= at && above[next]! < width) next += 2;
    if (mode === PASS) {
      at = above[next + 1]!;
    } else if (mode === HORIZONTAL) {
      const first = readRun(bits, colour);
      const second = first < 0 ? -1 : readRun(bits, colour ^ 1);
      const middle = Math.max(at, 0) + first;
      at = middle + second;
      if (second < 0 || at > width) return -1;
      line[changes++] = middle;
      line[changes++] = at;
    } else {
      const to = above[next]! + mode - 3;
      if (to < Math.max(at, 0) || to > width) return -1;
      line[changes++] = at = to;
      colour ^= 1;
      next += next > 0 ? -1 : 1;
    }
  }
  return changes;
}

/** Set the bits of the black pixels of a line. */
function paint(found: Uint8Array, start: number, line: Int32Array, changes: number, width: number): void {
  for (let index = 0; index < changes; index += 2) {
    const from = line[index]!;
    const to = index + 1 < changes ? line[index + 1]! : width;
    if (from >= to) continue;
    const [first, last] = [start + (from >>> 3), start + ((to - 1) >>> 3)];
    const [head, tail] = [0xff >>> (from & 7), 0xff << (7 - ((to - 1) & 7))];
    if (first === last) found[first]! |= head & tail;
    else {
      found[first]! |= head;
      found.fill(0xff, first + 1, last);
      found[last]! |= tail;
    }
  }
}
