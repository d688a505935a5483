// How long the rest of an upload takes, by what was sent in the last seconds.
import type { Environment } from "./environment";

const WINDOW_MS = 15_000;
const LEAST_MS = 2_000;

export class Meter {
  private samples: { at: number; bytes: number }[] = [];

  constructor(private readonly environment: Pick<Environment, "now">) {}

  /** Forget what was before a pause. */
  restart(): void {
    this.samples = [];
  }

  /** Return the seconds left; null while too little is known. */
  estimate(bytes: { done: number; all: number }): number | null {
    const now = this.environment.now();
    this.samples.push({ at: now, bytes: bytes.done });
    while (this.samples[0]!.at < now - WINDOW_MS) this.samples.shift();
    const first = this.samples[0]!;
    const [span, sent] = [now - first.at, bytes.done - first.bytes];
    if (span < LEAST_MS || sent <= 0) return null;
    return Math.ceil(((bytes.all - bytes.done) / sent) * (span / 1000));
  }
}
