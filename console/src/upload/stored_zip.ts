// A zip that is written one file after the other, whose sizes are not known together: an entry counts when it is whole.
import {
  addDirectoryEntry,
  addEnd,
  Fields,
  makeDescriptor,
  makeHeader,
  measureDirectoryEntry,
  measureEnd,
  type ZipEntry,
} from "./zip_records";

type Bytes = Uint8Array<ArrayBuffer>;

/** The records of a zip, of which the caller writes the bytes in this order: header, the file's bytes, descriptor. */
export class StoredZip {
  /** Where the next entry begins: what was written after it was not accepted, and can be written over. */
  at = 0;
  private readonly entries: Bytes[] = [];

  begin = (entry: ZipEntry): Bytes => makeHeader(entry);

  /** Return what follows the bytes of the entry; it counts from now on. */
  accept(entry: ZipEntry, crc: number): Bytes {
    const record = new Fields(measureDirectoryEntry(entry, this.at));
    addDirectoryEntry(record, entry, crc, this.at);
    this.entries.push(record.bytes);
    const descriptor = makeDescriptor(entry, crc);
    this.at += makeHeader(entry).length + entry.size + descriptor.length;
    return descriptor;
  }

  /** Return the directory and the records of the end. */
  finish(): Bytes {
    const size = this.entries.reduce((total, each) => total + each.length, 0);
    const record = new Fields(size + measureEnd(this.entries.length, size, this.at));
    for (const each of this.entries) record.addBytes(each);
    addEnd(record, this.entries.length, size, this.at);
    return record.bytes;
  }
}
