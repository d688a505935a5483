// Which page of the rows is shown: by the cursors that led to it, since a list is read in one direction.
import { useState } from "react";

export const MOST_ROWS = 200;
// With all columns, as many rows as a browser draws at once without a pause.
const MOST_CELLS = 5_000;

/** Return how many rows are shown at once. */
export function limitRows(columns: number, isAll: boolean): number {
  return isAll ? Math.min(Math.max(Math.floor(MOST_CELLS / Math.max(columns, 1)), 10), MOST_ROWS) : MOST_ROWS;
}

export type Page = ReturnType<typeof usePage>;

export function usePage() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  return {
    after: cursors.at(-1),
    hasPrevious: cursors.length > 0,
    previous: () => setCursors(cursors.slice(0, -1)),
    next: (cursor: string) => setCursors([...cursors, cursor]),
    first: () => setCursors([]),
  };
}
