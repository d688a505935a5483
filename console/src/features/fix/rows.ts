// A rejected row as the sheet shows it: what the import rejected or, after a correction, what that one rejected again.
import type { Schemas } from "../../api/client";
import { splitRaw, type Cells } from "./cells";
import { isOwnFault } from "../../ui/codes";

export type Column = Schemas["RowColumn"];
export type CellError = Schemas["CellError"];
export type Reading = Pick<Schemas["FileReading"], "delimiter" | "qualifier">;
type Listed = Schemas["RejectedCells"];

export interface SheetRow {
  line: number;
  /** More than 1 for rows that failed together. */
  count: number;
  errors: readonly CellError[];
  cells: Cells | null;
  raw: string;
  isRawWhole: boolean;
  /** Whether the cells are a proposal of the page, made from the raw text. */
  isProposed: boolean;
  /** The import that is loading the row now. */
  takenBy: number | null;
  /** The correction that rejected the row again. */
  rejectedBy: number | null;
}

/** What a correction rejected of a line. */
export interface Again {
  importId: number;
  errors: readonly CellError[];
  cells: Cells | null;
}

export type Kind = "cells" | "shape" | "unreadable" | "chunk";

// A line that was not open says nothing of the row, nor does a chunk that failed.
const NOT_OF_THE_ROW = new Set(["LINE_NOT_OPEN", "CHUNK_FAILED"]);

/** Return what corrections rejected, by the line of the original; of several the newest, which is the first. */
export function collectAgain(
  newestFirst: readonly { importId: number; rows: readonly Listed[] }[],
): Map<number, Again> {
  const found = new Map<number, Again>();
  for (const { importId, rows } of newestFirst)
    for (const { originalLine, errors, cells } of rows) {
      const isOfRow = errors.some((each) => !NOT_OF_THE_ROW.has(each.code));
      if (originalLine !== null && isOfRow && !found.has(originalLine))
        found.set(originalLine, { importId, errors, cells });
    }
  return found;
}

export function toSheetRow(
  row: Listed,
  again: Again | undefined,
  columns: readonly Column[],
  reading: Reading | null,
): SheetRow {
  const own = again?.cells ? { errors: again.errors, cells: again.cells.slice(0, columns.length) } : row;
  const canPropose = own.cells === null && !row.rawIsTruncated && reading !== null && columns.length > 0;
  const isProposed = canPropose && row.rows === 1 && row.raw !== "";
  return {
    line: row.line,
    count: row.rows,
    errors: own.errors,
    cells: isProposed ? splitRaw(row.raw, reading.delimiter, reading.qualifier) : own.cells,
    raw: row.raw,
    isRawWhole: !row.rawIsTruncated,
    isProposed,
    takenBy: row.correctedBy,
    rejectedBy: again?.cells ? again.importId : null,
  };
}

export function kindOf(row: SheetRow, width: number): Kind {
  if (row.count > 1 || row.errors.some((each) => each.code === "CHUNK_FAILED")) return "chunk";
  if (row.cells === null) return "unreadable";
  return row.isProposed || row.cells.length !== width ? "shape" : "cells";
}

/** Return the place of the column with the id. */
export function findKey(columns: readonly Column[]): number {
  const at = columns.findIndex((each) => each.field === "control_number");
  return Math.max(at === -1 ? columns.findIndex((each) => each.field === "bates_begin") : at, 0);
}

/** Return the errors by the place of their column; those of the whole row are at its id, where a user begins. */
export function findFaults(row: SheetRow, columns: readonly Column[]): Map<number, readonly CellError[]> {
  const faults = new Map<number, CellError[]>();
  for (const error of row.errors) {
    const at = error.columnNumber === null ? -1 : error.columnNumber - 1;
    if (at >= 0) faults.set(at, [...(faults.get(at) ?? []), error]);
  }
  if (faults.size === 0) faults.set(findKey(columns), [...row.errors]);
  return faults;
}

/** Return the places of cells that are still as the row was rejected for, by a fault that the cell has by itself. */
export function listUntouched(row: SheetRow, cells: Cells): number[] {
  return row.errors
    .filter((error) => error.columnNumber !== null && isOwnFault(error.code))
    .map((error) => error.columnNumber! - 1)
    .filter((at) => row.cells?.[at] === cells[at]);
}

/** Return the columns to show: that of the id, and those that an error names; all of them on request. */
export function chooseColumns(rows: readonly SheetRow[], columns: readonly Column[], all: boolean): number[] {
  if (all) return columns.map((_, at) => at);
  const chosen = new Set([findKey(columns)]);
  for (const row of rows)
    for (const error of row.errors) if (error.columnNumber !== null) chosen.add(error.columnNumber - 1);
  const title = columns.findIndex((each) => each.field === "title");
  if (chosen.size === 1 && title >= 0) chosen.add(title);
  return [...chosen].filter((at) => at < columns.length).sort((one, other) => one - other);
}

/** Return the text of a record as it is in the file, without the line end after it. */
export const showRaw = (row: SheetRow): string => row.raw.slice(0, row.raw.length - findLineEnd(row).length);

/** Return the line end after a record; nothing if the file ends there, or where that is not known. */
export const findLineEnd = (row: SheetRow): string =>
  row.isRawWhole ? (/(\r\n|\r|\n)$/.exec(row.raw)?.[0] ?? "") : "";

/** Whether the next record begins in the line after this one, so that its cells may be the rest of this one's. */
export function isFollowed(row: SheetRow, next: SheetRow): boolean {
  const end = findLineEnd(row);
  // A CR alone ends a line only in a file whose records end so.
  const lines = row.raw.match(end === "\r" ? /\r\n|\r|\n/g : /\n/g)?.length ?? 0;
  return end !== "" && row.rejectedBy === null && row.line + lines === next.line;
}
