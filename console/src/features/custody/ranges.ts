// The part of a history that is shown. It is in the address, so that a link shows what its sender saw.
import type { Range } from "./segments";

const SHORTEST_MS = 1_000;
const FIRST = Date.UTC(1000, 0, 1);
const LAST = Date.UTC(9998, 11, 31);

/** Return the range of an address, or null for the whole history. */
export function readRange(address: URLSearchParams): Range | null {
  const [from, to] = [Date.parse(address.get("from") ?? ""), Date.parse(address.get("to") ?? "")];
  return from < to && from >= FIRST && to <= LAST ? { from, to } : null;
}

export function writeRange(range: Range | null): string {
  if (range === null) return "";
  const [from, to] = [range.from, range.to].map((each) => new Date(each).toISOString());
  return `?${new URLSearchParams({ from: from!, to: to! })}`;
}

/** Return a range about the same middle, `factor` times as long. */
export function scale(range: Range, factor: number): Range {
  const [middle, half] = [(range.from + range.to) / 2, (Math.max(range.to - range.from, SHORTEST_MS) * factor) / 2];
  return limit({ from: middle - half, to: middle + half });
}

/** Return a range that is as long, and begins a part of its length later. */
export function shift(range: Range, part: number): Range {
  const by = (range.to - range.from) * part;
  return limit({ from: range.from + by, to: range.to + by });
}

/** Return a range in which a part of a history is shown with some time around it. */
export function around({ from, to }: Range): Range {
  const margin = Math.max((to - from) * 0.1, SHORTEST_MS);
  return limit({ from: from - margin, to: to + margin });
}

function limit({ from, to }: Range): Range {
  const begin = Math.floor(Math.min(Math.max(from, FIRST), LAST - SHORTEST_MS));
  return { from: begin, to: Math.ceil(Math.min(Math.max(to, begin + SHORTEST_MS), LAST)) };
}
