// Whether there is a connection to the bucket. Lost with the first request that gets no answer; then one request at a
// time tries it again, after 1, 3, 10 and then every 30 seconds, and at once when the browser says that it is back.
import type { Environment } from "./environment";

export const DELAYS_MS = [1_000, 3_000, 10_000, 30_000];

export class Connection {
  private state: "there" | "lost" | "probing" = "there";
  private probes = 0;
  private stopTimer: (() => void) | null = null;
  private stopWatching: (() => void) | null = null;

  /** `onProbe` is called when a request may try the connection. */
  constructor(
    private readonly environment: Environment,
    private readonly onProbe: () => void,
  ) {}

  get isLost(): boolean {
    return this.state !== "there";
  }

  get isProbing(): boolean {
    return this.state === "probing";
  }

  /** Note that a request got no answer. */
  lose(): void {
    this.state = "lost";
    this.stopWatching ??= this.environment.onOnline(() => this.probe());
    if (!this.stopTimer) this.wait(DELAYS_MS[Math.min(this.probes, DELAYS_MS.length - 1)]!);
  }

  /** Note that there was an answer, or that the next requests shall find out by themselves. */
  find(): void {
    this.stop();
    this.state = "there";
    this.probes = 0;
  }

  stop(): void {
    this.stopTimer?.();
    this.stopWatching?.();
    this.stopTimer = this.stopWatching = null;
  }

  private wait(ms: number): void {
    this.stopTimer = this.environment.after(ms, () => {
      this.stopTimer = null;
      this.probes += 1;
      // The browser's word that there is none is right; that there is one may be wrong.
      if (this.environment.isOnline()) this.probe();
      else this.wait(DELAYS_MS.at(-1)!);
    });
  }

  private probe(): void {
    this.stopTimer?.();
    this.stopTimer = null;
    this.state = "probing";
    this.onProbe();
  }
}
