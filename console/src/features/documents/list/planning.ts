// What has to be read of a list for what is in view, from which end of a piece, and which pages are not needed any more.
import type { Piece, Pieces, Row } from "./pieces";
import { NEAR, type Sampling } from "./sampling";

/** Rows of a page, and pages in memory. */
export const PAGE = 500;
export const MOST_PAGES = 40;
/** Rows around the view that are read with it. */
export const AHEAD = 150;

/** From which end a piece is read, or that it is divided first. */
export type End = "start" | "end" | "keys";

/** A piece to read, by its number; its name is that of the read. */
export interface Need {
  name: string;
  number: number;
  from: End;
}

export const nameOf = ({ start }: Piece<Row>, from: End): string => `${from} ${start.isAfter} ${start.key}`;

/** Whether a piece can have more rows than a page. */
export const isBig = (piece: Piece<Row>): boolean => piece.isGuess || piece.size > PAGE + NEAR / 4;

export class Planning<R extends Row> {
  constructor(
    private readonly pieces: Pieces<R>,
    private readonly sampling: Sampling<R>,
  ) {}

  /** What has to be read for the view, what is in it first. */
  findNeeded(first: number, last: number): Need[] {
    const { pieces } = this;
    // A piece that is taken to be empty has no position, and is read where it lies in between or at an end.
    const begin = first <= AHEAD ? 0 : pieces.pieceAt(Math.min(first - AHEAD, pieces.total - 1));
    const end = last + AHEAD >= pieces.total ? pieces.all.length - 1 : pieces.pieceAt(last + AHEAD);
    const numbers = Array.from({ length: end - begin + 1 }, (_, at) => begin + at);
    const middle = (first + last) / 2;
    return numbers
      .filter((number) => !pieces.all[number]!.rows)
      .map((number) => ({ number, from: this.findEnd(number, first, last) }))
      .filter((each): each is { number: number; from: End } => each.from !== null)
      .sort((a, b) => this.distance(a.number, middle) - this.distance(b.number, middle))
      .map(({ number, from }) => ({ number, from, name: nameOf(pieces.all[number]!, from) }));
  }

  private distance(number: number, middle: number): number {
    const begin = this.pieces.begin(number);
    const end = begin + this.pieces.all[number]!.size - 1;
    return Math.max(begin - middle, middle - end, 0);
  }

  /** From which end a piece is read, or whether it is divided first; null while a sample is read that will divide it. */
  private findEnd(number: number, first: number, last: number): End | null {
    const piece = this.pieces.all[number]!;
    if (!isBig(piece)) return "start";
    const begin = this.pieces.begin(number);
    if (piece.isGuess && this.sampling.canRefine(piece)) return "keys";
    const [fromStart, toEnd] = [first - begin, begin + piece.size - 1 - last];
    const hasEnd = this.pieces.all[number + 1]?.start.before !== undefined;
    if (hasEnd && toEnd < fromStart && (piece.isGuess || toEnd < PAGE)) return "end";
    if (piece.isGuess || fromStart <= PAGE) return "start";
    if (this.sampling.state === "reading") return null;
    return this.sampling.canRefine(piece) ? "keys" : "start";
  }

  /** The pages whose rows can be dropped: those that are farthest from the view. */
  findDistant(first: number, last: number): number[] {
    const read = this.pieces.all.flatMap((piece, number) => (piece.rows?.length ? [number] : []));
    if (read.length <= MOST_PAGES) return [];
    const middle = (first + last) / 2;
    const nearest = [...read].sort((a, b) => this.distance(a, middle) - this.distance(b, middle));
    return nearest.slice(MOST_PAGES);
  }
}
