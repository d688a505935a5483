// The records of a zip: stored entries, data descriptors, names in UTF-8, Zip64 where a count, a size or an offset needs
// it (PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16, 4.5.3). Times are left out.

/** A file of a zip: its path with slashes, and its bytes. */
export interface ZipEntry {
  path: string;
  size: number;
}

const [MAX16, MAX32] = [0xffff, 0xffffffff];
// Bit 3: sizes and CRC follow the data. Bit 11: the name is UTF-8.
const FLAGS = 0x0808;
// 1980-01-01, the first day that there is.
const DATE = 0x21;

const encoder = new TextEncoder();
const encodeName = (file: ZipEntry) => encoder.encode(file.path);
const isLarge = (file: ZipEntry) => file.size >= MAX32;

/** Fields in little-endian order. */
export class Fields {
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

/** What precedes the bytes of a file. */
export function makeHeader(file: ZipEntry): Uint8Array<ArrayBuffer> {
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

/** What follows the bytes of a file. */
export function makeDescriptor(file: ZipEntry, crc: number): Uint8Array<ArrayBuffer> {
  const record = new Fields(measureDescriptor(file)).add(4, 0x08074b50, crc);
  return record.add(isLarge(file) ? 8 : 4, file.size, file.size).bytes;
}

export const measureHeader = (file: ZipEntry) => 30 + encodeName(file).length + (isLarge(file) ? 20 : 0);
export const measureDescriptor = (file: ZipEntry) => (isLarge(file) ? 24 : 16);
export const measureDirectoryEntry = (file: ZipEntry, offset: number) =>
  46 + encodeName(file).length + measureExtra(file, offset);

/** How long the records after the directory are, which has so many entries and bytes and begins at `start`. */
export const measureEnd = (count: number, directory: number, start: number) =>
  (needsZip64(count, directory, start) ? 76 : 0) + 22;

const needsZip64 = (count: number, directory: number, start: number) =>
  count >= MAX16 || directory >= MAX32 || start >= MAX32;

const measureExtra = (file: ZipEntry, offset: number) => {
  const bytes = (isLarge(file) ? 16 : 0) + (offset >= MAX32 ? 8 : 0);
  return bytes ? bytes + 4 : 0;
};

/** Add the entry of a file that begins at the offset. */
export function addDirectoryEntry(record: Fields, file: ZipEntry, crc: number, offset: number): void {
  const [name, extra, size] = [encodeName(file), measureExtra(file, offset), cut(file.size)];
  const version = extra ? 45 : 20;
  record.add(4, 0x02014b50).add(2, version, version, FLAGS, 0, 0, DATE).add(4, crc, size, size);
  record.add(2, name.length, extra, 0, 0, 0).add(4, 0, cut(offset)).addBytes(name);
  if (extra) record.add(2, 1, extra - 4);
  if (isLarge(file)) record.add(8, file.size, file.size);
  if (offset >= MAX32) record.add(8, offset);
}

/** Add the records after the directory, which has `size` bytes. */
export function addEnd(record: Fields, count: number, size: number, start: number): void {
  if (needsZip64(count, size, start)) addZip64End(record, count, size, start);
  const shown = Math.min(count, MAX16);
  record.add(4, 0x06054b50).add(2, 0, 0, shown, shown).add(4, cut(size), cut(start)).add(2, 0);
}

function addZip64End(record: Fields, count: number, size: number, start: number): void {
  const at = start + size;
  record.add(4, 0x06064b50).add(8, 44).add(2, 45, 45).add(4, 0, 0).add(8, count, count, size, start);
  record.add(4, 0x07064b50, 0).add(8, at).add(4, 1);
}
