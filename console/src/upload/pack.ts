// A zip of many files that is made while it is sent, of the records of zip_records.ts.
//
// Guaranteed: its length is known before a byte is read, the same files make the same bytes, and any range of it can be
// made again. The CRCs of files that were read are kept; after a reload they are computed again. Times are left out.
import { crc32 } from "./crc";
import { FileChangedFault } from "./faults";
import type { PickedFile, Source } from "./types";
import {
  addDirectoryEntry,
  addEnd,
  Fields,
  makeDescriptor,
  makeHeader,
  measureDescriptor,
  measureDirectoryEntry,
  measureEnd,
  measureHeader,
} from "./zip_records";

// A file up to this size is read once, for its CRC and to be sent.
const READ_AT_ONCE = 4_194_304;
const JOINED = 262_144;

/** Return one zip of the files, in the order of their paths. */
export function packFiles(picked: PickedFile[]): Source {
  return new Archive([...picked].sort((one, other) => (one.path < other.path ? -1 : 1)));
}

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
      directory += measureDirectoryEntry(file, at);
      at += measureHeader(file) + file.size + measureDescriptor(file);
      this.ends[index] = at;
    });
    this.directoryStart = at;
    this.size = at + directory + measureEnd(files.length, directory, at);
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
    addEnd(record, this.files.length, record.at, this.directoryStart);
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

/** Yield the bytes of a blob, some at a time. */
export async function* readChunks(blob: Blob): AsyncGenerator<Uint8Array> {
  const reader = blob.stream().getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
}
