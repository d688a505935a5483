// Reads what is in view of a list of documents: pages around it, and where in the list they are. No React in it.
import { Pieces, type Piece, type Row, type Start } from "./pieces";
import { AHEAD, isBig, nameOf, PAGE, Planning, type End } from "./planning";
import { Reads, type Place, type Source } from "./reads";
import { NEAR, Sampling } from "./sampling";

/** Reads at once. */
const MOST_READS = 2;

export class DocumentList<R extends Row> {
  readonly pieces = new Pieces<R>();
  /** Positions that stay with their rows. */
  readonly kept = new Map<string, number>();
  error: unknown = null;
  /** In how many documents a page has searched that has no rows yet; 0 where none is searched for. */
  searched = 0;
  version = 0;
  private view: [first: number, last: number] | null = null;
  private readonly reads = new Reads(MOST_READS);
  private readonly sampling: Sampling<R>;
  private readonly planning: Planning<R>;
  private total: number | null = null;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;
  /** How many times it was refreshed: an answer to an earlier request can be older than the change. */
  private refreshes = 0;
  private readonly listeners = new Set<() => void>();

  /** With `restMs`, a view far from the one before it is read after a rest: a drag passes by more than can be read. */
  constructor(
    private readonly source: Source<R>,
    private readonly restMs = 0,
  ) {
    this.sampling = new Sampling(this.pieces, source, (work) => this.isClosed || this.change(work));
    this.planning = new Planning(this.pieces, this.sampling);
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  getVersion = () => this.version;

  /** Whether anything is known. */
  get isRead(): boolean {
    return this.pieces.all.some((piece) => piece.rows);
  }

  /** Whether the number of rows is known. */
  get isCounted(): boolean {
    return !this.pieces.all.some((piece) => piece.isGuess);
  }

  /** Read what these positions show, and forget what is far from them. */
  show(first: number, last: number): void {
    const isFar = this.view !== null && Math.abs(first - this.view[0]) > AHEAD;
    this.view = [first, last];
    if (this.restMs === 0 || (!isFar && this.rest === undefined)) return this.plan();
    if (!isFar) return;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.rest = undefined;
      this.plan();
    }, this.restMs);
  }

  /** Say how many rows there are, so that every page can be reached; null: that is not known. */
  setTotal(total: number | null): void {
    if (this.total === total || this.isClosed) return;
    this.total = total;
    if (total === null || this.sampling.state !== "not") return;
    this.change(() => this.pieces.setTotal(total));
    if (total > PAGE) void this.sampling.read(total).then(() => this.plan());
  }

  /** Read again after a failure. */
  retry(): void {
    if (this.error === null || this.isClosed) return;
    this.error = null;
    this.change(() => undefined);
    this.plan();
  }

  /** Read again what is shown, because it was changed, and what is being read; the rest when it is shown. */
  refresh(): void {
    const [first, last] = this.view ?? [0, 0];
    this.refreshes += 1;
    this.reads.cancel();
    this.change(() => {
      this.pieces.all.forEach((piece, number) => {
        const begin = this.pieces.begin(number);
        if (begin > last || begin + piece.size <= first) this.pieces.drop(number);
        else if (piece.rows) void this.read(number, "start", true);
      });
    });
    this.plan();
  }

  setSearched(searched: number): void {
    if (!this.isClosed) this.change(() => (this.searched = searched));
  }

  open(): void {
    this.isClosed = false;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.rest);
    this.rest = undefined;
    this.reads.cancel();
  }

  /** Find the position of the row with this key, or of the first one after it. Rejects if it cannot be read. */
  async locate(key: string): Promise<number> {
    for (;;) {
      const known = this.pieces.indexOf(key);
      if (known !== null) return known;
      const number = this.pieces.pieceOf(key);
      const piece = this.pieces.all[number]!;
      if (isBig(piece) && this.sampling.canRefine(piece)) await this.sampling.refine(piece);
      else if (isBig(piece) && piece.start.key !== key) this.change(() => this.pieces.split(key));
      else await this.read(number, "start", true);
      if (this.error !== null) throw this.error;
      if (this.isClosed) throw new Error("closed");
    }
  }

  private plan(): void {
    if (!this.view || this.error !== null || this.isClosed || this.rest !== undefined) return;
    const needed = this.planning.findNeeded(...this.view);
    this.reads.cancel(needed.map(({ name }) => name));
    for (const { name, number, from } of needed)
      if (!this.reads.isFull && !this.reads.has(name)) void this.read(number, from);
    for (const number of this.planning.findDistant(...this.view)) this.pieces.drop(number);
  }

  /** Read a piece; one that `isKept` is read to the end, also if it is not in view. */
  private read(number: number, from: End, isKept = false): Promise<void> {
    const piece = this.pieces.all[number]!;
    const name = nameOf(piece, from);
    const { refreshes } = this;
    if (from === "keys") return this.follow(name, isKept, this.sampling.refine(piece), () => undefined);
    const end = this.pieces.all[number + 1]?.start;
    const place = from === "start" ? placeOf(piece) : { before: end!.before! };
    // What a page has beyond its piece shows that the piece has no more: so a part of a big one is not a whole page.
    const { answer, cancel } = this.source.readPage(place, from === "start" && !isBig(piece) ? PAGE : NEAR);
    const store = answer.then((read) => {
      if (this.isClosed || refreshes !== this.refreshes) return;
      this.change(() => {
        this.searched = 0;
        const first = this.pieces.all.findIndex(({ start }) => isSame(start, piece.start));
        const last = end ? this.pieces.all.findIndex(({ start }) => isSame(start, end)) - 1 : -1;
        const isGuess = this.pieces.all[from === "start" ? first : last]?.isGuess;
        if (from === "start" && first >= 0) this.pieces.store(first, read);
        if (from === "end" && last >= 0 && !this.pieces.all[last]!.rows) this.pieces.storeLast(last, read);
        if (isGuess) this.sampling.divide();
      });
    });
    return this.follow(name, isKept, store, cancel);
  }

  private async follow(name: string, isKept: boolean, work: Promise<void>, cancel: () => void): Promise<void> {
    const error = await this.reads.wait(name, isKept, work, cancel);
    if (error !== null && !this.isClosed) this.change(() => (this.error = error));
    this.plan();
  }

  /** Set a position that stays with its row. */
  keep(name: string, index: number): void {
    this.kept.set(name, index);
    this.change(() => undefined);
  }

  /** The position that stays where it is when others are corrected: of a row that is seen, if there is one. */
  findAnchor(first: number, last: number): number {
    for (let index = first; index <= last; index++) if (this.pieces.row(index)) return index;
    return first;
  }

  /** Change the pieces, and move the kept positions with their rows. */
  private change(work: () => void): void {
    const marks = [...this.kept].map(([name, index]) => [name, this.pieces.mark(index)] as const);
    const [first, last] = this.view ?? [0, 0];
    const anchor = this.findAnchor(first, last);
    const viewed = this.pieces.mark(anchor);
    work();
    const moved = this.pieces.find(viewed) - anchor;
    if (this.view) this.view = [first + moved, last + moved];
    for (const [name, mark] of marks) this.kept.set(name, this.pieces.find(mark));
    this.version += 1;
    for (const listener of this.listeners) listener();
  }
}

function placeOf({ start }: Piece<Row>): Place {
  if (start.after !== undefined) return { after: start.after };
  return start.key === null ? {} : { from: start.key };
}

const isSame = (a: Start, b: Start) => a.key === b.key && a.isAfter === b.isAfter;
