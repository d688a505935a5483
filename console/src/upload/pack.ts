// A zip of many files that is made while it is sent: stored entries, data descriptors, names in UTF-8, Zip64 where a
// count, a size or an offset needs it (PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16, 4.5.3).
//
// Guaranteed: its length is known before a byte is read, the same files make the same bytes, and any range of it can be
// made again. The CRCs of files that were read are kept; after a reload they are computed again. Times are left out.
import { crc32 } from "./crc";
import { FileChangedFault } from "./faults";
import type { PickedFile, Source } from "./types";

const [MAX16, MAX32] = [0xffff, 0xffffffff];
// Bit 3: sizes and CRC follow the data. Bit 11: the name is UTF-8.
const FLAGS = 0x0808;
// 1980-01-01, the first day that there is.
const DATE = 0x21;
// A file up to this size is read once, for its CRC and to be sent.
const READ_AT_ONCE = 4_194_304;
const JOINED = 262_144;

/** Return one zip of the files, in the order of their paths. */
export function packFiles(picked: PickedFile[]): Source {
  return new Archive([...picked].sort((one, other) => (one.path < other.path ? -1 : 1)));
}

const encoder = new TextEncoder();
const encodeName = (file: PickedFile) => encoder.encode(file.path);
const isLarge = (file: PickedFile) => file.size >= MAX32;
const measureHeader = (file: PickedFile) => 30 + encodeName(file).length + (isLarge(file) ? 20 : 0);
const measureDescriptor = (file: PickedFile) => (isLarge(file) ? 24 : 16);

class Archive implements Source {
  readonly size: number;
  readonly ends: Float64Array;
  private readonly directoryStart: number;
  private readonly crcs: Float64Array;
  private readonly reading = new Map<number, Promise<number>>();
  private directory: Promise<Uint8Array<ArrayBuffer>> | null = null;

  constructor(readonly files: PickedFile[]) {
    this.ends = new Float64Array(files.length);
    this.crcs = new Float64Array(files.length).fill(-1);
    let [at, directory] = [0, 0];
    files.forEach((file, index) => {
      directory += 46 + encodeName(file).length + measureExtra(file, at);
      at += measureHeader(file) + file.size + measureDescriptor(file);
      this.ends[index] = at;
    });
    this.directoryStart = at;
    this.size = at + directory + (this.needsZip64(directory) ? 76 : 0) + 22;
  }

  async slice(from: number, to: number): Promise<Blob> {
    const range = new Range(from, to);
    for (let index = this.findEntry(from); index < this.files.length && this.getStart(index) < to; index++)
      await this.addEntry(range, index);
    if (to > this.directoryStart) range.addBytes(this.directoryStart, await this.getDirectory());
    return range.finish();
  }

  private getStart = (index: number) => (index ? this.ends[index - 1]! : 0);

  /** The first entry that ends after this byte. */
  private findEntry(from: number): number {
    let [low, high] = [0, this.files.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ends[middle]! > from) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private async addEntry(range: Range, index: number): Promise<void> {
    const [file, start] = [this.files[index]!, this.getStart(index)];
    const data = start + measureHeader(file);
    range.addBytes(start, makeHeader(file));
    if (file.size <= READ_AT_ONCE && range.covers(data, data + file.size)) {
      const bytes = new Uint8Array(await file.file.arrayBuffer());
      this.keepCrc(index, crc32(bytes), bytes.length);
      range.addBytes(data, bytes);
    } else {
      range.addFile(data, file);
    }
    const end = data + file.size;
    if (range.meets(end, this.ends[index]!)) range.addBytes(end, makeDescriptor(file, await this.getCrc(index)));
  }

  /** The descriptor and the directory need it, perhaps at once: a large file is read once for both. */
  private getCrc(index: number): number | Promise<number> {
    if (this.crcs[index]! >= 0) return this.crcs[index]!;
    const reading = this.reading.get(index) ?? this.readCrc(index).finally(() => this.reading.delete(index));
    this.reading.set(index, reading);
    return reading;
  }

  private async readCrc(index: number): Promise<number> {
    let [crc, size] = [0, 0];
    for await (const bytes of readChunks(this.files[index]!.file))
      [crc, size] = [crc32(bytes, crc), size + bytes.length];
    return this.keepCrc(index, crc, size);
  }

  private keepCrc(index: number, crc: number, size: number): number {
    const [file, known] = [this.files[index]!, this.crcs[index]!];
    if (size !== file.size || (known >= 0 && known !== crc)) throw new FileChangedFault(file.path);
    this.crcs[index] = crc;
    return crc;
  }

  private needsZip64 = (directory: number) =>
    this.files.length >= MAX16 || directory >= MAX32 || this.directoryStart >= MAX32;

  /** The directory and the records of the end, which need the CRCs of all files. */
  private getDirectory(): Promise<Uint8Array<ArrayBuffer>> {
    this.directory ??= this.makeDirectory().catch((error: unknown) => {
      this.directory = null;
      throw error;
    });
    return this.directory;
  }

  private async makeDirectory(): Promise<Uint8Array<ArrayBuffer>> {
    const record = new Fields(this.size - this.directoryStart);
    for (const [index, file] of this.files.entries()) {
      const crc = await this.getCrc(index);
      addDirectoryEntry(record, file, crc, this.getStart(index));
    }
    const size = record.at;
    if (this.needsZip64(size)) addZip64End(record, this.files.length, size, this.directoryStart);
    const count = Math.min(this.files.length, MAX16);
    record.add(4, 0x06054b50).add(2, 0, 0, count, count).add(4, cut(size), cut(this.directoryStart)).add(2, 0);
    return record.bytes;
  }
}

/** Collects what of an archive lies in a range of its bytes; small pieces are joined, of which there can be many. */
class Range {
  private readonly pieces: BlobPart[] = [];
  private readonly joined = new Uint8Array(JOINED);
  private used = 0;

