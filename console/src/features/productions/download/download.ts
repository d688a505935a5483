// The download of a volume: all its files, some at once, each counted when it is there with its hash. What failed is
// listed and can be tried again; what is there is not downloaded a second time.
import type { Schemas } from "../../../api/client";
import { listFiles, measureVolume, VolumeFault, type FilePage, type VolumeFile } from "./files";
import { Listed } from "./listed";
import type { Target } from "./target";

const [AT_ONCE, ATTEMPTS] = [6, 3];
const PAUSE_MS = 1_000;
const SHOWN_MS = 200;

export interface Failed {
  path: string;
  why: string;
}

/** What a page shows; a new object at every change. */
export interface DownloadState {
  /** `stopped`: the list of files did not arrive; `incomplete`: files failed, or are there with other content. */
  status: "running" | "done" | "incomplete" | "stopped" | "cancelled";
  files: number | null;
  bytes: number | null;
  done: number;
  /** Of `done`, those that were there with the same bytes. */
  there: number;
  arrived: number;
  failed: Failed[];
  other: string[];
  fault: Error | null;
}

/** A page of the list that has files left; it is requested again for fresh URLs. */
interface Part {
  after: string | null;
  /** The hashes of the files by their paths, as they were listed first. */
  left: Map<string, string>;
}

export class Download {
  state: DownloadState = {
    ...{ status: "running", files: null, bytes: null, done: 0, there: 0, arrived: 0 },
    ...{ failed: [], other: [], fault: null },
  };
  private readonly listeners = new Set<() => void>();
  private readonly parts: Part[] = [];
  private readonly listed = new Listed();
  /** Where the list goes on; undefined at its end. */
  private next: string | null | undefined = null;
  private cancelling = new AbortController();
  private shown = 0;

  constructor(
    private readonly production: Schemas["Production"],
    private readonly target: Target,
    /** Throws if a volume of this size cannot be kept. */
    private readonly admit: (bytes: number) => void = () => undefined,
  ) {}

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** Download what is not there yet. Never throws: the state says how it ended. */
  async run(): Promise<void> {
    this.cancelling = new AbortController();
    this.change({ status: "running", failed: [], other: [], fault: null });
    try {
      for (const part of this.parts.filter((each) => each.left.size > 0)) await this.runPart(part, null);
      while (this.next !== undefined) await this.runNext();
      const isWhole = this.state.failed.length + this.state.other.length === 0;
      if (isWhole) await this.complete();
      this.change({ status: isWhole ? "done" : "incomplete" });
    } catch (error) {
      const isCancelled = this.cancelling.signal.aborted;
      this.change(isCancelled ? { status: "cancelled" } : { status: "stopped", fault: toError(error) });
    }
  }

  cancel(): void {
    this.cancelling.abort();
    void this.target.abandon().catch(() => undefined);
    if (this.state.status !== "running") this.change({ status: "cancelled" });
  }

  private async complete(): Promise<void> {
    const { done, files } = this.state;
    if (done !== files)
      throw new VolumeFault(
        `The manifest has ${files?.toLocaleString()} files, and the list of the volume ${done.toLocaleString()}. Ask the operator of the stack.`,
      );
    await this.target.finish();
  }

  private async runNext(): Promise<void> {
    const { signal } = this.cancelling;
    const after = this.next ?? null;
    const page = await listFiles(this.production, after, signal);
    if (after === null) {
      const measured = await measureVolume(page, signal);
      this.admit(measured.bytes);
      this.change(measured);
    }
    await this.target.admit(page.items.map((each) => each.path));
    this.listed.add(page.items, after === null);
    if (page.next === null && this.listed.finish() !== this.production.manifestSha256) throw changed();
    const part = { after, left: new Map(page.items.map((each) => [each.path, each.sha256])) };
    this.parts.push(part);
    this.next = page.next ?? undefined;
    await this.runPart(part, page);
  }

  private async runPart(part: Part, first: FilePage | null): Promise<void> {
    const { signal } = this.cancelling;
    let failed = new Map<string, string>();
    let other: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(PAUSE_MS * 3 ** (attempt - 1), signal);
      const page = attempt === 0 && first ? first : await listFiles(this.production, part.after, signal);
      const files = page.items.filter((each) => part.left.has(each.path));
      if (files.some((each) => each.sha256 !== part.left.get(each.path))) throw changed();
      [failed, other] = await this.putAll(files, part);
      if (failed.size === 0) break;
    }
    const { state } = this;
    const lines = [...failed].map(([path, why]) => ({ path, why }));
    if (lines.length || other.length)
      this.change({ failed: [...state.failed, ...lines], other: [...state.other, ...other] });
  }

  /** Put files, some at once; return why those failed that did, and which are there with other content. */
  private async putAll(files: VolumeFile[], part: Part): Promise<[Map<string, string>, string[]]> {
    const [failed, other, waiting] = [new Map<string, string>(), [] as string[], [...files].reverse()];
    const work = async () => {
      for (let file = waiting.pop(); file; file = waiting.pop()) {
        this.cancelling.signal.throwIfAborted();
        await this.putOne(file, part, failed, other);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return [failed, other];
  }

  private async putOne(file: VolumeFile, part: Part, failed: Map<string, string>, other: string[]): Promise<void> {
    const { signal } = this.cancelling;
    let received = 0;
    const onBytes = (count: number) => {
      received += count;
      this.count({ arrived: this.state.arrived + count });
    };
    try {
      const result = await this.target.put(file, signal, onBytes);
      if (result === "other") return void other.push(file.path);
      part.left.delete(file.path);
      const there = this.state.there + (result === "there" ? 1 : 0);
      this.count({ done: this.state.done + 1, there });
    } catch (error) {
      signal.throwIfAborted();
      this.count({ arrived: this.state.arrived - received });
      failed.set(file.path, explain(error));
    }
  }

  /** Count without a new picture of each of many small files. */
  private count(changes: Partial<DownloadState>): void {
    this.state = { ...this.state, ...changes };
    if (Date.now() - this.shown >= SHOWN_MS) this.tell();
  }

  private change(changes: Partial<DownloadState>): void {
    this.state = { ...this.state, ...changes };
    this.tell();
  }

  private tell(): void {
    this.shown = Date.now();
    for (const listener of this.listeners) listener();
  }
}

const changed = () =>
  new VolumeFault(
    "The list of the files is not that of MANIFEST.csv: paths, sizes or hashes differ. Do not use what was downloaded, and ask the operator of the stack.",
  );

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Why a file failed, in words: what the network throws says nothing to people. */
function explain(error: unknown): string {
  if (error instanceof TypeError && !/name/i.test(error.message))
    return "The storage did not answer. Check the connection, then try again.";
  if (error instanceof DOMException && error.name === "QuotaExceededError")
    return "The disk is full. Free some space, then try again.";
  if (error instanceof DOMException && error.name === "NotAllowedError")
    return "The browser may not write there any more. Start the download again to allow it.";
  return toError(error).message;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true });
  });
