// Divides a list into pieces of a page each by samples of its keys: all of a short list, and of a long one the parts that
// are shown.
import type { Piece, Pieces, Row, Start } from "./pieces";
import type { Sample, Source } from "./reads";

/** The distance of samples that makes a page of each piece: a page has room for what is added meanwhile. */
export const NEAR = 480;
/** The distance of samples of a list that has too many pages to sample each: its pieces are sampled where they are shown. */
const FAR = 5_000;
/** The most keys of a short list, and those of a response for a long one. */
const MOST_KEYS = 480;
const FAR_KEYS = 200;
const MOST_IN_RESPONSE = 500;

export class Sampling<R extends Row> {
  state: "not" | "reading" | "done" = "not";
  private total = 0;
  private every = NEAR;
  private keys: string[] = [];
  /** Whether the sample goes to the end of the list. */
  private isWhole = false;
  private readonly divided = new WeakSet<Start>();

  /** `change` runs what changes the pieces, unless the list was closed. */
  constructor(
    private readonly pieces: Pieces<R>,
    private readonly source: Source<R>,
    private readonly change: (work: () => void) => void,
  ) {}

  /** Read the sample of a list of so many rows; without one it is read from where it is shown on. */
  async read(total: number): Promise<void> {
    this.state = "reading";
    this.total = total;
    this.every = total <= NEAR * MOST_KEYS ? NEAR : FAR;
    try {
      let after: string | null = null;
      do {
        const limit = this.every === NEAR ? MOST_IN_RESPONSE : FAR_KEYS;
        const query = { every: this.every, limit, ...(after !== null && { after }) };
        const read: Sample = await this.source.readKeys(query).answer;
        this.keys.push(...read.items);
        after = read.next;
        this.isWhole = after === null;
        this.change(() => this.divide());
      } while (after !== null);
      this.state = "done";
    } catch {
      this.state = "not";
      this.change(() => this.pieces.setTotal(null));
    }
  }

  /** Divide the list at the keys of its sample, and correct what is not known of its pieces. */
  divide(): void {
    if (this.keys.length === 0) return;
    const least = (this.keys.length - 1) * this.every + 1;
    const most = this.isWhole ? least + this.every - 1 : Infinity;
    const length = Math.min(Math.max(this.total, least), most);
    this.pieces.sample(0, this.pieces.all.length, this.keys.slice(1), this.every, length, this.every);
  }

  /** Whether a piece can be divided into pages. */
  canRefine = (piece: Piece<R>): boolean =>
    this.state === "done" && this.every === FAR && !this.divided.has(piece.start);

  /** Divide a big piece into pages. */
  async refine({ start, size, isGuess }: Piece<R>): Promise<void> {
    this.divided.add(start);
    const from = start.key === null ? {} : { from: start.key };
    const limit = Math.min(Math.ceil((isGuess ? FAR : size) / NEAR) + 1, MOST_IN_RESPONSE);
    const read = this.source.readKeys({ every: NEAR, limit, ...from }).answer;
    const { items } = await read.catch((error: unknown) => {
      this.divided.delete(start);
      throw error;
    });
    this.change(() => {
      const piece = this.pieces.all.findIndex((each) => each.start === start);
      const now = this.pieces.all[piece];
      if (!now || now.rows) return;
      const base = start.isAfter ? NEAR - 1 : NEAR;
      this.pieces.sample(piece, piece + 1, items.slice(1), NEAR, now.isGuess ? null : now.size, base);
      this.divide();
    });
  }
}
