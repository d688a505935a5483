// SHA-256 of bytes that arrive one after the other (FIPS 180-4): browsers digest only what is in memory as a whole.

const K = new Uint32Array(64);
const FIRST = new Uint32Array(8);
fillConstants();

/** The fractional parts of the cube roots, and of the square roots, of the first primes. */
function fillConstants(): void {
  const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  for (let [number, found] = [2, 0]; found < 64; number++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) isPrime = false;
    if (!isPrime) continue;
    if (found < 8) FIRST[found] = fraction(Math.sqrt(number));
    K[found++] = fraction(Math.cbrt(number));
  }
}

export class Sha256 {
  private readonly state = FIRST.slice();
  private readonly words = new Uint32Array(64);
  private readonly block = new Uint8Array(64);
  private used = 0;
  private size = 0;

  add(bytes: Uint8Array): void {
    this.size += bytes.length;
    let at = 0;
    if (this.used) {
      at = Math.min(64 - this.used, bytes.length);
      this.block.set(bytes.subarray(0, at), this.used);
      this.used += at;
      if (this.used < 64) return;
      this.addBlock(this.block, 0);
    }
    for (; at + 64 <= bytes.length; at += 64) this.addBlock(bytes, at);
    this.block.set(bytes.subarray(at));
    this.used = bytes.length - at;
  }

  /** The hash in hexadecimal; nothing can be added afterwards. */
  finish(): string {
    const { size, used } = this;
    const padding = new Uint8Array((used < 56 ? 64 : 128) - used);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(size / 2 ** 29));
    view.setUint32(padding.length - 4, size * 8);
    this.add(padding);
    return [...this.state].map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  private addBlock(bytes: Uint8Array, from: number): void {
    const w = this.words;
    for (let t = 0, at = from; t < 16; t++, at += 4)
      w[t] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    for (let t = 16; t < 64; t++) {
      const [x, y] = [w[t - 15]!, w[t - 2]!];
      const near = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const far = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[t] = w[t - 16]! + near + w[t - 7]! + far;
    }
    const state = this.state;
    let a = state[0]! | 0;
    let b = state[1]! | 0;
    let c = state[2]! | 0;
    let d = state[3]! | 0;
    let e = state[4]! | 0;
    let f = state[5]! | 0;
    let g = state[6]! | 0;
    let h = state[7]! | 0;
    for (let t = 0; t < 64; t++) {
      const high = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + high + ((e & f) ^ (~e & g)) + K[t]! + w[t]!) | 0;
      const low = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}

const toHex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((each) => each.toString(16).padStart(2, "0")).join("");

/** The hash of bytes that are in memory, in hexadecimal. */
export const digest = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  toHex(await crypto.subtle.digest("SHA-256", bytes));
