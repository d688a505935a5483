import { untilSignedIn } from "../auth/session";
import { ApiError } from "./client";

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];
const PASSING = [429, 500, 502, 503, 504];

/** Whether the same request can succeed a moment later: an outage, a throttled request, a lost connection. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof TypeError;
  return PASSING.includes(error.status) || error.code === "in-progress" || error.code === "conflict";
}

/**
 * Repeat a request that may have failed for the moment, with growing pauses of which a random part is left out, and not
 * before the server says; one that was refused because the session has ended, after the next sign-in.
 *
 * The request has to send the same Idempotency-Key each time, so that it takes effect once.
 */
export async function repeat<T>(
  request: () => Promise<T>,
  wait: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  signIn: () => Promise<void> = untilSignedIn,
): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await keepSession(request, signIn);
    } catch (error) {
      if (!isPassing(error)) throw error;
      const least = error instanceof ApiError ? error.retryAfterMs : 0;
      await wait(Math.max(pause * (0.5 + Math.random() / 2), least));
    }
  }
  return keepSession(request, signIn);
}

async function keepSession<T>(request: () => Promise<T>, signIn: () => Promise<void>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      await signIn();
    }
  }
}
