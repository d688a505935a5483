import { broken } from "./faults";

/** The bytes of a file, read where they are needed. */
export interface Source {
  readonly size: number;
  /** Return these bytes. Throws FileFault if the file does not have them. */
  read(start: number, length: number): Promise<Uint8Array>;
}

/** Get bytes of a file from the storage: those from `start`, at most `length`, and the size of the whole file. */
export type Fetching = (start: number, length: number) => Promise<{ bytes: Uint8Array; size: number }>;

export const BLOCK_BYTES = 512 * 1024;
const MOST_BLOCKS = 64;

/** A file of which only the blocks that are needed are fetched; the last 32 MB of them are kept. */
export class BlockSource implements Source {
  readonly #blocks = new Map<number, Uint8Array>();
  fetched = 0;

  private constructor(
    readonly size: number,
    private readonly fetching: Fetching,
  ) {}

  /** Open a file by its first block, which also tells the size. */
  static async open(fetching: Fetching): Promise<BlockSource> {
    const first = await fetching(0, BLOCK_BYTES);
    const source = new BlockSource(first.size, fetching);
    source.#keep(0, first.bytes);
    // A storage without ranges answers with the whole file.
    for (let block = 1; block * BLOCK_BYTES < first.bytes.length; block += 1)
      source.#blocks.set(block, first.bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES));
    return source;
  }

  /** Read from now on by another way, such as a new URL of the same file. */
  renew(fetching: Fetching): BlockSource {
    const source = new BlockSource(this.size, fetching);
    for (const [block, bytes] of this.#blocks) source.#blocks.set(block, bytes);
    source.fetched = this.fetched;
    return source;
  }

  async read(start: number, length: number): Promise<Uint8Array> {
    if (start < 0 || length < 0 || start + length > this.size)
      throw broken(`A part of it lies beyond its end, which is at byte ${this.size.toLocaleString("en-US")}.`);
    const found = new Uint8Array(length);
    for (let at = start; at < start + length;) {
      const block = Math.floor(at / BLOCK_BYTES);
      const bytes = await this.#load(block);
      const from = at - block * BLOCK_BYTES;
      const part = bytes.subarray(from, Math.min(bytes.length, from + start + length - at));
      if (part.length === 0) throw broken("It is shorter than the storage says.");
      found.set(part, at - start);
      at += part.length;
    }
    return found;
  }

  async #load(block: number): Promise<Uint8Array> {
    const known = this.#blocks.get(block);
    if (known) {
      // The last one used is the last one dropped.
      this.#blocks.delete(block);
      this.#blocks.set(block, known);
      return known;
    }
    const { bytes } = await this.fetching(block * BLOCK_BYTES, BLOCK_BYTES);
    this.#keep(block, bytes.subarray(0, BLOCK_BYTES));
    return bytes;
  }

  #keep(block: number, bytes: Uint8Array): void {
    this.fetched += bytes.length;
    this.#blocks.set(block, bytes);
    if (this.#blocks.size > MOST_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!);
  }
}

/** A file that is in memory. */
export class MemorySource implements Source {
  constructor(private readonly bytes: Uint8Array) {}

  get size(): number {
    return this.bytes.length;
  }

  read(start: number, length: number): Promise<Uint8Array> {
    if (start + length > this.size) return Promise.reject(broken("A part of it lies beyond its end."));
    return Promise.resolve(this.bytes.slice(start, start + length));
  }
}
