// Numbers, sizes and times, as the user's language and zone write them.

const number = new Intl.NumberFormat();
const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function Count({ value }: { value: number | null | undefined }) {
  return <span className="num">{value == null ? "–" : number.format(value)}</span>;
}

/** Return a number and its noun, such as `1 row` or `2,990 rows`. */
export function count(value: number, noun: string): string {
  return `${number.format(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Return a size in powers of 1,000, as file managers show it. */
export function formatBytes(size: number): string {
  const power = Math.min(Math.max(Math.floor(Math.log10(Math.max(size, 1)) / 3), 0), UNITS.length - 1);
  const digits = power === 0 ? 0 : 1;
  const value = new Intl.NumberFormat(undefined, { maximumFractionDigits: digits }).format(size / 1000 ** power);
  return `${value} ${UNITS[power]}`;
}

/** A time in the user's zone; in UTC in the tooltip. */
export function Time({ value }: { value: string | null | undefined }) {
  if (!value) return <span className="quiet">–</span>;
  const at = new Date(value);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleTimeString(undefined, { timeStyle: "short" });
  const utc = `${at.toISOString().replace("T", " ").slice(0, 19)} UTC`;
  return (
    <time dateTime={value} title={utc}>
      {isToday ? `Today ${time}` : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
    </time>
  );
}

/** Return a duration in its two largest units, such as `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(Math.round(seconds), 0);
  if (whole < 60) return `${whole} s`;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}
