import { formatLocal, formatUtc, readTime } from "./times";

/** A time in the user's zone, to the second; in UTC in the tooltip. */
export function ExactTime({ value }: { value: string | number }) {
  const at = typeof value === "string" ? readTime(value) : value;
  return (
    <time dateTime={new Date(at).toISOString()} title={formatUtc(at)}>
      {formatLocal(at)}
    </time>
  );
}
