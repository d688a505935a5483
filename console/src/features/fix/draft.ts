// What the user has corrected and not imported yet. Pure: each change returns another draft. It lives in memory alone.
import type { Schemas } from "../../api/client";
import type { Cells } from "./cells";
import { findFaults, findKey, kindOf, listUntouched, type Column, type SheetRow } from "./rows";

export interface Change {
  row: SheetRow;
  cells: Cells;
  /** Import the row although no cell was changed. */
  isAsIs: boolean;
  /** The version of the document that the user has seen and the row may change. */
  version: number | null;
}

export interface Draft {
  changes: ReadonlyMap<number, Change>;
  out: ReadonlyMap<number, SheetRow>;
}

export type Verdict = "untouched" | "misfit" | "unfinished" | "ready";

export const EMPTY: Draft = { changes: new Map(), out: new Map() };
export const MAX_ROWS = 1_000;
// The API takes 4,000,000 bytes of rows.
const MAX_BYTES = 3_900_000;
const REPLACED = "\ufffd";

export const isEmpty = (draft: Draft): boolean => draft.changes.size === 0 && draft.out.size === 0;

/** Return the cells of a row as the user has left them. */
export function cellsOf(draft: Draft, row: SheetRow): Cells {
  return draft.changes.get(row.line)?.cells ?? row.cells ?? [];
}

/** Change the cells. What was confirmed of the row as it was before, is not confirmed any more: its id may be another. */
export function setCells(draft: Draft, row: SheetRow, cells: Cells): Draft {
  return put(draft, row, { ...changeOf(draft, row), cells, isAsIs: false, version: null });
}

export function setCell(draft: Draft, row: SheetRow, at: number, text: string): Draft {
  return setCells(draft, row, cellsOf(draft, row).with(at, text));
}

export function setAsIs(draft: Draft, row: SheetRow, isAsIs: boolean): Draft {
  return put(draft, row, { ...changeOf(draft, row), isAsIs });
}

export function setVersion(draft: Draft, row: SheetRow, version: number | null): Draft {
  return put(draft, row, { ...changeOf(draft, row), version });
}

export function setOut(draft: Draft, row: SheetRow, isOut: boolean): Draft {
  const out = new Map(draft.out);
  if (isOut) out.set(row.line, row);
  else out.delete(row.line);
  return { ...draft, out };
}

/** Drop what was done to lines, because it was imported or the user gives it up. */
export function dropLines(draft: Draft, lines: Iterable<number>): Draft {
  const [changes, out] = [new Map(draft.changes), new Map(draft.out)];
  for (const line of lines) {
    changes.delete(line);
    out.delete(line);
  }
  return { changes, out };
}

/** Put changes back whose import ended without their rows. */
export function restore(draft: Draft, changes: Iterable<Change>): Draft {
  const merged = new Map(draft.changes);
  for (const change of changes) if (!merged.has(change.row.line)) merged.set(change.row.line, change);
  return { ...draft, changes: merged };
}

function changeOf(draft: Draft, row: SheetRow): Change {
  const fresh = { row, cells: row.cells ?? [], isAsIs: false, version: null };
  return draft.changes.get(row.line) ?? fresh;
}

/** Return the draft with a change, unless that leaves everything as it was. */
function put(draft: Draft, row: SheetRow, change: Change): Draft {
  const changes = new Map(draft.changes);
  const isSame =
    change.cells.length === row.cells?.length && change.cells.every((cell, at) => cell === row.cells?.[at]);
  if (isSame && !change.isAsIs && change.version === null) changes.delete(row.line);
  else changes.set(row.line, change);
  return { ...draft, changes };
}

/** Say whether a row can be imported, and if not, what is left to do. */
export function judge(change: Change | undefined, width: number): Verdict {
  if (!change) return "untouched";
  if (change.cells.length !== width) return "misfit";
  if (change.isAsIs || change.version !== null) return "ready";
  if (kindOf(change.row, width) === "cells")
    return listUntouched(change.row, change.cells).length ? "unfinished" : "ready";
  return hasReplaced(change.cells) ? "unfinished" : "ready";
}

/**
 * Whether a record that could not be read as a row has U+FFFD, which stands for bytes that cannot be decoded. Its import
 * has not looked at its bytes, as it does at those of other rows: the user has to say that these cells are right.
 */
export const hasReplaced = (cells: Cells): boolean => cells.some((cell) => cell.includes(REPLACED));

/** Return the changes by what they are, but for rows that are left out or refused. */
export function sortChanges(
  draft: Draft,
  width: number,
  refused: ReadonlyMap<number, string>,
): Record<Verdict, Change[]> {
  const found: Record<Verdict, Change[]> = { untouched: [], misfit: [], unfinished: [], ready: [] };
  for (const change of draft.changes.values()) {
    const isLeft = draft.out.has(change.row.line) || refused.has(change.row.line);
    if (!isLeft) found[judge(change, width)].push(change);
  }
  return found;
}

/** Return the first changes that one request takes: at most 1,000 rows of 4 MB. */
export function takeBatch(changes: readonly Change[]): Change[] {
  const encoder = new TextEncoder();
  let bytes = 0;
  const sorted = [...changes].sort((one, other) => one.row.line - other.row.line).slice(0, MAX_ROWS);
  return sorted.filter((change, index) => {
    bytes += encoder.encode(JSON.stringify(toBody(change))).length + 1;
    return index === 0 || bytes <= MAX_BYTES;
  });
}

/** Return the row of a request. */
export function toBody({ row, cells, version }: Change): Schemas["NewCorrectedRow"] {
  return { line: row.line, cells: [...cells], ...(version === null ? {} : { version }) };
}

/**
 * Return the rows whose cell has the same fault and the same text as this one had: the same cure fits. An id is never
 * given to several rows, and blank cells have nothing in common.
 */
export function findAlike(
  draft: Draft,
  rows: readonly SheetRow[],
  columns: readonly Column[],
  row: SheetRow,
  at: number,
) {
  const codes = new Set(
    findFaults(row, columns)
      .get(at)
      ?.map((each) => each.code),
  );
  const text = row.cells?.[at] ?? "";
  if (text.trim() === "" || at === findKey(columns) || codes.size === 0) return [];
  return rows.filter(
    (other) =>
      other.line !== row.line &&
      other.takenBy === null &&
      kindOf(other, columns.length) === "cells" &&
      other.cells![at] === text &&
      cellsOf(draft, other)[at] === text &&
      (findFaults(other, columns).get(at) ?? []).some((each) => codes.has(each.code)),
  );
}

/** Give the cells of rows one text. */
export function setAlike(draft: Draft, rows: readonly SheetRow[], at: number, text: string): Draft {
  return rows.reduce((changed, row) => setCell(changed, row, at, text), draft);
}
