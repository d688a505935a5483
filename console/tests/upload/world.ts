// A browser, a bucket and a clock for the tests of uploads. Time passes only when a test lets it.
import { UploadFault, type Answer } from "../../src/upload/faults";
import type { Environment, Transfer, TransferSnapshot } from "../../src/upload";

export interface Sent {
  method: string;
  url: string;
  bytes: string;
  headers: Record<string, string>;
}

type Reply = Partial<Answer> | "lost" | "never";

export const fail = (status: number, code: string): Reply => ({ status, text: `<Error><Code>${code}</Code></Error>` });

export class World implements Environment {
  time = 0;
  online = true;
  signedIn = true;
  guarded: boolean[] = [];
  sent: Sent[] = [];
  open = 0;
  mostOpen = 0;
  /** What the bucket answers to a request; nothing for success. */
  reply: (request: Sent) => Reply | undefined | Promise<Reply | undefined> = () => undefined;
  private timers: { at: number; call: () => void }[] = [];
  private readonly onlineCalls = new Set<() => void>();
  private readonly sessionCalls = new Set<() => void>();

  send: Environment["send"] = async (method, url, body, headers, onSent, signal) => {
    signal.throwIfAborted();
    this.mostOpen = Math.max(this.mostOpen, ++this.open);
    try {
      const request = { method, url, bytes: await body.text(), headers };
      this.sent.push(request);
      const reply = await this.reply(request);
      if (reply === "lost") throw new UploadFault("network", "NETWORK", "The storage does not answer.");
      if (reply === "never") await new Promise((_, reject) => (signal.onabort = () => reject(signal.reason as Error)));
      signal.throwIfAborted();
      onSent(body.size);
      return { status: 200, etag: `"etag of ${request.bytes.slice(0, 20)}"`, text: "", ...(reply as Partial<Answer>) };
    } finally {
      this.open -= 1;
    }
  };

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.time + ms, call };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((each) => each !== timer));
  }

  now = () => this.time;
  isOnline = () => this.online;
  isSignedIn = () => this.signedIn;
  guardPage = (isGuarded: boolean) => void this.guarded.push(isGuarded);
  onOnline = (call: () => void) => watch(this.onlineCalls, call);
  onSession = (call: () => void) => watch(this.sessionCalls, call);

  /** The delays of what waits, but for the notices of progress. */
  get waits(): number[] {
    return this.timers.map(({ at }) => at - this.time).filter((ms) => ms !== 200);
  }

  /** Let time pass until nothing waits any more for this long. */
  pass(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = this.timers.sort((one, other) => one.at - other.at)[0];
      if (!next || next.at > end) break;
      this.timers.shift();
      this.time = next.at;
      next.call();
    }
    this.time = end;
  }

  setOnline(): void {
    this.online = true;
    for (const call of [...this.onlineCalls]) call();
  }

  signIn(): void {
    this.signedIn = true;
    for (const call of [...this.sessionCalls]) call();
  }
}

function watch(calls: Set<() => void>, call: () => void): () => void {
  calls.add(call);
  return () => void calls.delete(call);
}

/** Resolve when the upload looks like this. */
export async function until(
  transfer: Transfer,
  looks: TransferSnapshot["status"] | ((snapshot: TransferSnapshot) => boolean),
): Promise<TransferSnapshot> {
  const fits = typeof looks === "string" ? (each: TransferSnapshot) => each.status === looks : looks;
  while (!fits(transfer.getSnapshot())) await new Promise((resolve) => setTimeout(resolve));
  return transfer.getSnapshot();
}

export const makeFile = (name: string, text: string) => new File([text], name);
