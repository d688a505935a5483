/**
 * Compare control numbers as the list does: by code points, of which the shorter text has blanks at its end. Below 0 if
 * `a` comes first.
 */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  for (let at = 0; at < a.length || at < b.length;) {
    const [one, other] = [a.codePointAt(at) ?? 0x20, b.codePointAt(at) ?? 0x20];
    if (one !== other) return one - other;
    at += one > 0xffff ? 2 : 1;
  }
  return 0;
}

/** Return how many of the items come before; `isBefore` is true for the first of them and false for the rest. */
export function countBefore<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
