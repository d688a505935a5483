// What is drawn of a device's history: who held it from when to when, and when no holder is recorded.
import type { Schemas } from "../../api/client";
import { readTime } from "./times";

export type Period = Schemas["CustodyPeriod"];

/** A part of time, in milliseconds: from `from` on, before `to`. */
export interface Range {
  from: number;
  to: number;
}

/** A period; or a gap, which no period covers; or a part whose periods are not loaded. */
export type Segment = Range &
  (
    | { kind: "period"; period: Period; isOpen: boolean }
    // Whether the gap may be longer: its neighbour lies outside of the range, or it lasts until now.
    | { kind: "gap"; isCut: boolean; isLasting: boolean }
    | { kind: "unread" }
  );

/** Return the periods of several pages in chronological order, each once and as it was read last. */
export function sortPeriods(pages: Period[]): Period[] {
  const byId = new Map<number, Period>();
  for (const each of pages) if ((byId.get(each.id)?.version ?? 0) <= each.version) byId.set(each.id, each);
  return [...byId.values()].sort((one, other) => readTime(one.begin) - readTime(other.begin) || one.id - other.id);
}

/** Return the time that the periods take, until now if they have ended before. */
export function findExtent(periods: Period[], now: number): Range | null {
  const [first] = periods;
  if (!first) return null;
  const from = readTime(first.begin);
  const ends = periods.map((each) => (each.end === null ? readTime(each.begin) + 1 : readTime(each.end)));
  const to = ends.reduce((last, each) => Math.max(last, each), now);
  return { from, to: Math.max(to, from + 1_000) };
}

/**
 * Return the segments of a range in chronological order; none overlaps another one.
 *
 * An open period ends now: what comes is not known. Pages that were read at different times can have periods that
 * overlap; the later one is cut then. `isBeginLoaded` is false while there are earlier periods that are not loaded.
 */
export function toSegments(periods: Period[], range: Range, now: number, isBeginLoaded: boolean): Segment[] {
  const segments: Segment[] = [];
  let at = range.from;
  for (const period of periods) {
    const isOpen = period.end === null;
    const begin = readTime(period.begin);
    const end = isOpen ? Math.max(now, begin) : readTime(period.end!);
    if (end <= range.from && begin < range.from) continue;
    if (begin >= range.to) break;
    const from = Math.max(begin, at);
    if (from > at) segments.push(isBeginLoaded || segments.length > 0 ? gap(at, from, range) : unread(at, from));
    const to = Math.max(Math.min(end, range.to), from);
    segments.push({ kind: "period", period, isOpen, from, to });
    at = to;
  }
  const until = Math.min(now, range.to);
  const last = segments.at(-1);
  if (at < until && !(last?.kind === "period" && last.isOpen))
    segments.push(
      last || isBeginLoaded ? { ...gap(at, until, range), isCut: true, isLasting: until === now } : unread(at, until),
    );
  return segments;
}

const gap = (from: number, to: number, range: Range) => ({
  kind: "gap" as const,
  from,
  to,
  isCut: from === range.from,
  isLasting: false,
});
const unread = (from: number, to: number) => ({ kind: "unread" as const, from, to });

/** Return the gaps between recorded periods, and the one that lasts. */
export const findGaps = (segments: Segment[]) => segments.filter((each) => each.kind === "gap");

const HUES = 6;

/**
 * Return the colour of each holder, by number: the same one each time, and another one than the other holders have as
 * long as there are enough. Colour says nothing that the name beside it does not.
 */
export function assignHues(periods: Period[]): Map<number, number> {
  const hues = new Map<number, number>();
  const ids = new Set(periods.flatMap((each) => (each.custodianId === null ? [] : [each.custodianId])));
  const taken = new Set<number>();
  for (const id of [...ids].sort((one, other) => one - other)) {
    if (taken.size === HUES) taken.clear();
    let hue = id % HUES;
    while (taken.has(hue)) hue = (hue + 1) % HUES;
    taken.add(hue);
    hues.set(id, hue);
  }
  return hues;
}
