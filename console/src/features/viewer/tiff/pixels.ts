import type { Layout, Part } from "./layout";

const WHITE = 0xffffffff;
const BLACK = 0xff000000;

/** The pixels of a page, four bytes each: red, green, blue and opacity. */
export class Pixels {
  readonly bytes: Uint8ClampedArray<ArrayBuffer>;
  readonly #words: Uint32Array;

  constructor(private readonly layout: Layout) {
    this.bytes = new Uint8ClampedArray(layout.width * layout.height * 4);
    this.#words = new Uint32Array(this.bytes.buffer);
  }

  /** Set the pixels of a part from its unpacked rows. */
  put(part: Part, rows: Uint8Array): void {
    const { width, height, bits, samples } = this.layout;
    const stride = Math.ceil((part.width * bits * samples) / 8);
    const columns = Math.min(part.width, width - part.x);
    const table = samples === 1 ? buildTable(this.layout) : null;
    for (let row = 0; row < Math.min(part.height, height - part.y); row += 1) {
      const [from, to] = [row * stride, (part.y + row) * width + part.x];
      if (table) this.#putIndexes(table, rows, from, to, columns);
      else this.#putSamples(rows, from, to, columns);
    }
  }

  /** Set the pixels of a part from pixels of four bytes. */
  copy(part: Part, pixels: Uint8ClampedArray, wide: number): void {
    const columns = Math.min(part.width, this.layout.width - part.x, wide);
    for (let row = 0; row < Math.min(part.height, this.layout.height - part.y); row += 1) {
      const to = ((part.y + row) * this.layout.width + part.x) * 4;
      this.bytes.set(pixels.subarray(row * wide * 4, (row * wide + columns) * 4), to);
    }
  }

  #putIndexes(table: Uint32Array, rows: Uint8Array, from: number, to: number, columns: number): void {
    const { bits } = this.layout;
    const mask = (1 << bits) - 1;
    for (let column = 0; column < columns; column += 1) {
      const bit = column * bits;
      this.#words[to + column] = table[(rows[from + (bit >>> 3)]! >>> (8 - bits - (bit & 7))) & mask]!;
    }
  }

  #putSamples(rows: Uint8Array, from: number, to: number, columns: number): void {
    const { samples, photometric } = this.layout;
    for (let column = 0; column < columns; column += 1) {
      const at = from + column * samples;
      const [red, green, blue] = samples < 3 ? [rows[at]!, rows[at]!, rows[at]!] : rows.subarray(at, at + 3);
      const word = (BLACK | (blue! << 16) | (green! << 8) | red!) >>> 0;
      this.#words[to + column] = photometric === 0 ? (word ^ 0xffffff) >>> 0 : word;
    }
  }
}

/** Return the colour of each value of a sample. */
function buildTable({ bits, photometric, colours }: Layout): Uint32Array {
  const most = (1 << bits) - 1;
  return Uint32Array.from({ length: most + 1 }, (_, value) => {
    if (photometric === 3) {
      const [red, green, blue] = [0, 1, 2].map((plane) => colours[plane * (most + 1) + value]! >>> 8);
      return (BLACK | (blue! << 16) | (green! << 8) | red!) >>> 0;
    }
    if (most === 1) return value === photometric ? WHITE : BLACK;
    const grey = Math.round(((photometric === 0 ? most - value : value) * 255) / most);
    return (BLACK | (grey << 16) | (grey << 8) | grey) >>> 0;
  });
}
