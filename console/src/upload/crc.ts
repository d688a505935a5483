// CRC-32 of zips, and CRC-64/NVME, which S3 computes of every part by itself. Eight bytes a step, by tables.

const CRC32 = 0xedb88320;
const CRC64_HIGH = 0x9a6c9329;
const CRC64_LOW = 0xac4bc9b5;

/** The CRC-32 of bytes that follow those with the CRC `before`. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const [t, end] = [TABLE32, bytes.length - (bytes.length % 8)];
  let crc = ~before;
  for (let at = 0; at < end; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      t[1792 + (crc & 255)]! ^
      t[1536 + ((crc >>> 8) & 255)]! ^
      t[1280 + ((crc >>> 16) & 255)]! ^
      t[1024 + (crc >>> 24)]! ^
      t[768 + bytes[at + 4]!]! ^
      t[512 + bytes[at + 5]!]! ^
      t[256 + bytes[at + 6]!]! ^
      t[bytes[at + 7]!]!;
  }
  for (let at = end; at < bytes.length; at++) crc = t[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The CRC-64/NVME of bytes that are added one after the other. */
export class Crc64 {
  private low = -1;
  private high = -1;

  add(bytes: Uint8Array): void {
    const [lows, highs, end] = [LOW64, HIGH64, bytes.length - (bytes.length % 8)];
    let { low, high } = this;
    for (let at = 0; at < end; at += 8) {
      const a = low ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
      const b = high ^ (bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24));
      const [i7, i6, i5, i4] = [
        1792 + (a & 255),
        1536 + ((a >>> 8) & 255),
        1280 + ((a >>> 16) & 255),
        1024 + (a >>> 24),
      ];
      const [i3, i2, i1, i0] = [768 + (b & 255), 512 + ((b >>> 8) & 255), 256 + ((b >>> 16) & 255), b >>> 24];
      low = lows[i7]! ^ lows[i6]! ^ lows[i5]! ^ lows[i4]! ^ lows[i3]! ^ lows[i2]! ^ lows[i1]! ^ lows[i0]!;
      high = highs[i7]! ^ highs[i6]! ^ highs[i5]! ^ highs[i4]! ^ highs[i3]! ^ highs[i2]! ^ highs[i1]! ^ highs[i0]!;
    }
    for (let at = end; at < bytes.length; at++) {
      const index = (low ^ bytes[at]!) & 255;
      low = lows[index]! ^ ((low >>> 8) | (high << 24));
      high = highs[index]! ^ (high >>> 8);
    }
    this.low = low;
    this.high = high;
  }

  /** In Base64, as S3 writes it. */
  toBase64(): string {
    const view = new DataView(new ArrayBuffer(8));
    view.setInt32(0, ~this.high);
    view.setInt32(4, ~this.low);
    return btoa(String.fromCharCode(...new Uint8Array(view.buffer)));
  }
}

const TABLE32 = makeTable32();
const [LOW64, HIGH64] = makeTables64();

function makeTable32(): Uint32Array {
  const table = new Uint32Array(2048);
  for (let index = 0; index < 256; index++) {
    let crc = index;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? CRC32 ^ (crc >>> 1) : crc >>> 1;
    table[index] = crc;
  }
  for (let index = 256; index < 2048; index++) {
    const before = table[index - 256]!;
    table[index] = table[before & 255]! ^ (before >>> 8);
  }
  return table;
}

function makeTables64(): [Int32Array, Int32Array] {
  const [lows, highs] = [new Int32Array(2048), new Int32Array(2048)];
  for (let index = 0; index < 256; index++) {
    let [low, high] = [index, 0];
    for (let bit = 0; bit < 8; bit++) {
      const odd = low & 1;
      low = ((low >>> 1) | (high << 31)) ^ (odd ? CRC64_LOW : 0);
      high = (high >>> 1) ^ (odd ? CRC64_HIGH : 0);
    }
    [lows[index], highs[index]] = [low, high];
  }
  for (let index = 256; index < 2048; index++) {
    const [low, high] = [lows[index - 256]!, highs[index - 256]!];
    lows[index] = lows[low & 255]! ^ ((low >>> 8) | (high << 24));
    highs[index] = highs[low & 255]! ^ (high >>> 8);
  }
  return [lows, highs];
}
