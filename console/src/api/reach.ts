// Whether the server answers. What is only read is requested again by itself until it does; what changes something is
// not: the user does that.
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

/** How long nothing may answer before people are notified, and how long until everything unanswered is read again. */
const AWAY_MS = 3_000;
const AGAIN_MS = 5_000;

let state: "there" | "missed" | "away" = "there";
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** No server has answered. */
export class UnansweredError extends TypeError {}

/** Send a request outside of the API's client. Throws UnansweredError. */
export const send = (url: string, init?: RequestInit): Promise<Response> =>
  fetch(url, init).catch((error: unknown) => {
    throw new UnansweredError(String(error));
  });

/** Whether a request got no answer: browsers throw a TypeError then. */
export const isUnanswered = (error: unknown): boolean => error instanceof TypeError;

/** Note that the server has answered, whatever it was. */
export function noteAnswer(): void {
  if (state === "there") return;
  clearTimeout(timer);
  change("there");
}

/** Note that a request got no answer. */
export function noteMissing(): void {
  if (state !== "there") return;
  change("missed");
  timer = setTimeout(() => change("away"), AWAY_MS);
}

function change(next: typeof state): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Whether the server has not answered for some seconds. */
export const isAway = (): boolean => state === "away";

export function useIsAway(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, isAway);
}

/** Resolve after some seconds, or at once when the browser has a network again. */
export function waitForNetwork(): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(waiting);
      globalThis.removeEventListener?.("online", end);
      resolve();
    };
    const waiting = setTimeout(end, AGAIN_MS);
    globalThis.addEventListener?.("online", end);
  });
}

/** Watch the answers to all reads, and read again what is shown and got none, until it does. */
export function watchReads(queries: QueryClient): void {
  let isPlanned = false;
  const again = async () => {
    await waitForNetwork();
    isPlanned = false;
    await queries.refetchQueries({ type: "active", predicate: (query) => isUnanswered(query.state.error) });
  };
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return;
    const { action } = event;
    if (action.type === "success") noteAnswer();
    if (action.type === "pause") noteMissing();
    if (action.type !== "failed" && action.type !== "error") return;
    if (!isUnanswered(action.error)) return noteAnswer();
    noteMissing();
    if (action.type === "failed" || isPlanned) return;
    isPlanned = true;
    void again();
  });
}
