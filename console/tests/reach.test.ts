import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

let reach: typeof import("../src/api/reach");

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers();
  reach = await import("../src/api/reach");
});

afterEach(() => vi.useRealTimers());

/** A read that is shown on a page, and answers what is next in the list. */
function show(answers: unknown[]) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
  reach.watchReads(queries);
  let requests = 0;
  const queryFn = async () => {
    requests += 1;
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const observer = new QueryObserver(queries, { queryKey: ["read"], queryFn });
  const stop = observer.subscribe(() => undefined);
  return { observer, stop, count: () => requests };
}

test("what got no answer is read again until it gets one, and the page says so meanwhile", async () => {
  const { observer, stop, count } = show([new TypeError("Failed to fetch"), new TypeError("Failed to fetch"), "rows"]);
  await vi.advanceTimersByTimeAsync(2_900);
  expect([observer.getCurrentResult().status, reach.isAway()]).toEqual(["error", false]);
  await vi.advanceTimersByTimeAsync(200);
  expect(reach.isAway()).toBe(true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect([count(), reach.isAway()]).toEqual([2, true]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([count(), observer.getCurrentResult().data, reach.isAway()]).toEqual([3, "rows", false]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(count()).toBe(3);
  stop();
});

test("a refusal is an answer, and is not requested again", async () => {
  const { stop, count } = show([new Error("refused")]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([count(), reach.isAway()]).toEqual([1, false]);
  stop();
});

test("what is not shown any more is not read again", async () => {
  const { stop, count } = show([new TypeError("Failed to fetch"), "rows"]);
  await vi.advanceTimersByTimeAsync(1);
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(count()).toBe(1);
});
