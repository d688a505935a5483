// Activities by the day on which they happened, as the user's zone has it.

/** Return items in their order, those of one local day together. */
export function groupByDay<Item extends { at: string }>(items: Item[]): { day: string; items: Item[] }[] {
  const groups: { day: string; items: Item[] }[] = [];
  for (const item of items) {
    const day = dayOf(new Date(item.at));
    const last = groups.at(-1);
    if (last?.day === day) last.items.push(item);
    else groups.push({ day, items: [item] });
  }
  return groups;
}

/** Return a local day as `2026-11-27`. */
export function dayOf(at: Date): string {
  const pad = (value: number, digits = 2) => String(value).padStart(digits, "0");
  return `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

/** Return when a local day begins; days do not begin at midnight everywhere. Null for what is not a day. */
export function beginOf(day: string): Date | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (!found) return null;
  const at = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]));
  return dayOf(at) === day ? at : null;
}

/** Return a local day in words: `Today`, or with its weekday. */
export function nameDay(day: string, now: Date): string {
  if (day === dayOf(now)) return "Today";
  if (day === dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1))) return "Yesterday";
  return beginOf(day)!.toLocaleDateString(undefined, { dateStyle: "full" });
}
