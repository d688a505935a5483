// The cells of one record, and what a user does to them. Nothing here loses text: a cell is removed only while it is
// empty, and what an edit does not touch keeps its own line ends.
import { tokenize, toControl } from "../../ui/lineEnds";
import { count } from "../../ui/values";

export type Cells = readonly string[];

/** Put a cell and the next one together, with the character that divided them in the file. */
export function merge(cells: Cells, at: number, joiner: string): Cells {
  if (at < 0 || at + 1 >= cells.length) return cells;
  return [...cells.slice(0, at), `${cells[at]}${joiner}${cells[at + 1]}`, ...cells.slice(at + 2)];
}

/** Divide a cell at a position of the text that a control shows. */
export function split(cells: Cells, at: number, position: number): Cells {
  const parts = tokenize(cells[at] ?? "");
  let [count, seen] = [0, 0];
  while (count < parts.length && seen < position) seen += toControl(parts[count++]!).length;
  const halves = [parts.slice(0, count).join(""), parts.slice(count).join("")];
  return [...cells.slice(0, at), ...halves, ...cells.slice(at + 1)];
}

/** Shift a cell and all after it by one column to the right. */
export function insertEmpty(cells: Cells, at: number): Cells {
  return [...cells.slice(0, at), "", ...cells.slice(at)];
}

/** Shift all cells after an empty one by one column to the left; a cell with text stays. */
export function removeEmpty(cells: Cells, at: number): Cells {
  return cells[at] === "" ? [...cells.slice(0, at), ...cells.slice(at + 1)] : cells;
}

/** Put two records together that a line break inside a cell had divided, with the line end that the file has there. */
export function joinRecords(first: Cells, second: Cells, lineEnd: string): Cells {
  return merge([...first, ...second], first.length - 1, lineEnd);
}

/** Return the delimiter of the file, or nothing for one that no value has: a control character other than the tab. */
export function chooseJoiner(delimiter: string | undefined): string {
  return delimiter && (delimiter === "\t" || /^\P{Cc}$/u.test(delimiter)) ? delimiter : "";
}

/**
 * Divide a record that the server could not read as cells: between qualifiers where all cells have them, otherwise at
 * every delimiter. A proposal: the user looks at it before it is sent.
 */
export function splitRaw(raw: string, delimiter: string, qualifier: string | null): Cells {
  const text = raw.replace(/(\r\n|\r|\n)$/, "");
  const between = `${qualifier}${delimiter}${qualifier}`;
  if (qualifier && text.startsWith(qualifier) && text.endsWith(qualifier) && text.includes(between))
    return text
      .slice(qualifier.length, -qualifier.length)
      .split(between)
      .map((cell) => cell.replaceAll(qualifier + qualifier, qualifier));
  return text.split(delimiter).map((cell) => unquote(cell, qualifier));
}

/** Take the qualifiers around a cell away: both of a pair, and one that is left over at the beginning or at the end. */
function unquote(cell: string, qualifier: string | null): string {
  if (!qualifier) return cell;
  const isOpened = cell.startsWith(qualifier);
  const isEven = (cell.split(qualifier).length - 1) % 2 === 0;
  const isClosed = cell.endsWith(qualifier) && isOpened === isEven;
  const inner = cell.slice(isOpened ? qualifier.length : 0, isClosed ? -qualifier.length : undefined);
  return isOpened ? inner.replaceAll(qualifier + qualifier, qualifier) : inner;
}

/** Say how many cells there are for how many columns, and what that means. */
export function describeFit(found: number, expected: number): string {
  const counts = `${count(found, "cell")}, ${count(expected, "column")}`;
  if (found === expected) return `${counts}: the row fits.`;
  if (found > expected) return `${counts}: ${found - expected} too many.`;
  return `${counts}: ${expected - found} missing.`;
}