  constructor(
    private readonly from: number,
    private readonly to: number,
  ) {}

  covers = (start: number, end: number) => this.from <= start && end <= this.to;
  meets = (start: number, end: number) => this.from < end && start < this.to;

  addBytes(start: number, bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.meets(start, start + bytes.length)) return;
    const piece = bytes.subarray(Math.max(this.from - start, 0), this.to - start);
    if (this.used + piece.length > JOINED) this.join();
    if (piece.length > JOINED) return void this.pieces.push(piece);
    this.joined.set(piece, this.used);
    this.used += piece.length;
  }

  addFile(start: number, { file, size }: PickedFile): void {
    if (!this.meets(start, start + size)) return;
    this.join();
    this.pieces.push(file.slice(Math.max(this.from - start, 0), this.to - start));
  }

  finish(): Blob {
    this.join();
    return new Blob(this.pieces);
  }

  private join(): void {
    if (this.used) this.pieces.push(this.joined.slice(0, this.used));
    this.used = 0;
  }
}

/** Fields in little-endian order. */
class Fields {
  readonly bytes: Uint8Array<ArrayBuffer>;
  at = 0;
  private readonly view: DataView;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }

  add(width: 2 | 4 | 8, ...values: number[]): this {
    for (const value of values) {
      if (width === 2) this.view.setUint16(this.at, value, true);
      else this.view.setUint32(this.at, value % 2 ** 32, true);
      if (width === 8) this.view.setUint32(this.at + 4, value / 2 ** 32, true);
      this.at += width;
    }
    return this;
  }

  addBytes(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
    return this;
  }
}

const cut = (value: number) => Math.min(value, MAX32);

function makeHeader(file: PickedFile): Uint8Array<ArrayBuffer> {
  const [name, large] = [encodeName(file), isLarge(file)];
  const [size, extra] = large ? [MAX32, 20] : [0, 0];
  const record = new Fields(30 + name.length + extra);
  record
    .add(4, 0x04034b50)
    .add(2, large ? 45 : 20, FLAGS, 0, 0, DATE)
    .add(4, 0, size, size);
  record.add(2, name.length, extra).addBytes(name);
  return large ? record.add(2, 1, 16).add(8, 0, 0).bytes : record.bytes;
}

function makeDescriptor(file: PickedFile, crc: number): Uint8Array<ArrayBuffer> {
  const record = new Fields(measureDescriptor(file)).add(4, 0x08074b50, crc);
  return record.add(isLarge(file) ? 8 : 4, file.size, file.size).bytes;
}

const measureExtra = (file: PickedFile, offset: number) => {
  const bytes = (isLarge(file) ? 16 : 0) + (offset >= MAX32 ? 8 : 0);
  return bytes ? bytes + 4 : 0;
};

function addDirectoryEntry(record: Fields, file: PickedFile, crc: number, offset: number): void {
  const [name, extra, size] = [encodeName(file), measureExtra(file, offset), cut(file.size)];
  const version = extra ? 45 : 20;
  record.add(4, 0x02014b50).add(2, version, version, FLAGS, 0, 0, DATE).add(4, crc, size, size);
  record.add(2, name.length, extra, 0, 0, 0).add(4, 0, cut(offset)).addBytes(name);
  if (extra) record.add(2, 1, extra - 4);
  if (isLarge(file)) record.add(8, file.size, file.size);
  if (offset >= MAX32) record.add(8, offset);
}

function addZip64End(record: Fields, count: number, size: number, start: number): void {
  const at = start + record.at;
  record.add(4, 0x06064b50).add(8, 44).add(2, 45, 45).add(4, 0, 0).add(8, count, count, size, start);
  record.add(4, 0x07064b50, 0).add(8, at).add(4, 1);
}

/** Yield the bytes of a blob, some at a time. */
export async function* readChunks(blob: Blob): AsyncGenerator<Uint8Array> {
  const reader = blob.stream().getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
}
