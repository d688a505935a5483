// Where the segments of a history are drawn. What would be too narrow to see or to hit is drawn together and counted.
import type { Range, Segment } from "./segments";

/** The narrowest bar, and the room of a mark that stands for narrower ones. */
export const NARROWEST = 32;
/** From this width on, a run of narrow segments ends, so that the next ones have a mark of their own. */
const RUN = 2 * NARROWEST;
const TICK_ROOM = 96;

interface Place {
  left: number;
  width: number;
}
export type Bar = Place & { kind: "bar"; segment: Segment };
export type Run = Place & Range & { kind: "run"; segments: Segment[]; periods: number; gaps: number };
export type Drawn = Bar | Run;

/** Return where a time is in a range that is drawn in `width` pixels. */
export const toPixels = (at: number, range: Range, width: number): number =>
  ((at - range.from) / (range.to - range.from)) * width;

/**
 * Return what is drawn of the segments in `width` pixels: at most `3 * width / NARROWEST + 2` parts, however many
 * segments there are. Every segment is in exactly one part.
 */
export function layOut(segments: Segment[], range: Range, width: number): Drawn[] {
  const drawn: Drawn[] = [];
  let run: Segment[] = [];
  const close = () => {
    if (run.length > 0) drawn.push(toRun(run, range, width));
    run = [];
  };
  for (const segment of segments) {
    const place = placeOf(segment, range, width);
    if (place.width >= NARROWEST) {
      close();
      drawn.push({ kind: "bar", segment, ...place });
      continue;
    }
    run.push(segment);
    if (toPixels(segment.to, range, width) - toPixels(run[0]!.from, range, width) >= RUN) close();
  }
  close();
  return drawn;
}

function toRun(segments: Segment[], range: Range, width: number): Run {
  const extent = { from: segments[0]!.from, to: segments.at(-1)!.to };
  const count = (kind: Segment["kind"]) => segments.filter((each) => each.kind === kind).length;
  const counts = { periods: count("period"), gaps: count("gap") };
  return { kind: "run", segments, ...counts, ...extent, ...placeOf(extent, range, width) };
}

function placeOf({ from, to }: Range, range: Range, width: number): Place {
  const left = toPixels(from, range, width);
  return { left, width: toPixels(to, range, width) - left };
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
/** Steps below a day, from a local midnight on. */
const STEPS = [
  ...[1, 5, 15, 30].map((each) => each * SECOND),
  ...[1, 5, 15, 30].map((each) => each * MINUTE),
  ...[1, 3, 6, 12].map((each) => each * HOUR),
];
/** Steps in days, or in months where they are negative. */
const LONG_STEPS = [1, 2, 7, 14, -1, -3, -6, -12, -24, -60, -120, -600, -1_200, -12_000];

export interface Tick {
  at: number;
  label: string;
}

/** Return the marks of the axis: local midnights, months and years, or round times of the day. */
export function findTicks(range: Range, width: number): Tick[] {
  const most = Math.max(Math.floor(width / TICK_ROOM), 1);
  const least = (range.to - range.from) / most;
  const step = STEPS.find((each) => each >= least);
  if (step !== undefined) return ticksOfDay(range, step);
  const long = LONG_STEPS.find((each) => (each > 0 ? each : -each * 30) * DAY >= least) ?? LONG_STEPS.at(-1)!;
  return long > 0 ? ticksOfDays(range, long) : ticksOfMonths(range, -long);
}

function ticksOfDay(range: Range, step: number): Tick[] {
  const ticks: Tick[] = [];
  const begin = new Date(range.from);
  // A day is 23 or 25 hours long when the clocks change: each begins at its own midnight.
  for (let day = 0; ; day++) {
    const midnight = localDay(begin, day);
    if (midnight > range.to) return ticks;
    const next = localDay(begin, day + 1);
    const count = Math.ceil((next - midnight) / step);
    for (let index = 0; index < count; index++) {
      const at = step < HOUR ? midnight + index * step : localHour(begin, day, (index * step) / HOUR);
      const isNew = at > (ticks.at(-1)?.at ?? -Infinity);
      if (isNew && at >= range.from && at < next && at <= range.to)
        ticks.push({ at, label: nameTime(at, midnight, step) });
    }
  }
}

function nameTime(at: number, midnight: number, step: number): string {
  if (at === midnight) return new Date(at).toLocaleDateString(undefined, { month: "short", day: "numeric" });
  return new Date(at).toLocaleTimeString(undefined, { timeStyle: step < MINUTE ? "medium" : "short" });
}

function ticksOfDays(range: Range, step: number): Tick[] {
  const begin = new Date(range.from);
  const days = Array.from({ length: Math.ceil((range.to - range.from) / DAY) + 2 }, (_, day) => localDay(begin, day));
  // Counted from a fixed day, so that the marks stay where they are while the range moves.
  const isMark = (at: number) => Math.round((at - localDay(new Date(2001, 0, 1), 0)) / DAY) % step === 0;
  return days
    .filter((at) => at >= range.from && at <= range.to && isMark(at))
    .map((at) => ({ at, label: nameDay(at) }));
}

const nameDay = (at: number) =>
  new Date(at).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });

function ticksOfMonths(range: Range, step: number): Tick[] {
  const ticks: Tick[] = [];
  const begin = new Date(range.from);
  let month = Math.ceil((begin.getFullYear() * 12 + begin.getMonth()) / step) * step;
  for (; ; month += step) {
    const at = new Date(Math.floor(month / 12), month % 12, 1).getTime();
    if (at > range.to) return ticks;
    const format = step % 12 === 0 ? ({ year: "numeric" } as const) : ({ year: "numeric", month: "short" } as const);
    if (at >= range.from) ticks.push({ at, label: new Date(at).toLocaleDateString(undefined, format) });
  }
}

const localDay = (begin: Date, days: number): number => localHour(begin, days, 0);
const localHour = (begin: Date, days: number, hour: number): number =>
  new Date(begin.getFullYear(), begin.getMonth(), begin.getDate() + days, hour).getTime();
