// A list that is too long to be held, as pieces that follow one another without gap: each begins at a key and ends where
// the next begins. So whatever is added or removed elsewhere, a row belongs to exactly one piece. How many rows a piece
// has is exact once it is read, and an estimate before: positions move then, and rows do not change places.
import { compareKeys, countBefore } from "./order";

export interface Row {
  id: number;
  controlNumber: string;
}

/** Where a piece begins: with this key or after it; null is the begin of the list. With cursors that answers had. */
export interface Start {
  key: string | null;
  isAfter: boolean;
  after?: string;
  before?: string;
}

export interface Piece<R extends Row> {
  start: Start;
  size: number;
  /** Null if they are not in memory. */
  rows: readonly R[] | null;
  /** Whether nothing says how many rows it has. */
  isGuess: boolean;
}

/** Rows as the API answers. */
export interface Answer<R extends Row> {
  items: readonly R[];
  next: string | null;
  prev?: string | null;
}

/** A place in the list that stays with its row. */
export interface Mark {
  start: Start;
  /** Where the next piece began. */
  end: Start | null;
  offset: number;
  key: string | null;
}

/** How many rows a piece is taken to have of which nothing is known: enough to scroll into it. */
export const GUESS = 60;

export class Pieces<R extends Row> {
  private list: Piece<R>[] = [{ start: { key: null, isAfter: false }, size: GUESS, rows: null, isGuess: true }];
  private begins: number[] = [0];
  total = GUESS;

  get all(): readonly Piece<R>[] {
    return this.list;
  }

  /** The position of a piece's first row. */
  begin = (piece: number): number => this.begins[piece]!;

  /** The piece with the row of a position. */
  pieceAt = (index: number): number => countBefore(this.begins, (begin) => begin <= index) - 1;

  row(index: number): R | null {
    if (index < 0 || index >= this.total) return null;
    const piece = this.pieceAt(index);
    return this.list[piece]!.rows?.[index - this.begins[piece]!] ?? null;
  }

  /** The piece that a key belongs to. */
  pieceOf = (key: string): number => countBefore(this.list, ({ start }) => !isBefore(key, start)) - 1;

  /** The position of the row with a key, or of the first one after it; null unless its piece is in memory. */
  indexOf(key: string): number | null {
    const piece = this.pieceOf(key);
    const rows = this.list[piece]!.rows;
    return rows && this.begins[piece]! + countBefore(rows, (row) => compareKeys(row.controlNumber, key) < 0);
  }

  mark(index: number): Mark {
    const piece = Math.max(this.pieceAt(index), 0);
    const offset = index - this.begins[piece]!;
    const end = this.list[piece + 1]?.start ?? null;
    return { start: this.list[piece]!.start, end, offset, key: this.row(index)?.controlNumber ?? null };
  }

  /** The position of a marked row now; of a row that was not in memory, the one as far from where its piece began. */
  find({ start, end, offset, key }: Mark): number {
    const exact = key === null ? null : this.indexOf(key);
    if (exact !== null) return exact;
    const begin = this.begins[this.pieceFrom(start)]!;
    const most = end ? this.begins[this.pieceFrom(end)]! : this.total;
    return Math.max(Math.min(begin + offset, most - 1), begin);
  }

  /** The piece that begins so, or the last one that begins before. */
  private pieceFrom = (start: Start): number =>
    countBefore(this.list, (piece) => compareStarts(piece.start, start) <= 0) - 1;

  /** Keep the rows of a piece that was read from its start on. What follows them, and is not known, is another piece. */
  store(piece: number, { items, next, prev }: Answer<R>): void {
    const [old, end] = [this.list[piece]!, this.list[piece + 1]?.start];
    const rows = items.slice(0, end ? countBefore(items, (row) => isBefore(row.controlNumber, end)) : items.length);
    const start = { ...old.start, ...(prev && { before: prev }) };
    const stored = [{ start, size: rows.length, rows, isGuess: false }, ...this.rest(old, rows, items, next, end)];
    this.list.splice(piece, 1, ...stored);
    if (prev === null) for (const before of this.list.slice(0, piece)) Object.assign(before, { size: 0, rows: [] });
    this.measure();
  }

  private rest(old: Piece<R>, rows: readonly R[], items: readonly R[], next: string | null, end?: Start): Piece<R>[] {
    const last = rows.at(-1)?.controlNumber;
    const isAll = rows.length < items.length || (end?.isAfter && end.key === last);
    if (next === null || isAll || last === undefined) return [];
    const left = !end && old.isGuess ? GUESS : Math.max(old.size - rows.length, 0);
    const start = { key: last, isAfter: true, after: next };
    return [{ start, size: left, rows: null, isGuess: old.isGuess }];
  }

