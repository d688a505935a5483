// Times of custody. They are evidence: to the second where people read them, to the microsecond where they are compared,
// local as people know them and in UTC beside it.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** By how much clocks are put back somewhere in the world. */
const SHIFTS = [30 * MINUTE, HOUR, 2 * HOUR];

/** Return a time of the API in milliseconds; its microseconds are the fraction. */
export function readTime(text: string): number {
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? "0";
  return Date.parse(text.replace(/\.\d+Z$/, "Z")) + Number(`0.${fraction}`) * 1_000;
}

/** Return a time in the user's zone; its seconds only if there are any. */
export function formatLocal(at: number): string {
  const timeStyle = Math.floor(at / SECOND) % 60 === 0 ? "short" : "medium";
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle });
}

/** Return a time in UTC, such as `2026-11-27 15:04:05 UTC`, with microseconds only if there are any. */
export function formatUtc(at: number): string {
  const micros = Math.round((at - Math.floor(at / SECOND) * SECOND) * 1_000);
  const whole = new Date(at).toISOString().replace("T", " ").slice(0, 19);
  return `${whole}${micros > 0 ? `.${String(micros).padStart(6, "0")}` : ""} UTC`;
}

/** Return how long something took, in its two largest units: `2 h 10 min`, `3 days 4 h`. */
export function formatSpan(ms: number): string {
  if (ms < SECOND) return "less than 1 s";
  const [days, hours, minutes, seconds] = [ms / DAY, (ms % DAY) / HOUR, (ms % HOUR) / MINUTE, (ms % MINUTE) / SECOND];
  if (days >= 1) return join([days, days < 2 ? "day" : "days"], [days < 100 ? hours : 0, "h"]);
  if (hours >= 1) return join([hours, "h"], [minutes, "min"]);
  return minutes >= 1 ? join([minutes, "min"], [seconds, "s"]) : join([seconds, "s"]);
}

function join(...parts: [number, string][]): string {
  const whole = parts.map(([value, unit]) => [Math.floor(value), unit] as const).filter(([value]) => value > 0);
  return whole.map(([value, unit]) => `${value.toLocaleString()} ${unit}`).join(" ");
}

/** What a user typed as a local time; `isSecond` chooses the later one of an hour that the clocks repeat. */
export interface LocalTime {
  text: string;
  isSecond: boolean;
}

/** Return a time as a field of the browser has it, to the second. */
export function toField(at: number): LocalTime {
  const text = toText(at);
  return { text, isSecond: SHIFTS.some((shift) => toText(at - shift) === text) };
}

function toText(at: number): string {
  const local = new Date(at);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, "0");
  const date = `${pad(local.getFullYear(), 4)}-${pad(local.getMonth() + 1)}-${pad(local.getDate())}`;
  return `${date}T${pad(local.getHours())}:${pad(local.getMinutes())}:${pad(local.getSeconds())}`;
}

export interface ReadTime {
  at: number;
  /** How often the clocks showed this on that day: `twice` when they were put back, `never` when they went forward. */
  shown: "once" | "twice" | "never";
}

/** Return the time of a field, or null for one that is not filled. */
export function readField({ text, isSecond }: LocalTime): ReadTime | null {
  const whole = /^\d{4,}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00` : text;
  const at = new Date(whole).getTime();
  if (!/^\d{4}-/.test(whole) || Number.isNaN(at)) return null;
  if (toText(at) !== whole) return { at, shown: "never" };
  const shift = SHIFTS.find((each) => toText(at + each) === whole);
  if (shift === undefined) return { at, shown: "once" };
  return { at: isSecond ? at + shift : at, shown: "twice" };
}

/** Return a time as the API takes it. */
export const toApi = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z");

/** Return the name of the zone in which local times are, such as `Europe/Berlin`. */
export const nameZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
