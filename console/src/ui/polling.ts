/** Poll often while the user has just started something, and rarely in a long wait: milliseconds until the next poll. */
export function nextPoll(waitedMs: number): number {
  const steps: [number, number][] = [
    [30_000, 1_000],
    [120_000, 2_000],
    [600_000, 5_000],
  ];
  return steps.find(([limit]) => waitedMs < limit)?.[1] ?? 10_000;
}
