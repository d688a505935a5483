// The directories of a TIFF file, one a page (TIFF 6.0, section 2). Only those up to the page that is needed are read.
import { broken, FileFault } from "./faults";
import type { Source } from "./source";

/** The tags of a page by number, each with its values. */
export type Tags = ReadonlyMap<number, readonly number[]>;

const MOST_ENTRIES = 4_096;
const MOST_VALUES = 1 << 20;
const MOST_PAGES = 100_000;
/** The bytes of a value, by its type. */
const SIZES: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8 };
/** Tags that decoding uses, by TIFF 6.0 and its Technical Note 2 for JPEG; all others are skipped. */
const USED = new Set([
  256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 282, 283, 284, 292, 317, 320, 322, 323, 324, 325, 339, 347,
]);

export class Directories {
  readonly #starts: number[];
  readonly #seen: Set<number>;
  /** How many pages the file has, once its last directory has been reached. */
  count: number | null = null;
  /** How many directories are known to be there. */
  get known(): number {
    return this.#starts.length;
  }

  private constructor(
    private readonly source: Source,
    private readonly isLittle: boolean,
    first: number,
  ) {
    this.#starts = [first];
    this.#seen = new Set([first]);
  }

  static async open(source: Source): Promise<Directories> {
    if (source.size < 8) throw broken("It is too short for a TIFF file.");
    const head = await source.read(0, 8);
    const order = String.fromCharCode(head[0]!, head[1]!);
    if (order !== "II" && order !== "MM") throw broken("It does not begin as a TIFF file does.");
    const view = new DataView(head.buffer);
    const version = view.getUint16(2, order === "II");
    if (version === 43) throw new FileFault("unknown-kind", "It is a BigTIFF file.");
    if (version !== 42) throw broken("It does not begin as a TIFF file does.");
    return new Directories(source, order === "II", view.getUint32(4, order === "II"));
  }

  /** The same directories, read from another source of the same file. */
  from(source: Source): Directories {
    const copy = new Directories(source, this.isLittle, this.#starts[0]!);
    for (const start of this.#starts.slice(1)) copy.#add(start);
    copy.count = this.count;
    return copy;
  }

  /** Return the tags of a page, from 1. Throws FileFault. */
  async readPage(page: number): Promise<Tags> {
    while (this.#starts.length < page) await this.#findNext();
    const entries = await this.#readEntries(this.#starts[page - 1]!);
    const tags = new Map<number, readonly number[]>();
    for (let at = 0; at < entries.byteLength - 4; at += 12) {
      const tag = entries.getUint16(at, this.isLittle);
      if (USED.has(tag) && !tags.has(tag)) tags.set(tag, await this.#readValues(entries, at));
    }
    // Whether another page follows is known at once.
    if (this.#starts.length === page && this.count === null) this.#note(entries);
    return tags;
  }

  /** Count the pages, unless the list of them is damaged after those that are known. */
  async countPages(): Promise<void> {
    try {
      while (this.count === null) await this.#findNext();
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
    }
  }

  async #findNext(): Promise<void> {
    if (this.count !== null)
      throw new FileFault("no-such-page", `It has ${this.count} ${this.count === 1 ? "page" : "pages"}.`);
    const entries = await this.#readEntries(this.#starts.at(-1)!);
    this.#note(entries);
  }

  #note(entries: DataView): void {
    const next = entries.getUint32(entries.byteLength - 4, this.isLittle);
    if (next === 0) this.count = this.#starts.length;
    else if (this.#seen.has(next)) throw broken("Its list of pages runs in a circle.");
    else if (this.#starts.length >= MOST_PAGES) throw new FileFault("too-large", "It has more than 100,000 pages.");
    else this.#add(next);
  }

  #add(start: number): void {
    this.#starts.push(start);
    this.#seen.add(start);
  }

  /** Return the entries of a directory, and after them where the next directory is. */
  async #readEntries(start: number): Promise<DataView> {
    const head = await this.source.read(start, 2);
    const count = new DataView(head.buffer).getUint16(0, this.isLittle);
    if (count === 0 || count > MOST_ENTRIES) throw broken("The directory of a page is damaged.");
    const bytes = await this.source.read(start + 2, count * 12 + 4);
    return new DataView(bytes.buffer);
  }

  async #readValues(entries: DataView, at: number): Promise<number[]> {
    const type = entries.getUint16(at + 2, this.isLittle);
    const count = entries.getUint32(at + 4, this.isLittle);
    const size = SIZES[type];
    if (size === undefined) return [];
    if (count > MOST_VALUES) throw broken("The directory of a page is damaged.");
    const inside = count * size <= 4;
    const view = inside
      ? new DataView(entries.buffer, entries.byteOffset + at + 8, 4)
      : new DataView((await this.source.read(entries.getUint32(at + 8, this.isLittle), count * size)).buffer);
    return Array.from({ length: count }, (_, index) => this.#readValue(view, type, index));
  }

  #readValue(view: DataView, type: number, index: number): number {
    switch (SIZES[type]) {
      case 2:
        return view.getUint16(index * 2, this.isLittle);
      case 4:
        return view.getUint32(index * 4, this.isLittle);
      case 8:
        return view.getUint32(index * 8, this.isLittle) / (view.getUint32(index * 8 + 4, this.isLittle) || 1);
      default:
        return view.getUint8(index);
    }
  }
}
