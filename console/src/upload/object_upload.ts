// Sends one object to its place in the bucket: in one request, or in parts that are then put together.
//
// Guaranteed: the object is put together from parts that were sent here, or whose checksum is that of the same bytes
// here; an object that is there as a whole is compared too, if the storage has its checksum; a part that S3 has is not sent again; URLs are renewed before they expire and when they are refused. Not
// guaranteed: that the bytes stay the same while they are sent; a file that is changed meanwhile is a fault.
import { computeChecksum } from "./checksums";
import { Crc64 } from "./crc";
import type { Environment } from "./environment";
import { findFault, makeGoneFault, makeOtherFault, makeSizeFault, UploadFault } from "./faults";
import { readChunks } from "./pack";
import type { Context, Task } from "./tasks";
import type { Source, Target, UploadState, UploadUrls } from "./types";

interface Part {
  number: number;
  firstByte: number;
  size: number;
  url: string;
}

type Stored = UploadState["parts"][number];

// URLs are renewed before their last minute.
const EARLY_MS = 60_000;
const MAX_ROUNDS = 3;

export class ObjectUpload {
  private readonly parts = new Map<number, Part>();
  /** Parts that S3 had before, which are not compared yet; and the ETags of those that are right. */
  private readonly there = new Map<number, Stored>();
  private readonly etags = new Map<number, string>();
  private urls: UploadUrls | null = null;
  private expiresAt = 0;
  /** The state of the object if it is there as a whole. */
  private whole: UploadState | null = null;
  private renewal: Promise<void> | null = null;
  private counted = 0;
  private rounds = 0;

  constructor(
    private readonly path: string,
    private readonly source: Source,
    private readonly target: Target,
  ) {}

  /** Return what is to be done first; it adds the rest. The URLs of the target are taken for new. */
  begin(environment: Environment): Task {
    if (this.target.urls) this.accept(this.target.urls, environment);
    return { path: this.path, files: 0, bytes: 0, run: (context) => this.plan(context) };
  }

  private async plan(context: Context): Promise<void> {
    if (!this.urls) await this.renew(context);
    if (this.isStored) return context.add([this.makeRest()]);
    if (this.urls?.url) return context.add([this.makeWhole()]);
    const parts = [...this.parts.values()].sort((one, other) => one.number - other.number);
    context.add(parts.map((part) => this.makePart(part, this.countEnds(part), part.size)));
  }

  private get isStored(): boolean {
    return this.whole !== null;
  }

  /** What is left of an object that is in the bucket. */
  private makeRest(): Task {
    const run = (context: Context) => this.compareWhole(context);
    return { path: this.path, files: this.source.files.length, bytes: this.source.size, run };
  }

  /** Count an object that is there, once it is known to have the bytes of the file, as far as the storage says so. */
  private async compareWhole(context: Context): Promise<void> {
    const { checksum, checksumAlgorithm } = this.whole!;
    const own = checksum && (await computeChecksum(this.source, checksumAlgorithm, context.signal, context.onSent));
    if (own && own !== checksum) throw makeOtherFault(this.path);
    context.countThere(this.source.files.length, Boolean(own));
  }

  private makeWhole(): Task {
    const run = async (context: Context) => {
      await this.freshen(context);
      if (this.isStored) return this.compareWhole(context);
      const body = await this.source.slice(0, this.source.size);
      const answer = await this.put(context, this.urls!.url!, body, this.urls!.headers);
      if (answer.status !== 412) return this.check(findFault(answer, this.path));
      // A file is there: from an attempt whose answer was lost, or from another window.
      await this.renew(context);
      if (!this.isStored) return this.check(findFault(answer, this.path));
      await this.compareWhole(context);
    };
    return { path: this.path, files: this.source.files.length, bytes: this.source.size, run };
  }

  private makePart({ number }: Part, files: number, bytes: number): Task {
    const run = async (context: Context) => {
      if (!this.etags.has(number)) await this.sendPart(context, number);
      if (this.etags.size === this.parts.size || this.isStored) this.addCompletion(context);
    };
    return { path: this.path, files, bytes, run };
  }