  /** Keep the last rows of a piece, which were read backwards from its end. */
  storeLast(piece: number, { items, prev }: Answer<R>): void {
    const old = this.list[piece]!;
    const rows = items.slice(countBefore(items, (row) => isBefore(row.controlNumber, old.start)));
    if (!prev || rows.length < items.length) {
      this.list[piece] = { ...old, size: rows.length, rows, isGuess: false };
    } else {
      const start = { key: rows[0]!.controlNumber, isAfter: false, before: prev };
      this.list[piece] = { ...old, size: old.isGuess ? GUESS : Math.max(old.size - rows.length, 0), rows: null };
      this.list.splice(piece + 1, 0, { start, size: rows.length, rows, isGuess: false });
    }
    this.measure();
  }

  /** Have a piece begin at a key, and return it. */
  split(key: string): number {
    const piece = this.pieceOf(key);
    const old = this.list[piece]!;
    if (old.rows || (old.start.key === key && !old.start.isAfter)) return piece;
    const size = Math.max(Math.floor(old.size / 2), 1);
    this.list.splice(
      piece,
      1,
      { ...old, size, isGuess: true },
      { ...old, start: { key, isAfter: false }, size, isGuess: true },
    );
    this.measure();
    return piece + 1;
  }

  /** Forget the rows of a piece, and not how many there are. */
  drop(piece: number): void {
    this.list[piece] = { ...this.list[piece]!, rows: null };
  }

  /** Say how many rows the list has from the last known row on: null if that is not known. */
  setTotal(total: number | null): void {
    const last = this.list.at(-1)!;
    if (last.rows) return;
    last.isGuess = total === null;
    last.size = total === null ? GUESS : Math.max(total - this.begins.at(-1)!, 1);
    this.measure();
  }

  /**
   * Divide the pieces from `first` to before `end` at the keys of a sample, and correct the sizes of those that were not
   * read. The first key is at position `base` of these pieces, each other one `every` after the one before it; together
   * they have `length` rows, if that is known.
   */
  sample(
    first: number,
    end: number,
    keys: readonly string[],
    every: number,
    length: number | null,
    base: number,
  ): void {
    const count = this.list.length;
    const isWithin = (key: string) => this.pieceOf(key) >= first && this.pieceOf(key) < end + this.list.length - count;
    for (const key of keys) if (isWithin(key)) this.split(key);
    const places = this.locate(first, end + this.list.length - count, keys, every, base);
    places.set(first, 0);
    if (length !== null) places.set(end + this.list.length - count, length);
    const known = [...places.keys()].sort((a, b) => a - b);
    for (let at = 1; at < known.length; at++) {
      const [from, to] = [known[at - 1]!, known[at]!];
      this.share(this.list.slice(from, to), places.get(to)! - places.get(from)!);
    }
    this.measure();
  }

  /** Return the positions at which pieces begin, by those of the keys. */
  private locate(
    first: number,
    end: number,
    keys: readonly string[],
    every: number,
    base: number,
  ): Map<number, number> {
    const places = new Map<number, number>();
    keys.forEach((key, number) => {
      const piece = this.pieceOf(key);
      const { rows, start } = this.list[piece]!;
      const offset = rows ? countBefore(rows, (row) => compareKeys(row.controlNumber, key) < 0) : 0;
      const isThere = rows ? rows[offset]?.controlNumber === key : start.key === key;
      if (piece < first || piece >= end || !isThere) return;
      places.set(piece, base + number * every - offset);
      if (rows) places.set(piece + 1, base + number * every - offset + rows.length);
    });
    return places;
  }

  /** Let the pieces of which nothing is known have what the others leave of these many rows. */
  private share(pieces: readonly Piece<R>[], length: number): void {
    const guesses = pieces.filter((piece) => piece.isGuess);
    const isKnown = (piece: Piece<R>) => !piece.isGuess;
    let left = length - pieces.filter(isKnown).reduce((sum, piece) => sum + piece.size, 0);
    guesses.forEach((piece, number) => {
      piece.size = Math.max(Math.floor(left / (guesses.length - number)), 0);
      piece.isGuess = guesses.length > 1;
      left -= piece.size;
    });
  }

  private measure(): void {
    this.total = 0;
    this.begins = this.list.map(({ size }) => (this.total += size) - size);
  }
}

/** Whether a row with this key comes before a piece that begins so. */
function isBefore(key: string, { key: start, isAfter }: Start): boolean {
  if (start === null) return false;
  const order = compareKeys(key, start);
  return isAfter ? order <= 0 : order < 0;
}

function compareStarts(a: Start, b: Start): number {
  if (a.key === null || b.key === null) return Number(a.key !== null) - Number(b.key !== null);
  return compareKeys(a.key, b.key) || Number(a.isAfter) - Number(b.isAfter);
}
