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
 * before the server says.
 *
 * The request has to send the same Idempotency-Key each time, so that it takes effect once.
 */
export async function repeat<T>(
  request: () => Promise<T>,
  wait: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await request();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const least = error instanceof ApiError ? error.retryAfterMs : 0;
      await wait(Math.max(pause * (0.5 + Math.random() / 2), least));
    }
  }
  return request();
}