  private async sendPart(context: Context, number: number): Promise<void> {
    await this.freshen(context);
    if (this.isStored) return;
    const part = this.parts.get(number)!;
    const body = await this.source.slice(part.firstByte, part.firstByte + part.size);
    const stored = this.there.get(number);
    if (stored && (await isSame(stored, body, context.signal))) {
      this.etags.set(number, stored.etag);
      return context.countThere(1);
    }
    const answer = await this.put(context, part.url, body, {});
    this.check(findFault(answer, this.path));
    if (!answer.etag) throw new UploadFault("final", "NO_ETAG", "The storage hides the ETag of a part from this page.");
    this.etags.set(number, answer.etag);
  }

  private addCompletion(context: Context): void {
    if (this.counted++ > 0) return;
    context.add([{ path: this.path, files: 0, bytes: 0, run: (each) => this.complete(each) }]);
  }

  private async complete(context: Context): Promise<void> {
    await this.freshen(context);
    if (this.isStored) return this.compareWhole(context);
    const body = new Blob([listParts(this.etags)]);
    const { send } = context.environment;
    const { completeUrl, headers } = this.urls!;
    const fault = findFault(
      await send("POST", completeUrl!, body, headers, () => undefined, context.signal),
      this.path,
    );
    if (fault?.kind === "stale" && this.rounds++ < MAX_ROUNDS) return this.compareAgain(context);
    this.check(fault);
  }

  /** Another window may have completed the upload, or sent other parts: these are sent again. */
  private async compareAgain(context: Context): Promise<void> {
    await this.renew(context);
    if (this.isStored) return this.compareWhole(context);
    for (const [number, etag] of this.etags) if (this.there.get(number)?.etag !== etag) this.etags.delete(number);
    this.counted = 0;
    const missing = [...this.parts.values()].filter(({ number }) => !this.etags.has(number));
    context.add(missing.map((part) => this.makePart(part, 0, 0)));
    if (!missing.length) this.addCompletion(context);
  }

  private put(context: Context, url: string, body: Blob, headers: Record<string, string>) {
    return context.environment.send("PUT", url, body, headers, context.onSent, context.signal);
  }

  /** Throw a fault, after which the next attempt has new URLs or knows the state, if that helps. */
  private check(fault: UploadFault | null): void {
    if (!fault) return;
    if (fault.kind === "expired" || fault.kind === "stale") this.expiresAt = -Infinity;
    throw fault;
  }

  private async freshen(context: Context): Promise<void> {
    if (context.environment.now() > this.expiresAt) await this.renew(context);
  }

  /** Ask what S3 has, and for new URLs; once for all tasks that need them. */
  private renew(context: Context): Promise<void> {
    this.renewal ??= this.readState(context).finally(() => (this.renewal = null));
    return this.renewal;
  }

  private async readState(context: Context): Promise<void> {
    const state = await this.target.getState();
    if (state.size !== null && state.size !== this.source.size)
      throw makeSizeFault(this.path, this.source.size, state.size);
    if (state.state === "expired") throw makeGoneFault();
    this.whole = state.state === "stored" ? state : null;
    this.there.clear();
    for (const part of state.parts) {
      this.there.set(part.number, part);
      this.parts.set(part.number, part);
    }
    if (state.upload) this.accept(state.upload, context.environment);
  }

  private accept(urls: UploadUrls, environment: Environment): void {
    this.urls = urls;
    this.expiresAt = environment.now() + urls.expiresInSeconds * 1000 - EARLY_MS;
    for (const part of urls.parts ?? []) this.parts.set(part.number, part);
  }

  /** How many of the files end in this part. */
  private countEnds({ firstByte, size }: Part): number {
    const isLast = firstByte + size >= this.source.size;
    const before = countUpTo(this.source.ends, firstByte);
    return (isLast ? this.source.ends.length : countUpTo(this.source.ends, firstByte + size)) - before;
  }
}

/** How many of ascending numbers are at most `limit`. */
function countUpTo(numbers: ArrayLike<number>, limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function isSame(stored: Stored, body: Blob, signal: AbortSignal): Promise<boolean> {
  if (stored.size !== body.size || stored.checksumAlgorithm !== "CRC64NVME") return false;
  const crc = new Crc64();
  for await (const bytes of readChunks(body)) {
    signal.throwIfAborted();
    crc.add(bytes);
  }
  return crc.toBase64() === stored.checksum;
}

function listParts(etags: ReadonlyMap<number, string>): string {
  const numbers = [...etags.keys()].sort((one, other) => one - other);
  const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const parts = numbers.map(
    (each) => `<Part><PartNumber>${each}</PartNumber><ETag>${escape(etags.get(each)!)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
}
